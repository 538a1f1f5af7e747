package jsonlines

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbra-vcs/umbra/scripts/draws"
)

// TestFinder finds what bytes.Index finds, from every place on, also where the
// word's rarest byte stands alone so often that it is given up.
func TestFinder(t *testing.T) { rapid.Check(t, finderProperty) }

// FuzzFinder is TestFinder, led by coverage.
func FuzzFinder(f *testing.F) { draws.Fuzz(f, finderProperty) }

func finderProperty(t *rapid.T) {
	letters := rapid.SampledFrom([]string{"ab", "aaaab", "a-", "/home/dev-7", "é\n\"x"}).Draw(t, "letters")
	letter := rapid.SampledFrom([]byte(letters))
	word := rapid.SliceOfN(letter, 1, 5).Draw(t, "word")
	text := rapid.SliceOfN(letter, 0, 300).Draw(t, "text")
	f := NewFinder(word)
	for from := range len(text) + 1 {
		want := bytes.Index(text[from:], word)
		if want >= 0 {
			want += from
		}
		if got := f.Next(text, from); got != want {
			t.Fatalf("%q in %q from %d: found at %d, want %d", word, text, from, got, want)
		}
	}
}
