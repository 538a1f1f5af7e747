package highlight

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goBefore = `package a

/*
first
second
third
fourth
*/
func f() int {
	return 1 // one
}

var s = "text"`

// The change is inside a comment, which its hunk does not show, and of code.
const goPatch = `diff --git a/a.go b/a.go
index 1234567..89abcde 100644
--- a/a.go
+++ b/a.go
@@ -4,4 +4,4 @@ first
 first
 second
-func third() {}
+func Third() {}
 fourth
@@ -8,6 +8,7 @@ fourth
 */
 func f() int {
-	return 1 // one
+	return 2 // two
+	// "more"
 }
 
 var s = "text"
\ No newline at end of file
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,3 +0,0 @@
-"""docs
--- more"""
-x = None
diff --git a/what.unknown b/what.unknown
--- a/what.unknown
+++ b/what.unknown
@@ -1 +1 @@
-func
+return
diff --git a/pic.png b/pic.png
Binary files a/pic.png and b/pic.png differ
`

func text(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func goFiles() []File {
	return []File{
		{Name: "a.go", Before: text(strings.Replace(goBefore, "third", "func third() {}", 1))},
		{Name: "gone.py", Before: text("\"\"\"docs\n-- more\"\"\"\nx = None\n")},
		{Name: "what.unknown", Before: func() (string, error) { panic("a file that no language is known of is asked for") }},
		{Name: "pic.png"},
	}
}

// shown is what a palette makes of lines, with the codes in braces.
func shown(p Palette, lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, piece := range p.Pieces(l) {
			if piece.Code == "" {
				b.WriteString(piece.Text)
			} else {
				fmt.Fprintf(&b, "{%s|%s}", piece.Code, piece.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestPalettes paints a patch for each kind of terminal.
func TestPalettes(t *testing.T) {
	lines := new(Painter).Paint(Patch(goPatch), goFiles())
	for name, p := range map[string]Palette{"mono": Mono, "sixteen": Sixteen, "dark": Dark, "light": Light} {
		got, file := shown(p, lines), filepath.Join("testdata", name+".txt")
		if os.Getenv("UMBRA_UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || got != string(want) {
			t.Errorf("%s: %v: UMBRA_UPDATE_GOLDEN=1 writes it anew\n%s", name, err, got)
		}
	}
	var whole strings.Builder
	for _, l := range lines {
		whole.WriteString(l.Text + "\n")
	}
	if whole.String() != goPatch {
		t.Errorf("the lines are\n%s", whole.String())
	}
}

// TestInsideComment: a line inside a comment that began above its hunk is one,
// unless the file as it was is not to be had, or is another.
func TestInsideComment(t *testing.T) {
	third := func(before func() (string, error)) Line {
		lines := new(Painter).Paint(Patch(goPatch), []File{{Name: "a.go", Before: before}})
		return lines[7]
	}
	l := third(goFiles()[0].Before)
	if l.Text != "-func third() {}" || len(l.Runs) != 1 || l.Runs[0].Class != Comment {
		t.Errorf("%q is %v", l.Text, l.Runs)
	}
	for name, before := range map[string]func() (string, error){
		"none":    nil,
		"failing": func() (string, error) { return "", errors.New("gone") },
		"another": text("package b\n"),
		"longer":  text(goBefore + "x"),
	} {
		l := third(before)
		if len(l.Runs) < 2 || l.Runs[0] != (Run{4, Keyword}) {
			t.Errorf("with %s text before, %q is %v", name, l.Text, l.Runs)
		}
	}
}

// TestBounds: what is too much is not painted, but whole all the same.
func TestBounds(t *testing.T) {
	line := "var x = 1 // " + strings.Repeat("x", 1000) + "\n"
	big := strings.Repeat(line, mostBytes/len(line)+1)
	if Source("a.go", big) != nil {
		t.Error("a file of more than a mebibyte is painted")
	}
	if Source("a.go", strings.Repeat("\n", mostLines+1)) != nil {
		t.Error("a file of too many lines is painted")
	}
	if Source("a.go", "package \xff\n") != nil || Source("a.go", "package \x00\n") != nil {
		t.Error("what is no text is painted")
	}
	patch := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-var x = 1\n+var x = 2\n"
	var p Painter
	if got := p.Paint(Patch(patch), []File{{Name: "a.go", Before: text("var x = 1\n")}}); len(got[5].Runs) == 0 || p.spent == 0 {
		t.Errorf("%v, spent %d", got[5].Runs, p.spent)
	}
	p.spent = mostInAll - 30 // enough for the hunk, not for the file
	file := "var x = 1\n" + strings.Repeat("// more\n", 20)
	end := strings.Replace(patch, "@@ -1 +1 @@", "@@ -1 +1 @@ end", 1)
	if got := p.Paint(Patch(end), []File{{Name: "a.go", Before: text(file)}}); len(got[5].Runs) == 0 {
		t.Error("a hunk that fits is not painted")
	}
	p.spent = mostInAll
	if got := p.Paint(Patch(patch), []File{{Name: "a.go", Before: text("var x = 1\n")}}); len(got[5].Runs) != 0 || got[5].Text != "+var x = 2" {
		t.Errorf("beyond the bound: %+v", got[5])
	}
}

func TestLanguageOf(t *testing.T) {
	for _, c := range []struct{ name, first, want string }{
		{"src/a.go", "", "Go"},
		{"Makefile", "", "Makefile"},
		{"deep/Dockerfile.dev", "", "Docker"},
		{"a.h", "", "C"},
		{"a.tsx", "", "TypeScript"},
		{"go.lock.unknown", "#!/bin/sh", "Bash"},
		{"run", "#!/bin/sh -e", "Bash"},
		{"run", "#!/usr/bin/env -S python3.12 -u", "Python"},
		{"run", "#!/usr/bin/env A=b node", "JavaScript"},
		{"run", "#!", ""},
		{"run", "#!/usr/bin/env", ""},
		{"run", "#!/opt/other", ""},
		{"run", "# no", ""},
	} {
		l, err := languageOf(c.name, c.first)
		got := ""
		if l != nil {
			got = l.Config().Name
		}
		if err != nil || got != c.want {
			t.Errorf("%s with %q is %q (%v), want %q", c.name, c.first, got, err, c.want)
		}
	}
	delete(loaded.by, "nothing")
	if l, err := load("nothing", "nothing"); l != nil || err == nil {
		t.Errorf("a language that is not there: %v, %v", l, err)
	}
}

func TestPaletteOf(t *testing.T) {
	for env, want := range map[string]Palette{
		"TERM=xterm":                               Sixteen,
		"TERM=xterm-256color":                      Dark,
		"TERM=xterm COLORTERM=truecolor":           Dark,
		"TERM=screen-256color COLORFGBG=0;15":      Light,
		"TERM=rxvt-256color COLORFGBG=0;default;7": Light,
		"TERM=rxvt-256color COLORFGBG=15;0":        Dark,
		"COLORFGBG=0;15":                           Sixteen,
	} {
		getenv := func(name string) string {
			for kv := range strings.FieldsSeq(env) {
				if v, ok := strings.CutPrefix(kv, name+"="); ok {
					return v
				}
			}
			return ""
		}
		if got := PaletteOf(getenv); got != want {
			t.Errorf("%s: %v, want %v", env, got, want)
		}
	}
}

func TestPatch(t *testing.T) {
	for _, l := range Patch("@@ broken\n+a\n@@ -x +1 @@\n+b\n@@ -1,y +1 @@\n-c\n") {
		if l.Source() {
			t.Errorf("%q of no hunk is %v", l.Text, l.Kind)
		}
	}
	var p Painter
	lines := Patch("diff --git a/a.go b/a.go\n@@ -2,0 +3 @@\n+func f() {}\n")
	got := p.Paint(lines, []File{{Name: "a.go", Before: text("/*\n*/\n/*\n")}})
	if r := got[2].Runs; len(r) < 2 || r[0].Class != Keyword {
		t.Errorf("a line behind a comment is %v", r)
	}
	if lines[2].Runs != nil {
		t.Error("the lines that were given are changed")
	}
}

func FuzzPatch(f *testing.F) {
	f.Add(goPatch, goBefore)
	f.Add("diff --git a/a b/a\n@@ -1,2 +1 @@\n-a\n", "a\r\n")
	f.Fuzz(func(t *testing.T, patch, before string) {
		lines := Patch(patch)
		files := []File{{Name: "a.go", Before: text(before)}, {Name: "b.html", Before: text(before)}}
		for i, l := range new(Painter).Paint(lines, files) {
			var b strings.Builder
			for _, piece := range Dark.Pieces(l) {
				b.WriteString(piece.Text)
			}
			if l.Text != lines[i].Text || b.String() != l.Text {
				t.Fatalf("line %q is shown as %q", l.Text, b.String())
			}
		}
	})
}
