package call

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Paged writes the long text of a command: on a terminal through a pager, which and
// in what colour as Git is told, else straight to stdout. The text is made first, so that
// the Service is done with when the user begins to read.
func (c *Call) Paged(command string, text func(*print.Printer)) error {
	return c.PagedInParts(command, text, nil)
}

// PagedInParts is Paged for a text that takes long: its rest, if there is one, is made while
// the first part is on the screen already. The rest's context ends with the pager.
func (c *Call) PagedInParts(command string, first func(*print.Printer), rest func(context.Context, *print.Printer) error) error {
	c.progress.end()
	habits := c.gitHabits(command)
	c.heedColor(habits)
	text := &pagedText{ctx: context.Background(), rest: rest}
	text.make = func(part func(*print.Printer) error) error {
		p := c.Out.Into(&text.made)
		p.Source = c.source()
		return errors.Join(part(p), p.Flush())
	}
	if err := text.make(func(p *print.Printer) error { first(p); return nil }); err != nil {
		return err
	}
	pager := c.pagerOf(habits)
	if pager == "" || text.made.Len() == 0 {
		_, err := io.Copy(c.Stdout, text)
		return err
	}
	if rest == nil {
		if err := c.Close(); err != nil { // a reader must not hold what others wait for
			return err
		}
	}
	return c.page(pager, text)
}

// pagedText is a text whose rest is made when the first part was taken.
type pagedText struct {
	ctx  context.Context // of the rest
	make func(part func(*print.Printer) error) error
	rest func(context.Context, *print.Printer) error // nil once it was made
	made bytes.Buffer
	read int
}

func (t *pagedText) Read(b []byte) (int, error) {
	if t.read == t.made.Len() && t.rest != nil {
		if err := t.make(func(p *print.Printer) error { return t.rest(t.ctx, p) }); err != nil {
			return 0, err
		}
		t.rest = nil
	}
	n := copy(b, t.made.Bytes()[t.read:])
	t.read += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Pager is the command to page with, whatever Git is told, or "" for none.
func (c *Call) Pager() string { return c.pagerOf(gitHabits{}) }

// pagerOf is the command to page with, or "" for none. The order is git-var(1)'s, for
// GIT_PAGER, behind a variable of Umbra's own.
func (c *Call) pagerOf(h gitHabits) string {
	if !c.Out.Terminal || !c.IsTerminal(c.Stdin) || h.unpaged {
		return ""
	}
	for _, name := range []string{"UMBRA_PAGER", "GIT_PAGER", "", "PAGER"} {
		pager, set := h.pager, h.pager != ""
		if name != "" {
			pager, set = c.LookupEnv(name)
		}
		switch {
		case set && pager == noPager:
			return ""
		case set:
			return pager
		}
	}
	if _, err := missions.LookPath("less", "", c.Getenv("PATH")); err != nil {
		return ""
	}
	return "less"
}

func (c *Call) LookupEnv(name string) (string, bool) {
	for _, kv := range c.Environ() {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// page runs the pager with the text on its stdin. Ctrl-C is the pager's; the command may go on
// to ask its user when that has ended.
func (c *Call) page(pager string, text *pagedText) error {
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	cmd.Env = c.Environ()
	if _, set := c.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	if _, set := c.LookupEnv("LESSCHARSET"); !set { // what is printed is UTF-8 whatever the locale
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8")
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(text.ctx)
	text.ctx = ctx
	made := make(chan error, 1)
	go func() {
		_, err := io.Copy(stdin, text)
		_ = stdin.Close() // the pager may be gone
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) || errors.Is(err, context.Canceled) {
			err = nil // it was left before the end
		}
		made <- err
	}()
	err = c.Aside(func() error {
		err := c.Run(cmd)
		cancel()
		return err
	})
	failed := <-made
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.ExitCode() != 127 && exit.ExitCode() != 126 {
		return errors.Join(failed, c.Close())
	}
	text.ctx, text.read = context.Background(), 0 // no pager: the text all the same
	_, err = io.Copy(c.Stdout, text)
	return err
}
