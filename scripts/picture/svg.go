package main

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
)

// The size of a cell, and what is around the text.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 14
)

// palette are the sixteen colours.
var palette = [16]string{
	"#1d1f28", "#ff6b6b", "#7bd88f", "#f5d76e", "#6ca8ff", "#d08cf0", "#5fd7d7", "#c8ccd8",
	"#6b7080", "#ff8787", "#9ae6a8", "#ffe58f", "#8ebfff", "#e0aaff", "#86e7e7", "#ffffff",
}

// color is one of the 256 colours: the sixteen, a cube of six steps of red, green
// and blue, and greys, as xterm has them.
func color(n int) string {
	switch {
	case n < 16:
		return palette[n]
	case n >= 232:
		return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232))
	}
	steps := [6]int{0, 95, 135, 175, 215, 255}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", steps[n/36], steps[n/6%6], steps[n%6])
}

const background, foreground = "#14161e", "#c8ccd8"

// look is how a piece of text is drawn.
type look struct {
	bold, dim, reverse bool
	fg, bg             int // of the 256 colours; -1 is the terminal's own
}

var bare = look{fg: -1, bg: -1}

// sgr is the look after a select-graphic-rendition sequence's parameters.
func (l look) sgr(params string) look {
	codes := strings.Split(params, ";")
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i]) // "" is 0
		switch {
		case n == 0:
			l = bare
		case n == 1:
			l.bold = true
		case n == 2:
			l.dim = true
		case n == 7:
			l.reverse = true
		case n == 22:
			l.bold, l.dim = false, false
		case n == 27:
			l.reverse = false
		case (n == 38 || n == 48) && i+2 < len(codes) && codes[i+1] == "5":
			c, _ := strconv.Atoi(codes[i+2])
			if n == 38 {
				l.fg = c % 256
			} else {
				l.bg = c % 256
			}
			i += 2
		case n >= 30 && n < 38:
			l.fg = n - 30
		case n == 39:
			l.fg = -1
		case n >= 40 && n < 48:
			l.bg = n - 40
		case n == 49:
			l.bg = -1
		case n >= 90 && n < 98:
			l.fg = n - 90 + 8
		}
	}
	return l
}

// colors are the colours of text and of what is behind it.
func (l look) colors() (fg, bg string) {
	fg, bg = foreground, background
	if l.fg >= 0 {
		fg = color(l.fg)
	}
	if l.bg >= 0 {
		bg = color(l.bg)
	}
	if l.reverse {
		return bg, fg
	}
	return fg, bg
}

// svg draws a screen as tmux captures it: a cell for each character.
func svg(screen string, columns, rows int) []byte {
	var b bytes.Buffer
	width, height := float64(columns)*cellWidth+2*margin, rows*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	at := bare
	for y, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
		x := 0
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				params, after, _ := strings.Cut(rest, "m")
				at, line = at.sgr(params), after
				continue
			}
			end := strings.Index(line, "\x1b")
			if end < 0 {
				end = len(line)
			}
			x += piece(&b, at, line[:end], x, y)
			line = line[end:]
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// piece draws text of one look, and returns how many cells it takes.
func piece(b *bytes.Buffer, l look, text string, x, y int) int {
	n := len([]rune(text))
	fg, bg := l.colors()
	left, top := margin+float64(x)*cellWidth, margin+y*cellHeight
	if bg != background {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, float64(n)*cellWidth, cellHeight, bg)
	}
	shown := strings.TrimLeft(text, " ")
	left += float64(n-len([]rune(shown))) * cellWidth
	shown = strings.TrimRight(shown, " ")
	if shown == "" {
		return n
	}
	style := ""
	if l.bold {
		style += ` font-weight="bold"`
	}
	if l.dim {
		style += ` opacity="0.6"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n",
		left, top+cellHeight-5, fg, float64(len([]rune(shown)))*cellWidth, style, html.EscapeString(shown))
	return n
}
