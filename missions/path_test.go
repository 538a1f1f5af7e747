package missions

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[Path]string{
		"a.txt": "a.txt", "café": "café", `b\c`: `b\c`, `say "hi"`: `say "hi"`, "": "", `"`: `"`, `"half`: `"half`,
		"caf\xe9.txt": `"caf\xe9.txt"`, `"a"`: `"\"a\""`, "\"\xe9\"": `"\"\xe9\""`,
	} {
		if got := path.String(); got != want {
			t.Errorf("%q is written %s, want %s", string(path), got, want)
		}
	}
}

// FuzzPath: each path comes out of a document as it went in, and no two are written alike.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"", "a", "caf\xe9", `"a"`, `"\xe9"`, "\"", "`a`", `'a'`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		text := Path(path).String()
		if got := ParsePath(text); got != Path(path) || !utf8.ValidString(text) {
			t.Errorf("%q is written %q, and read %q", path, text, got)
		}
		raw, err := json.Marshal(struct{ Path Path }{Path(path)})
		if err != nil {
			t.Fatal(err)
		}
		var back struct{ Path Path }
		if err := json.Unmarshal(raw, &back); err != nil || back.Path != Path(path) {
			t.Errorf("%q is in JSON %s, and read %q, %v", path, raw, back.Path, err)
		}
	})
}
