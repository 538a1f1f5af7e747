package commands

import "strings"

// What does not fit on a terminal's line is broken between words, or left out where
// it says least: a line that the terminal itself breaks is hard to read, and in a
// pane that grows or shrinks it is worse. Elsewhere nothing is done to text. All of
// it is clean, and has no colours yet.

// foldIndent is what the further lines of folded text begin with.
const foldIndent = "  "

// leastPath is how much of a path says where it is.
const leastPath = 12

// fits reports whether a line is no wider than the terminal.
func (p *printer) fits(line string) bool { return p.width == 0 || columns(line) < p.width }

// folded writes a line, in several where the terminal is too narrow.
func (p *printer) folded(text string) {
	for _, line := range p.fold(text) {
		p.line("%s", line)
	}
}

// fold breaks text between words.
func (p *printer) fold(text string) []string {
	if p.fits(text) {
		return []string{text}
	}
	var lines []string
	line := ""
	for i, word := range strings.Split(text, " ") {
		longer := line + " " + word
		if i == 0 {
			longer = word
		}
		if !p.fits(longer) && strings.TrimSpace(line) != "" {
			lines = append(lines, line)
			longer = foldIndent + word
		}
		line = longer
	}
	return append(lines, line)
}

// marked is folded with a first word in a style.
func (p *printer) marked(s style, mark, text string) {
	for i, line := range p.fold(mark + " " + text) {
		if i == 0 {
			line = p.paint(s, mark) + strings.TrimPrefix(line, mark)
		}
		p.line("%s", line)
	}
}

// command writes what can be typed: on a line of its own where both do not fit on
// one, and never broken, so that it can be copied.
func (p *printer) command(before, command string) {
	if p.fits(before + " " + command) {
		p.line("%s %s", before, command)
		return
	}
	p.line("%s", before)
	p.line("    %s", command)
}

// pathLine writes a line about a path, of which the front goes where the terminal is
// too narrow; what still does not fit is folded.
func (p *printer) pathLine(before, path, after string) {
	if p.width > 0 {
		path = cutFront(path, max(p.width-1-columns(before+after), leastPath))
	}
	p.folded(before + path + after)
}

// rest is as much of text as has room behind what stands before it.
func (p *printer) rest(text string, before ...string) string {
	if p.width == 0 {
		return text
	}
	return cut(text, max(p.width-1-columns(strings.Join(before, "")), 1))
}
