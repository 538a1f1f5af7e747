package trigrams

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fill indexes texts, a piece each, of conversations of three pieces.
func fill(t *testing.T, dir string, from int, texts []string) {
	t.Helper()
	var b Batch
	set := new(Set)
	for i, text := range texts {
		set.Add(text)
		n := int64(from + i)
		b.Add(fmt.Sprint("talk ", n/3), Piece{Begins: n, Read: n, Ends: n + 1, Sought: n + 1, Last: i%3 == 2, Newest: n, Oldest: -n, From: []string{"x"}[:i%2]}, set.Take())
	}
	if err := b.Write(dir, "v1"); err != nil {
		t.Fatal(err)
	}
}

// rulesOut is which pieces an index says can't have a text; it must have all others.
func rulesOut(x *Index, text string, pieces int) (out []int) {
	x.Ask(Of(text))
	for n := range pieces {
		all := x.Pieces(fmt.Sprint("talk ", n/3))
		at := slices.IndexFunc(all, func(p Indexed) bool { return p.Begins == int64(n) })
		if at >= 0 && !x.May(all[at]) {
			out = append(out, n)
		}
	}
	return out
}

func TestIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dice := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for i := range 120 {
		text := fmt.Sprintf("piece %d ends here", i)
		for range dice.IntN(60) {
			text += string([]byte{' ', 'a' + byte(dice.IntN(26)), 'a' + byte(dice.IntN(26)), byte(dice.IntN(256))})
		}
		texts = append(texts, text)
	}
	for from := 0; from < len(texts); from += 12 {
		fill(t, dir, from, texts[from:from+12])
	}
	check := func(what string) {
		t.Helper()
		x := Open(dir, "v1")
		defer x.Close()
		for i, text := range texts {
			for _, asked := range []string{fmt.Sprintf("piece %d ", i), text[len(text)/2:], "no such thing", "ab", ""} {
				out := rulesOut(x, asked, len(texts))
				for _, n := range out {
					if strings.Contains(texts[n], asked) {
						t.Fatalf("%s: piece %d is ruled out, which has %q", what, n, asked)
					}
				}
				if asked == "no such thing" && len(out) < 100 || len(asked) < 3 && len(out) > 0 {
					t.Fatalf("%s: %d pieces are ruled out for %q", what, len(out), asked)
				}
			}
		}
	}
	check("as written")
	all := func(string, Piece) bool { return true }
	if err := Tidy(dir, "v1", all); err != nil {
		t.Fatal(err)
	}
	if parts, err := os.ReadDir(dir); err != nil || len(parts) != 1 {
		t.Fatalf("%v, %v", parts, err)
	}
	check("tidied")
	// What is of no use is dropped when parts are merged, and what of another version is at once.
	for n := range mostSmall {
		fill(t, dir, 1000+n, []string{"more"})
	}
	if err := Tidy(dir, "v1", func(key string, p Piece) bool { return p.Begins < 120 && p.Begins != 7 }); err != nil {
		t.Fatal(err)
	}
	x := Open(dir, "v1")
	if len(x.parts) != 1 || len(x.Pieces("talk 2")) != 2 || len(x.Pieces("talk 333")) != 0 {
		t.Errorf("%d parts, %+v", len(x.parts), x.Pieces("talk 2"))
	}
	want := Piece{Begins: 8, Read: 8, Ends: 9, Sought: 9, Last: true, Newest: 8, Oldest: -8}
	if got := x.Pieces("talk 2")[1].Piece; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	x.Close()
	texts[7] = ""
	check("merged")
	if x := Open(dir, "v2"); len(x.parts) != 0 {
		t.Error("the index of another version is read")
	}
	if err := Tidy(dir, "v2", all); err != nil {
		t.Fatal(err)
	}
	if parts, _ := os.ReadDir(dir); len(parts) != 0 {
		t.Errorf("left of another version: %v", parts)
	}
}

// TestDamagedIndex: no change of a byte, and no cut, makes an index rule out what is there.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts := []string{"alpha beta", "beta gamma", "gamma delta", "delta alpha"}
	fill(t, dir, 0, texts)
	parts, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	good, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	try := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(parts[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir, "v1")
		defer x.Close()
		for _, asked := range []string{"alpha", "beta", "gamma", "delta"} {
			for _, n := range rulesOut(x, asked, len(texts)) {
				if strings.Contains(texts[n], asked) {
					t.Fatalf("%q is ruled out of piece %d", asked, n)
				}
			}
		}
	}
	for i := range good {
		for _, by := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(good)
			bad[i] ^= by
			try(bad)
		}
		try(good[:i])
	}
}
