package timeline

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// openFile shows a file as it was, in the pager or, a copy of it, in the editor,
// which the terminal is free for. The note is for the user.
func openFile(c *call.Call, name string, content []byte, edit bool) (note string, err error) {
	err = c.Aside(func() (err error) {
		if edit {
			note, err = editCopy(c, name, content)
			return err
		}
		return pageFile(c, name, content)
	})
	return note, err
}

// pageFile shows a file in the pager, in colour if it is source.
func pageFile(c *call.Call, name string, content []byte) error {
	if text := painted(c.Out, name, content); text != nil {
		return page(c, text, true)
	}
	return page(c, content, false)
}

// pageText shows text that Umbra has written in the pager.
func pageText(c *call.Call, text string) error {
	return c.Aside(func() error { return page(c, []byte(text), c.Out.Color) })
}

// page shows text in the pager, also where it fits the screen: the timeline comes back over
// it. Where the text has colours of Umbra's, less lets them through.
func page(c *call.Call, content []byte, isColored bool) error {
	pager := c.Pager()
	if pager == "" {
		return missions.Errorf(missions.KindFailed, "set UMBRA_PAGER=less", "there is no pager to show it in")
	}
	less, _ := c.LookupEnv("LESS")
	less += " -+F"
	if isColored {
		less += " -R"
	}
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(content), c.Stdout, c.Stderr
	cmd.Env = append(c.Environ(), "LESS="+less)
	err := c.Run(cmd)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 127 && exit.ExitCode() != 126 {
		return nil // left before the end
	}
	if err != nil {
		return missions.Errorf(missions.KindFailed, "set UMBRA_PAGER to a pager", "page with %s: %w", pager, err)
	}
	return nil
}

// painted is source in colour, nil where there is no colour or it is no source.
func painted(p *print.Printer, name string, content []byte) []byte {
	if !p.Color {
		return nil
	}
	lines := highlight.Source(name, string(content))
	if lines == nil {
		return nil
	}
	var b bytes.Buffer
	n := 0
	for text := range strings.Lines(string(content)) {
		bare := strings.TrimSuffix(text, "\n")
		for _, piece := range p.Palette.SourcePieces(bare, lines[n]) {
			b.WriteString(p.Paint(print.Style(piece.Code), print.CleanLines(piece.Text)))
		}
		b.WriteString(text[len(bare):])
		n++
	}
	return b.Bytes()
}

// editCopy opens a copy in the editor. One that was written to is kept, and said.
func editCopy(c *call.Call, name string, content []byte) (string, error) {
	dir, err := os.MkdirTemp("", "umbra-file-")
	if err != nil {
		return "", missions.Errorf(missions.KindFailed, "", "make a copy to open: %w", err)
	}
	file := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(file, content, 0o400); err != nil {
		return "", errors.Join(missions.Errorf(missions.KindFailed, "", "make a copy to open: %w", err), os.RemoveAll(dir))
	}
	failed := c.Edit(file)
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, content) {
		return "what you wrote is in " + dir + "; nothing of the workspace was changed", failed
	}
	return "", errors.Join(failed, os.RemoveAll(dir))
}
