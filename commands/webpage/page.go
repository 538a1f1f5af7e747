// Package webpage makes one HTML file of what a command shows, for a review, a phone or a
// pull request. The file needs nothing beside it and runs nothing: what agents and files
// say is text in it, whatever it looks like.
package webpage

import (
	_ "embed"
	"errors"
	"html"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

//go:embed style.css
var style string

// head begins each page. By its first line a page is known to be one of Umbra's.
const head = `<!DOCTYPE html>
<!-- a page of umbra's -->
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
`

// mark is what is looked for at the beginning of a file that is to be overwritten.
var mark = head[:strings.Index(head, "<html")]

// A Page is written from its top to its end. It is not for several goroutines.
type Page struct {
	b strings.Builder
}

// New begins a page with its title.
func New(title string) *Page {
	p := &Page{}
	p.b.WriteString(head + "<title>" + text(title) + "</title>\n<style>\n" + style + "</style>\n")
	p.b.WriteString("<h1>" + text(title) + "</h1>\n")
	return p
}

// text is a text in a page: shown as it is, but for what can't be seen.
func text(s string) string { return html.EscapeString(print.CleanLines(s)) }

// Heading begins a part of the page.
func (p *Page) Heading(title string) { p.b.WriteString("<h2>" + text(title) + "</h2>\n") }

// Prompt is what a user asked for, line by line as they wrote it.
func (p *Page) Prompt(prompt string) {
	if prompt != "" {
		p.b.WriteString("<pre class=prompt>" + text(prompt) + "</pre>\n")
	}
}

// Facts is names and what they are; one without a value is left out.
func (p *Page) Facts(pairs ...[2]string) {
	p.b.WriteString("<table class=facts>\n")
	for _, pair := range pairs {
		if pair[1] != "" {
			p.b.WriteString("<tr><th>" + text(pair[0]) + "<td>" + text(pair[1]) + "\n")
		}
	}
	p.b.WriteString("</table>\n")
}

// Table has one row below another; the first is the names of the columns.
func (p *Page) Table(rows [][]string) {
	p.b.WriteString("<div class=wide><table class=table>\n")
	for i, row := range rows {
		cell := "<td>"
		if i == 0 {
			cell = "<th>"
		}
		p.b.WriteString("<tr>")
		for _, value := range row {
			p.b.WriteString(cell + text(value))
		}
		p.b.WriteString("\n")
	}
	p.b.WriteString("</table></div>\n")
}

// List is paths with a word on each, below a title; nothing if there is none.
func (p *Page) List(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.b.WriteString("<details><summary>" + text(title) + "</summary><ul>\n")
	for _, item := range items {
		p.b.WriteString("<li>" + text(item) + "\n")
	}
	p.b.WriteString("</ul></details>\n")
}

// Conversation is what was said, each by whom.
func (p *Page) Conversation(said []missions.ConversationLine) {
	if len(said) == 0 {
		return
	}
	p.b.WriteString("<div class=said>\n")
	for _, s := range said {
		class := "other"
		switch s.Role {
		case "user", "assistant", "tool":
			class = s.Role
		}
		p.b.WriteString("<div class=" + class + "><b>" + text(s.Role) + "</b><pre>" + text(strings.TrimRight(s.Text, "\n")) + "</pre></div>\n")
	}
	p.b.WriteString("</div>\n")
}

// Flag is --html, by which a command writes a page instead of printing.
func Flag(file *string) flags.Flag {
	return flags.String("html", "write one page for a browser, which needs nothing beside it, to `FILE` (- prints it)", file)
}

// Check refuses, before anything is done, what Save would.
func Check(c *call.Call, file string) error {
	switch {
	case file == "":
		return nil
	case c.JSON:
		return missions.Errorf(missions.KindUsage, "choose one", "--html and --json contradict each other")
	case file == "-":
		return nil
	}
	return checkFree(file)
}

// Save writes a page where --html says. A file that is there already is written over only
// if it is empty or a page of Umbra's.
func Save(c *call.Call, file string, p *Page) error {
	if file == "-" {
		return c.Print(nil, func(out *print.Printer) { out.Write(p.b.String()) })
	}
	if err := p.save(file); err != nil {
		return err
	}
	c.Notice("written: %s", print.Path(file))
	return nil
}

func (p *Page) save(file string) error {
	if err := checkFree(file); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return cannotWrite(file, err)
	}
	_, err = f.WriteString(p.b.String())
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return cannotWrite(file, err)
	}
	return nil
}

// checkFree refuses a place where no page may be written.
func checkFree(file string) error {
	switch info, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cannotWrite(file, err)
	case !info.Mode().IsRegular():
		return missions.Errorf(missions.KindConflict, "name a file; --html - prints the page", "%s is no file", print.Path(file))
	}
	before, err := os.Open(file)
	if err != nil {
		return cannotWrite(file, err)
	}
	defer before.Close()
	first := make([]byte, len(mark))
	switch n, err := io.ReadFull(before, first); {
	case n == 0 && errors.Is(err, io.EOF), string(first) == mark:
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return cannotWrite(file, err)
	}
	return missions.Errorf(missions.KindConflict, "name another file", "%s is there, and is no page of Umbra's", print.Path(file))
}

func cannotWrite(file string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return missions.Errorf(missions.KindFailed, "--html - prints the page", "%s can't be written: %v", print.Path(file), err)
}
