package commands

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// cell is a piece of text in a table, and its style.
type cell struct {
	text  string
	style style
}

// table is rows in columns. The last column takes what is left of the
// terminal's width and is cut there; without a terminal nothing is cut.
type table struct {
	rows [][]cell
}

func (t *table) row(cells ...cell) { t.rows = append(t.rows, cells) }

// print writes the rows, each after the indent, two spaces between columns.
func (t *table) print(p *printer, indent string) {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(c.text))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		b.WriteString(indent)
		at := columns(indent)
		for i, c := range row {
			text, last := c.text, i == len(row)-1
			if p.width > 0 {
				text = cut(text, max(p.width-at-1, 1))
			}
			b.WriteString(p.paint(c.style, text))
			if !last {
				pad := widths[i] - columns(text) + 2
				b.WriteString(strings.Repeat(" ", max(pad, 1)))
			}
			at += widths[i] + 2
		}
		p.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// columns is how wide a terminal shows the text.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens text to so many columns, with an ellipsis.
func cut(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeColumns(r); n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}
