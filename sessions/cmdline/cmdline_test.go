package cmdline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func commander() Grammar {
	return Grammar{
		Options: map[string]Arity{"--one": One, "--maybe": Optional, "--many": Many},
		Short:   map[byte]string{'o': "--one", 'm': "--maybe", 'x': "--many", 'p': "--print"},
	}
}

func yargs() Grammar {
	g := commander()
	g.Eats = true
	return g
}

// TestParse: which words an option takes. A value that is joined to one of many
// leaves the prompt behind it alone, but with yargs.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		g           Grammar
		words, want string
	}{
		{commander(), "--one -a b", "--one(-a) (b)"},
		{commander(), "--one=a b", "--one(a) (b)"},
		{commander(), "--maybe a b", "--maybe(a) (b)"},
		{commander(), "--maybe -p b", "--maybe() --print() (b)"},
		{commander(), "--many a b -p c", "--many(a b) --print() (c)"},
		{commander(), "--many -a b", "--many(-a b)"},
		{commander(), "--many=/x prompt", "--many(/x) (prompt)"},
		{commander(), "-x/x prompt", "--many(/x) (prompt)"},
		{yargs(), "--many=/x more -p", "--many(/x more) --print()"},
		{commander(), "-po v w", "--print() --one(v) (w)"},
		{commander(), "--other a", "--other() (a)"},
		{commander(), "--many a -- -p --one", "--many(a) !(-p) !(--one)"},
		{commander(), "--one", "--one()"},
		{commander(), "-", "(-)"},
	} {
		var got []string
		for _, a := range c.g.Parse(strings.Fields(c.words)) {
			plain := ""
			if a.Plain {
				plain = "!"
			}
			got = append(got, fmt.Sprintf("%s%s(%s)", plain, a.Name, strings.Join(a.Values, " ")))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q is %s, want %s", c.words, s, c.want)
		}
	}
}

// TestArguments: what is taken out and put in leaves the rest as it was typed,
// and what was parsed as it is.
func TestArguments(t *testing.T) {
	typed := strings.Fields("-p --one=a --many b c --one d word -- --one -- e")
	a := commander().Parse(typed)
	if got := a.Words(); !slices.Equal(got, typed) {
		t.Errorf("typed %q, is %q", typed, got)
	}
	if v, ok := a.Value("--one"); !ok || v != "d" || !a.Has("--none", "--print") || a.Has("--none") {
		t.Errorf("--one is %q", v)
	}
	if _, ok := a.Value("--print"); ok {
		t.Error("--print has a value")
	}
	if got := a.Positionals(); !slices.Equal(got, []string{"word", "--one", "--", "e"}) {
		t.Errorf("positional are %q", got)
	}
	less := a.Without("--one", "--many").First("--session", "x")
	if got, want := less.Words(), strings.Fields("--session x -p word -- --one -- e"); !slices.Equal(got, want) {
		t.Errorf("it became %q, want %q", got, want)
	}
	if got := less.Without("").Words(); !slices.Equal(got, []string{"--session", "x", "-p"}) {
		t.Errorf("without words it is %q", got)
	}
	if !slices.Equal(a.Words(), typed) {
		t.Error("what was parsed has changed")
	}
}
