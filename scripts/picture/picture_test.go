package main

import (
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPictures: the pictures in the docs show what the program shows now.
func TestPictures(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	err := errStory
	for try := 1; try <= 3 && errors.Is(err, errStory); try++ {
		if err = draw(dir); errors.Is(err, errStory) {
			t.Log(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range scenes {
		name := sc.name + ".svg"
		now, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		then, err := os.ReadFile(filepath.Join("docs", "pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := words(now), words(then); len(want) < 20 || !slices.Equal(got, want) {
			t.Errorf("docs/pictures/%s is of another program: go run ./scripts/picture\nnow:\n%s\nthen:\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

var (
	drawn   = regexp.MustCompile(`<text [^>]*fill="([^"]*)"[^>]*>([^<]*)</text>`)
	another = []struct {
		what *regexp.Regexp
		as   string
	}{
		{regexp.MustCompile(`/\S*umbra-demo\S*`), "PATH"},
		{regexp.MustCompile(`[0-9a-f]{7,}`), "ID"},
		{regexp.MustCompile(`([A-Z][a-z]{2} \d\d )?\d\d:\d\d(:\d\d)?`), "TIME"},
		{regexp.MustCompile(` (<1s|\d+m?\d*s)( |$)`), " LONG "},
		{regexp.MustCompile(` \((late|partial)\)`), ""},
		{regexp.MustCompile(` +`), " "},
		{regexp.MustCompile(`^(.{0,8}).*…$`), "$1"}, // how much there is room for depends on the rest
	}
)

// words are the texts of a picture with their colours, without what is another
// each time.
func words(svg []byte) (list []string) {
	for _, m := range drawn.FindAllSubmatch(svg, -1) {
		text := html.UnescapeString(string(m[2]))
		for _, a := range another {
			text = a.what.ReplaceAllString(text, a.as)
		}
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, string(m[1])+" "+text)
		}
	}
	return list
}

func TestWords(t *testing.T) {
	picture := func(texts ...string) []byte {
		var b strings.Builder
		for _, text := range texts {
			b.WriteString(`<text x="1" y="2" fill="#fff" textLength="3" xml:space="preserve">` + html.EscapeString(text) + "</text>\n")
		}
		return []byte(b.String())
	}
	one := words(picture(" turn 4 11:44:22 <1s +1 −1", "3c5c4e5ced → 71ed808126", "/tmp/x/umbra-demo-1/repository", "greet people by …", "session ended"))
	other := words(picture(" turn 4 Nov 22 23:59 12s +1 −1", "0000000000 → 1111111111", "/var/y/umbra-demo-27/repository", "greet people by name…", "session ended", " (late)"))
	if !slices.Equal(one, other) {
		t.Errorf("%q and %q are told apart", one, other)
	}
	if slices.Equal(one, words(picture("session ended"))) || slices.Equal(words(picture("+1 −1")), words(picture("+1 −2"))) {
		t.Error("what differs is not told apart")
	}
}
