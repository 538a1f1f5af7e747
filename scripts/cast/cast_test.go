package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestPicture: docs/demo.svg is what is drawn from docs/demo.cast. That the cast
// is what the demo prints now, the demo's own test holds.
func TestPicture(t *testing.T) {
	cast, err := os.ReadFile("../../" + castFile)
	if err != nil {
		t.Fatal(err)
	}
	events, err := parse(cast)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(format(events), cast) {
		t.Error("docs/demo.cast is not as it is written: go run ./scripts/cast")
	}
	svg, err := os.ReadFile("../../" + svgFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(draw(events), svg) {
		t.Error("docs/demo.svg is not of docs/demo.cast: go run ./scripts/cast --svg")
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSpans(t *testing.T) {
	for line, want := range map[string]string{
		"plain <&>":                                              "plain &lt;&amp;&gt;",
		"\x1b[1;36m1.\x1b[0m \x1b[2mx":                           `<tspan class="b" style="fill:#76e3ea">1.</tspan> <tspan class="d">x</tspan>`,
		"\x1b[32m●\x1b[0m":                                       `<tspan style="fill:#8ddb8c">●</tspan>`,
		strings.Repeat("x", columns+1):                           strings.Repeat("x", columns-1) + "…",
		strings.Repeat("é", columns):                             strings.Repeat("é", columns),
		"\x1b[1m" + strings.Repeat("x", columns) + "\x1b[0mmore": `<tspan class="b">` + strings.Repeat("x", columns) + `</tspan>`,
	} {
		if got := spans(line); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"{}", "{}\n[1]", "{}\n[\"a\", \"o\", \"b\"]", "{}\nno"} {
		if got, err := parse([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
