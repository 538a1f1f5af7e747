package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// Measures of the picture, in its own units.
const (
	lineHeight = 18
	screen     = columns * 843 / 100 // a monospace font of 14
	margin     = 14
	titleBar   = 26
)

// colours are those of the SGR codes that umbra prints.
var colours = map[string]string{
	"31": "#f47067", "32": "#8ddb8c", "33": "#f6d365", "34": "#6cb6ff", "35": "#dcbdfb", "36": "#76e3ea",
}

// draw draws the session: lines appear at their times, and the screen scrolls.
// Where nothing moves, as in a reader that prefers so, its beginning is shown.
func draw(events []event) []byte {
	var b bytes.Buffer
	width, height := screen+2*margin, rows*lineHeight+2*margin+titleBar
	total := events[len(events)-1].at + 1
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="umbra demo: an agent works, is forked, restored and taken back">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#adbac7;white-space:pre}
.b{font-weight:bold;fill:#e6edf3}.d{fill:#768390}
@keyframes in{from{opacity:0}to{opacity:1}}
.l{animation:in 1ms linear both}
@keyframes scroll{%s}
.s{animation:scroll %.3fs step-end both}
@media (prefers-reduced-motion:reduce){.l,.s{animation:none}}
</style>
<rect width="%d" height="%d" rx="8" fill="#1c2128"/>
<circle cx="18" cy="15" r="5" fill="#f47067"/><circle cx="34" cy="15" r="5" fill="#f6d365"/><circle cx="50" cy="15" r="5" fill="#8ddb8c"/>
<svg x="%d" y="%d" width="%d" height="%d"><g class="s">
`, width, height, scrolling(events, total), total, width, height, margin, titleBar+margin/2, screen, rows*lineHeight)
	for n, e := range events {
		fmt.Fprintf(&b, `<text class="l" style="animation-delay:%.3fs" y="%d" xml:space="preserve">%s</text>`+"\n", e.at, n*lineHeight+lineHeight*3/4, spans(e.line))
	}
	b.WriteString("</g></svg>\n</svg>\n")
	return b.Bytes()
}

// scrolling are the keyframes by which each line beyond the last row moves all
// that are above it.
func scrolling(events []event, total float64) string {
	var b strings.Builder
	b.WriteString("0%{transform:translateY(0)}")
	for n, e := range events {
		if up := n + 1 - rows; up > 0 {
			fmt.Fprintf(&b, "%.3f%%{transform:translateY(-%dpx)}", 100*e.at/total, up*lineHeight)
		}
	}
	fmt.Fprintf(&b, "100%%{transform:translateY(-%dpx)}", max(0, len(events)-rows)*lineHeight)
	return b.String()
}

var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// spans draws a line in its colours, cut to the terminal's width.
func spans(line string) string {
	var b strings.Builder
	class, fill, left := "", "", columns
	put := func(text string) {
		runes := []rune(text)
		if len(runes) > left {
			runes = append(runes[:max(0, left-1)], '…')
		}
		if len(runes) == 0 || left <= 0 {
			return
		}
		left -= len(runes)
		text = html.EscapeString(string(runes))
		switch {
		case class != "" && fill != "":
			fmt.Fprintf(&b, `<tspan class="%s" style="fill:%s">%s</tspan>`, class, fill, text)
		case class != "":
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, class, text)
		case fill != "":
			fmt.Fprintf(&b, `<tspan style="fill:%s">%s</tspan>`, fill, text)
		default:
			b.WriteString(text)
		}
	}
	at := 0
	for _, m := range sgr.FindAllStringSubmatchIndex(line, -1) {
		put(line[at:m[0]])
		class, fill = "", ""
		for code := range strings.SplitSeq(line[m[2]:m[3]], ";") {
			switch code {
			case "1":
				class = "b"
			case "2":
				class = "d"
			default:
				fill = colours[code]
			}
		}
		at = m[1]
	}
	put(line[at:])
	return b.String()
}
