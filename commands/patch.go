package commands

import (
	"context"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

// quotePath shows a path as Git does: as it is, or in quotes if it holds what a
// line can't show.
func quotePath(path string) string {
	if c := clean(path); c != path || strings.ContainsAny(path, `"\`) {
		return strconv.Quote(path)
	}
	return path
}

// writePatch prints what changed since a snapshot: as it is where a program may
// read it, in colour and without control characters on a terminal.
func writePatch(p *printer, from string, files []missions.FileChange, patch string) {
	if !p.terminal && !p.color {
		p.w.WriteString(patch)
		return
	}
	lines := highlight.Patch(patch)
	if p.color {
		lines = p.source.paint(lines, from, files)
	}
	for _, l := range lines {
		for _, piece := range p.palette.Pieces(l) {
			if p.terminal {
				piece.Text = cleanLines(piece.Text)
			}
			p.w.WriteString(p.paint(style(piece.Code), piece.Text))
		}
		p.line("")
	}
}

// A source is where files are read as they were, to say what is on the lines that
// changed. One that is nil says nothing.
type source struct {
	svc     missions.Service
	ctx     context.Context
	caller  missions.Caller
	painter highlight.Painter
}

// source is that of a command that has asked the Service for something.
func (c *call) source() *source {
	if c.svc == nil || !c.out.color {
		return nil
	}
	caller, err := c.caller()
	if err != nil {
		return nil
	}
	return &source{svc: c.svc, ctx: c.ctx, caller: caller}
}

func (s *source) paint(lines []highlight.Line, from string, files []missions.FileChange) []highlight.Line {
	if s == nil {
		return lines
	}
	return s.painter.Paint(lines, highlight.Files(s.ctx, s.svc, s.caller, from, files))
}
