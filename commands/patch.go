package commands

import (
	"strconv"
	"strings"
)

// quotePath shows a path as Git does: as it is, or in quotes if it holds what a
// line can't show.
func quotePath(path string) string {
	if c := clean(path); c != path || strings.ContainsAny(path, `"\`) {
		return strconv.Quote(path)
	}
	return path
}

// writePatch prints a patch: as it is where a program may read it, in colour and
// without control characters on a terminal.
func writePatch(p *printer, patch string) {
	if !p.terminal && !p.color {
		p.w.WriteString(patch)
		return
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if p.terminal {
			line = cleanLines(line)
		}
		p.line("%s", p.paint(patchStyle(line), line))
	}
}

func patchStyle(line string) style {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "index "):
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	}
	return plain
}
