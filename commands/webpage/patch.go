package webpage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// A Source is where a page has files from as they were, for the colours of their languages.
type Source struct {
	Ctx     context.Context
	Service missions.History
	Caller  missions.Caller
	painter highlight.Painter
}

// Patch is the changes of files since a snapshot, each file to be folded away. The patch
// has them in the order of files.
func (p *Page) Patch(s *Source, from string, files []missions.FileChange, patch string) {
	lines := s.painter.Paint(highlight.Patch(patch), highlight.Files(s.Ctx, s.Service, s.Caller, from, files))
	for at := 0; at < len(lines); {
		end := at + 1
		for end < len(lines) && lines[end].File == lines[at].File {
			end++
		}
		title, counts := "", ""
		if n := lines[at].File; n >= 0 && n < len(files) {
			title, counts = changeInWords(files[n])
		}
		p.b.WriteString("<details class=file open><summary>" + text(title) + " <small>" + text(counts) + "</small></summary><div class=wide><table class=diff>\n")
		p.hunks(lines[at:end])
		p.b.WriteString("</table></div></details>\n")
		at = end
	}
}

// Paths lists changes without their lines.
func (p *Page) Paths(files []missions.FileChange) {
	rows := [][]string{{"file", "", "lines"}}
	for _, f := range files {
		title, _ := changeInWords(f)
		rows = append(rows, []string{title, f.Type, lineCounts(f)})
	}
	p.Table(rows)
}

func changeInWords(f missions.FileChange) (title, counts string) {
	if title = print.Path(f.Path); f.OldPath != "" {
		title = print.Path(f.OldPath) + " → " + title
	}
	return title, strings.TrimSpace(f.Type + " " + lineCounts(f))
}

func lineCounts(f missions.FileChange) string {
	if f.Binary {
		return "binary"
	}
	return fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
}

// hunks are the lines of one file, with their numbers before and after.
func (p *Page) hunks(lines []highlight.Line) {
	before, after := 0, 0
	for _, l := range lines {
		switch l.Kind {
		case highlight.Header:
			if !l.Known() {
				p.line("note", "", "", text(l.Text))
			}
		case highlight.Hunk:
			before, after = l.Begins()
			p.line("hunk", "", "", text(l.Text))
		case highlight.Note:
			p.line("note", "", "", text(l.Text))
		case highlight.Removed:
			p.line("removed", strconv.Itoa(before), "", source(l))
			before++
		case highlight.Added:
			p.line("added", "", strconv.Itoa(after), source(l))
			after++
		case highlight.Context:
			p.line("context", strconv.Itoa(before), strconv.Itoa(after), source(l))
			before, after = before+1, after+1
		}
	}
}

func (p *Page) line(class, before, after, code string) {
	p.b.WriteString("<tr class=" + class + "><td>" + before + "<td>" + after + "<td>" + code + "\n")
}

// classes are the names in the style sheet of what a piece of source is.
var classes = [...]string{highlight.Plain: "", highlight.Keyword: "k", highlight.Type: "t", highlight.Function: "f", highlight.String: "s", highlight.Number: "n", highlight.Comment: "c"}

// source is a line of a file, in the colours of its language.
func source(l highlight.Line) string {
	var b strings.Builder
	b.WriteString("<i>" + text(l.Text[:1]) + "</i>")
	rest := l.Text[1:]
	for _, run := range l.Runs {
		n := min(run.Len, len(rest))
		if class := classes[run.Class]; class == "" {
			b.WriteString(text(rest[:n]))
		} else {
			b.WriteString("<span class=" + class + ">" + text(rest[:n]) + "</span>")
		}
		rest = rest[n:]
	}
	b.WriteString(text(rest))
	return b.String()
}
