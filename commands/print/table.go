package print

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Cell is a piece of text in a table, and its style.
type Cell struct {
	Text  string
	style Style
}

// Table is rows in columns. The last column takes what is left of the
// terminal's width and is cut there; without a terminal nothing is cut.
type Table struct {
	Rows []TableRow
	Most []int // how wide a column grows for a wide cell; 0: as wide as it is
}

// TableRow is a row, and what is printed before and behind it.
type TableRow struct {
	Cells         []Cell
	Before, After func(*Printer)
}

// Cell is text in the style.
func (s Style) Cell(text string) Cell { return Cell{Text: text, style: s} }

func (t *Table) Row(cells ...Cell) { t.Rows = append(t.Rows, TableRow{Cells: cells}) }

// widths are those of the columns.
func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.Rows {
		for i, c := range row.Cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			n := Columns(c.Text)
			if i < len(t.Most) && t.Most[i] > 0 {
				n = min(n, t.Most[i])
			}
			widths[i] = max(widths[i], n)
		}
	}
	return widths
}

// Print writes the rows, each after the indent, two spaces between columns.
func (t *Table) Print(p *Printer, indent string) {
	widths := t.widths()
	for _, row := range t.Rows {
		if row.Before != nil {
			row.Before(p)
		}
		p.Line("%s", strings.TrimRight(indent+row.text(p, widths, p.Width-Columns(indent)), " "))
		if row.After != nil {
			row.After(p)
		}
	}
}

// text is the row in columns, in no more than room where the terminal has a width.
func (r TableRow) text(p *Printer, widths []int, room int) string {
	var b strings.Builder
	at := 0
	for i, c := range r.Cells {
		text := c.Text
		if p.Width > 0 && i > 0 && at >= room-1 {
			break
		}
		if p.Width > 0 {
			text = Cut(text, max(room-at-1, 1))
		}
		b.WriteString(p.Paint(c.style, text))
		if i < len(r.Cells)-1 {
			n := Columns(text)
			pad := max(widths[i]-n, 0) + 2
			b.WriteString(strings.Repeat(" ", pad))
			at += n + pad
		}
	}
	return b.String()
}

// Columns is how wide a terminal shows the text.
func Columns(s string) int {
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

// Cut shortens text to so many columns, with an ellipsis.
func Cut(s string, most int) string {
	if Columns(s) <= most {
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

// CutFront shortens a path to so many columns: its end tells more.
func CutFront(s string, most int) string {
	if Columns(s) <= most || most < 2 {
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
