package commands

import (
	"slices"
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
	rows []tableRow
	most []int // how wide a column grows for a wide cell; 0: as wide as it is
}

// tableRow is a row, and what is printed before and behind it.
type tableRow struct {
	cells         []cell
	before, after func(*printer)
}

func (t *table) row(cells ...cell) { t.rows = append(t.rows, tableRow{cells: cells}) }

// widths are those of the columns.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			n := columns(c.text)
			if i < len(t.most) && t.most[i] > 0 {
				n = min(n, t.most[i])
			}
			widths[i] = max(widths[i], n)
		}
	}
	return widths
}

// print writes the rows, each after the indent, two spaces between columns.
func (t *table) print(p *printer, indent string) {
	widths := t.widths()
	for _, row := range t.rows {
		if row.before != nil {
			row.before(p)
		}
		p.line("%s", strings.TrimRight(indent+row.text(p, widths, p.width-columns(indent)), " "))
		if row.after != nil {
			row.after(p)
		}
	}
}

// text is the row in columns, in no more than room where the terminal has a width.
func (r tableRow) text(p *printer, widths []int, room int) string {
	var b strings.Builder
	at := 0
	for i, c := range r.cells {
		text := c.text
		if p.width > 0 && i > 0 && at >= room-1 {
			break
		}
		if p.width > 0 {
			text = cut(text, max(room-at-1, 1))
		}
		b.WriteString(p.paint(c.style, text))
		if i < len(r.cells)-1 {
			n := columns(text)
			pad := max(widths[i]-n, 0) + 2
			b.WriteString(strings.Repeat(" ", pad))
			at += n + pad
		}
	}
	return b.String()
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

// cutFront shortens a path to so many columns: its end tells more.
func cutFront(s string, most int) string {
	if columns(s) <= most || most < 2 {
		return s
	}
	n := 0
	for i, r := range slices.Backward([]rune(s)) {
		if n += runeColumns(r); n > most-1 {
			return "…" + string([]rune(s)[i+1:])
		}
	}
	return s
}
