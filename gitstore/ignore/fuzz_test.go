package ignore

import (
	"bytes"
	"testing"
)

// naive is the definition of a match, without any care for its cost: the
// model that match and mayMatchBelow are held against.
func naive(w *wild, tokens []token, text []byte, fold bool) bool {
	if len(tokens) == 0 {
		return len(text) == 0
	}
	t, rest := tokens[0], tokens[1:]
	switch t.kind {
	case tokenAll:
		return true
	case tokenStar:
		for i := 0; ; i++ {
			if naive(w, rest, text[i:], fold) {
				return true
			}
			if i == len(text) || text[i] == '/' {
				return false
			}
		}
	case tokenDirs, tokenDirs1:
		if t.kind == tokenDirs && naive(w, rest, text, fold) {
			return true
		}
		for i, b := range text {
			if b == '/' && naive(w, rest, text[i+1:], fold) {
				return true
			}
		}
		return false
	}
	return len(text) > 0 && w.takes(t, text[0], fold) && naive(w, rest, text[1:], fold)
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte("a/**/b?[a-c]*\n!\\!x\\ \r\n"), "a/x/bcb", true)
	f.Add([]byte("\xef\xbb\xbf**\\/[[:alpha:]-]*/**\n"), "A/b/c", false)
	f.Add([]byte("*a*a*b\n/*/x\n**/**/y"), "aaaa/x/y", false)
	f.Fuzz(func(t *testing.T, data []byte, path string, fold bool) {
		if len(data) > 60 || len(path) > 30 {
			return // the model is exponential
		}
		l := Parse("fuzz", data)
		if l == nil {
			return
		}
		text := []byte(path)
		for i := range l.rules {
			r, told := &l.rules[i], l.rule(i)
			if len(told.Text) == 0 || told.Line < 1 {
				t.Fatalf("rule %d is empty", i)
			}
			w := l.wild(r)
			got := l.matches(r, text, fold)
			if !r.path && bytes.IndexByte(text, '/') >= 0 {
				continue // such a rule is asked for names only
			}
			if want := naive(&w, w.tokens, text, fold); got != want {
				t.Fatalf("%q against %q: %v, the model says %v", told.Text, text, got, want)
			}
			if !got || !r.path {
				continue
			}
			for i, b := range text {
				if b == '/' && i > 0 && text[i-1] != '/' && !bytes.Contains(text, []byte("//")) && text[0] != '/' &&
					text[len(text)-1] != '/' && !w.mayMatchBelow(text[:i], fold) {
					t.Fatalf("%q matches %q but is said not to reach below %q", told.Text, text, text[:i])
				}
			}
		}
		m := New(l, fold, Files{Git: l, Umbra: l}).Enter("a", Files{Umbra: l, Nested: fold, Exclude: l})
		m.Match(path, true)
		m.MayContainIncluded(path)
	})
}
