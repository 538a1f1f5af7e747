package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSVG(t *testing.T) {
	got := string(svg("\x1b[1mbold\x1b[0m <plain>\n  \x1b[7mback\x1b[27m\x1b[32m+1\x1b[39m\x1b[2m dim\x1b[m\n", 20, 2))
	for _, want := range []string{
		`viewBox="0 0 196 64"`,
		`<text x="14.0" y="27" fill="#c8ccd8" textLength="33.6" xml:space="preserve" font-weight="bold">bold</text>`,
		`>&lt;plain&gt;</text>`,
		`<rect x="30.8" y="32" width="33.6" height="18" fill="#c8ccd8"/>`,
		`fill="#7bd88f" textLength="16.8" xml:space="preserve">+1</text>`,
		`opacity="0.6">dim</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLook(t *testing.T) {
	for params, want := range map[string]look{
		"":                   bare,
		"1;31":               {bold: true, fg: 1, bg: -1},
		"1;22;2":             {dim: true, fg: -1, bg: -1},
		"93;44":              {fg: 11, bg: 4},
		"38;5;219;48;5;22;1": {bold: true, fg: 219, bg: 22},
		"38;5":               bare,
		"31;39;49":           bare,
		"7;27;1;0":           bare,
		"42;7;0;32":          {fg: 2, bg: -1},
	} {
		if got := bare.sgr(params); got != want {
			t.Errorf("%q makes %+v, want %+v", params, got, want)
		}
	}
	for n, want := range map[int]string{1: palette[1], 16: "#000000", 22: "#005f00", 219: "#ffafff", 231: "#ffffff", 232: "#080808", 255: "#eeeeee"} {
		if got := color(n); got != want {
			t.Errorf("colour %d is %s, want %s", n, got, want)
		}
	}
	if fg, bg := (look{reverse: true, fg: 2, bg: -1}).colors(); fg != background || bg != palette[2] {
		t.Errorf("reverse is %s on %s", fg, bg)
	}
}
