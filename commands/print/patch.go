package print

import (
	"context"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

// Path shows a path as Git does: as it is, or in quotes if it holds what a
// line can't show.
func Path(path string) string {
	if c := Clean(path); c != path || strings.ContainsAny(path, `"\`) {
		return strconv.Quote(path)
	}
	return path
}

// WritePatch prints what changed since a snapshot: as it is where a program may
// read it, in colour and without control characters on a terminal.
func WritePatch(p *Printer, from string, files []missions.FileChange, patch string) {
	if !p.Terminal && !p.Color {
		p.w.WriteString(patch)
		return
	}
	lines := highlight.Patch(patch)
	if p.Color {
		lines = p.Source.paint(lines, from, files)
	}
	for _, l := range lines {
		for _, piece := range p.Palette.Pieces(l) {
			if p.Terminal {
				piece.Text = CleanLines(piece.Text)
			}
			p.w.WriteString(p.Paint(Style(piece.Code), piece.Text))
		}
		p.Line("")
	}
}

// A source is where files are read as they were, to say what is on the lines that
// changed. One that is nil says nothing.
type Source struct {
	Svc     missions.Service
	Ctx     context.Context
	Caller  missions.Caller
	painter highlight.Painter
}

func (s *Source) paint(lines []highlight.Line, from string, files []missions.FileChange) []highlight.Line {
	if s == nil {
		return lines
	}
	return s.painter.Paint(lines, highlight.Files(s.Ctx, s.Svc, s.Caller, from, files))
}
