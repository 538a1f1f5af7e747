package syntax_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions/syntax"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a.go", "package a\n\nfunc f() {}\n", ""},
		{"a.go", "package a\n\nvar x = undeclared\n", ""}, // what it means is no question here
		{"a.go", "package a\n\nfunc f() {\n", "Go: line 3: expected '}', found 'EOF'"},
		{"a.go", "package a\n\nfunc f() {}\n\nfunc f() {}\n", "Go: line 5: f redeclared in this block"},
		{"A.JSON", `{"a": [1, {"b": null}], "c": {"b": 1}}`, ""},
		{"a.json", "{\n\"a\": 1,\n\"b\": {\"x\": 1, \"x\": 2}\n}\n", `JSON: "x" is there twice in one object`},
		{"a.json", "{\"a\": 1\n", "JSON: it ends too early"},
		{"a.json", "{}\n{}\n", "JSON: line 2: more than one value"},
		{"a.json", "", "JSON: it ends too early"},
		{"a.json", strings.Repeat("[", 3_000_000), "JSON: line 1: it is nested too deep"}, // and no stack overflows
		{"a.txt", "{", ""},
	} {
		if got := syntax.Problem(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s %q: %q, not %q", c.name, c.text, got, c.want)
		}
		if syntax.Known(c.name) != (c.name != "a.txt") {
			t.Errorf("%s is known: %v", c.name, syntax.Known(c.name))
		}
	}
	got := syntax.Problem("a.json", []byte("{\n\"a\": 1\n\"b\": 2\n}\n"))
	if len(got) < 14 || got[:14] != "JSON: line 3: " && got[:14] != "JSON: line 2: " {
		t.Errorf("a comma that is missing: %q", got)
	}
}

// FuzzProblem: a text that the standard library takes has no problem but a name that is there
// twice, and none makes the reader fail.
func FuzzProblem(f *testing.F) {
	for _, text := range []string{"package a\n", `{"a":1,"a":2}`, "[1,", "", "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := syntax.Problem("a.json", text); got == "" && !json.Valid(text) {
			t.Errorf("%q is no JSON", text)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil && syntax.Problem("a.go", text) == "" {
			t.Errorf("%q is no Go: %v", text, err)
		}
	})
}
