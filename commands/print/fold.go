package print

import "strings"

// What does not fit on a terminal's line is broken between words, or left out where
// it says least: a line that the terminal itself breaks is hard to read, and in a
// pane that grows or shrinks it is worse. Elsewhere nothing is done to text. All of
// it is clean, and has no colours yet.

// FoldIndent is what the further lines of folded text begin with.
const FoldIndent = "  "

// leastPath is how much of a path says where it is.
const leastPath = 12

// Fits reports whether a line is no wider than the terminal.
func (p *Printer) Fits(line string) bool { return p.Width == 0 || Columns(line) < p.Width }

// Folded writes a line, in several where the terminal is too narrow.
func (p *Printer) Folded(text string) {
	for _, line := range p.fold(text) {
		p.Line("%s", line)
	}
}

// fold breaks text between words.
func (p *Printer) fold(text string) []string {
	if p.Fits(text) {
		return []string{text}
	}
	var lines []string
	line := ""
	for i, word := range strings.Split(text, " ") {
		longer := line + " " + word
		if i == 0 {
			longer = word
		}
		if !p.Fits(longer) && strings.TrimSpace(line) != "" {
			lines = append(lines, line)
			longer = FoldIndent + word
		}
		line = longer
	}
	return append(lines, line)
}

// Marked is folded with a first word in a style.
func (p *Printer) Marked(s Style, mark, text string) {
	for i, line := range p.fold(mark + " " + text) {
		if i == 0 {
			line = p.Paint(s, mark) + strings.TrimPrefix(line, mark)
		}
		p.Line("%s", line)
	}
}

// Command writes what can be typed: on a line of its own where both do not fit on
// one, and never broken, so that it can be copied.
func (p *Printer) Command(before, command string) {
	if p.Fits(before + " " + command) {
		p.Line("%s %s", before, command)
		return
	}
	p.Line("%s", before)
	p.Line("    %s", command)
}

// PathLine writes a line about a path, of which the front goes where the terminal is
// too narrow; what still does not fit is folded.
func (p *Printer) PathLine(before, path, after string) {
	if p.Width > 0 {
		path = CutFront(path, max(p.Width-1-Columns(before+after), leastPath))
	}
	p.Folded(before + path + after)
}

// Rest is as much of text as has room behind what stands before it.
func (p *Printer) Rest(text string, before ...string) string {
	if p.Width == 0 {
		return text
	}
	return Cut(text, max(p.Width-1-Columns(strings.Join(before, "")), 1))
}
