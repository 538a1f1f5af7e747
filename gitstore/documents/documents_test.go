package documents

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
)

func TestSkippedDocument(t *testing.T) {
	list := []Skipped{
		{Path: "z", Reason: ReasonSecret, Size: 3},
		{Path: "a/\xffb\n", Reason: ReasonSize, Size: 1 << 40, Mtime: 1764171815123456789},
		{Path: "dir", Reason: ReasonUnreadable},
		{Path: "<&>", Reason: ReasonReserved},
	}
	doc := SkippedDocument(list)
	set, err := ParseSkipped(doc)
	if err != nil {
		t.Fatal(err)
	}
	if again := SkippedDocument(set.All()); !bytes.Equal(again, doc) {
		t.Errorf("the document is not stable:\n%s\n%s", doc, again)
	}
	for path, want := range map[string]Reason{
		"z": ReasonSecret, "a/\xffb\n": ReasonSize, "dir": ReasonUnreadable, "dir/x/y": ReasonUnreadable,
		"dirx": "", "a": "", "zz": "", "a/\xffb\n/c": ReasonSize, "": "",
	} {
		got, ok := set.Covers(path)
		if ok != (want != "") || got.Reason != want {
			t.Errorf("Covers(%q) = %v, %v; want %q", path, got, ok, want)
		}
	}
}

func TestModesDocument(t *testing.T) {
	m := &Modes{
		File: KnownPerm(0), Directory: KnownPerm(0o2755),
		Unusual: map[string]uint32{"a": 0o600, "b\xfe": 0o444, "c": 0},
		Empty:   []string{"e", "f/g"},
		Links:   [][]string{{"x", "y"}},
	}
	back, err := ParseModes(m.Document())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, m) {
		t.Errorf("got %+v, want %+v", back, m)
	}
	if got := back.Perm("a", gitstore.ModeFile); got != KnownPerm(0o600) {
		t.Errorf("Perm(a) = %v", got)
	}
	if got := back.Perm("q", gitstore.ModeDir); got != KnownPerm(0o2755) {
		t.Errorf("Perm(q) = %v", got)
	}
	if bits, ok := back.Perm("q", gitstore.ModeFile).Known(); !ok || bits != 0 {
		t.Errorf("a file of mode 000: %o, %v", bits, ok)
	}
	if got := back.Perm("q", gitstore.ModeExec); got != (Perm{}) {
		t.Errorf("of no program, Perm(q) = %v", got)
	}
}

func TestDocumentsThatDoNotParse(t *testing.T) {
	for _, data := range []string{"", "{", "[]", "null", "{}", `{"version":2}`, `{"version":1,"skipped":7,"unusual":7,"secrets":7}`} {
		var problem *Error
		if _, err := ParseSkipped([]byte(data)); !errors.As(err, &problem) {
			t.Errorf("ParseSkipped(%s): %v", data, err)
		}
		if _, err := ParseModes([]byte(data)); !errors.As(err, &problem) {
			t.Errorf("ParseModes(%s): %v", data, err)
		}
		if _, err := ParseRules([]byte(data), nil); !errors.As(err, &problem) {
			t.Errorf("ParseRules(%s): %v", data, err)
		}
	}
}

func TestEligible(t *testing.T) {
	tree := map[string]string{
		".gitignore":     "*.o\nbuild/\n/only-root\n",
		"sub/.gitignore": "!keep.o\n",
		".umbraignore":   "!dev.sqlite\nbig/\n",
		"nest/.a":        "",
	}
	doc := (&RulesDocument{
		Version: 1, SizeCap: 10, Secrets: secretnames.Defaults(), Excludes: "*.swp\ndev.sqlite\n",
		Nested:  []NestedExclude{{Path: "nest", Exclude: "mine\n"}},
		Hidden:  []HiddenFile{{Path: "hid/.gitignore", Content: "*\n"}},
		Tracked: []text{"build/tracked", ".env", "big/tracked"},
		Above:   []Rung{{Gitignore: "from-top\n"}, {Name: "mid", Gitignore: "mid-rule\n"}}, Name: "ws",
	}).Document()
	r, err := ParseRules(doc, func(path string) ([]byte, bool, error) {
		content, ok := tree[path]
		return []byte(content), ok, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file := gitstore.ModeFile
	for _, c := range []struct {
		path string
		mode gitstore.Mode
		size int64
		want Reason
	}{
		{"a.c", file, 10, ""},
		{"a.c", file, 11, ReasonSize},
		{"a.o", file, 1, ReasonIgnored},
		{"sub/a.o", file, 1, ReasonIgnored},
		{"sub/keep.o", file, 1, ""},
		{"build/x", file, 1, ReasonIgnored},
		{"build/tracked", file, 1, ""},
		{"big/tracked", file, 1, ReasonIgnored},
		{"build", gitstore.ModeDir, 0, ReasonIgnored},
		{"build", file, 1, ""},
		{"dev.sqlite", file, 1, ""},
		{"x.swp", file, 1, ReasonIgnored},
		{"from-top", file, 1, ReasonIgnored},
		{"mid-rule", file, 1, ReasonIgnored},
		{"only-root", file, 1, ReasonIgnored},
		{"sub/only-root", file, 1, ""},
		{"nest/a.o", file, 1, ""},
		{"nest/mine", file, 1, ReasonIgnored},
		{"nest/x.swp", file, 1, ReasonIgnored},
		{"hid/x", file, 1, ReasonIgnored},
		{".env", file, 1, ""},
		{"sub/.env", file, 1, ReasonSecret},
		{"sub/.env.example", file, 1, ""},
		{"sub/.ENV.local", file, 1, ReasonSecret},
		{"sub/.env", gitstore.ModeSymlink, 1, ""},
		{"sub/.git/config", file, 1, ReasonReserved},
		{"sub/GIT~1/config", file, 1, ReasonReserved},
		{"a/.umbra-01234567-89ab-cdef-0123-456789abcdef-3", file, 1, ReasonReserved},
	} {
		ok, reason, err := r.Eligible(c.path, Candidate{Mode: c.mode, Size: c.size})
		if err != nil || reason != c.want || ok != (c.want == "") {
			t.Errorf("Eligible(%q, %v, %d) = %v, %q, %v; want %q", c.path, c.mode, c.size, ok, reason, err, c.want)
		}
	}
}

// TestEligibleBelowIgnored: what lies below an ignored directory is not asked of one by one,
// but where something in it may be captured.
func TestEligibleBelowIgnored(t *testing.T) {
	t.Parallel()
	doc := (&RulesDocument{Version: 1, SizeCap: 10, Secrets: []string{}, Tracked: []text{"in.d/t/a"}, Held: []text{"held/a"}}).Document()
	read := 0
	r, err := ParseRules(doc, func(path string) ([]byte, bool, error) {
		read++
		switch path {
		case ".gitignore":
			return []byte("modules\nin.d\nheld\nkept\n"), true, nil
		case ".umbraignore":
			return []byte("!kept/a\n"), true, nil
		}
		return nil, false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	read = 0
	for _, c := range []struct {
		path     string
		mode     gitstore.Mode
		eligible bool
		reads    bool
	}{
		{"modules", gitstore.ModeDir, false, false},
		{"modules/a", gitstore.ModeFile, false, false},
		{"modules/b", gitstore.ModeDir, false, false},
		{"modules/b/a", gitstore.ModeFile, false, false},
		{"modules2", gitstore.ModeFile, true, false},
		{"in.d", gitstore.ModeDir, false, false},
		{"in.d/t/a", gitstore.ModeFile, true, true},
		{"in.d/t/b", gitstore.ModeFile, false, false},
		{"held", gitstore.ModeDir, false, false},
		{"held/a", gitstore.ModeFile, true, false},
		{"held/b", gitstore.ModeFile, false, true},
		{"kept", gitstore.ModeDir, false, false},
		{"kept/a", gitstore.ModeFile, true, true},
		{"modules/c/d", gitstore.ModeDir, false, false},
	} {
		ok, _, err := r.Eligible(c.path, Candidate{Mode: c.mode})
		if err != nil || ok != c.eligible || read > 0 != c.reads {
			t.Errorf("Eligible(%q) = %v, %v, and read %d ignore files", c.path, ok, err, read)
		}
		read = 0
	}
}

func TestEligibleSaysWhenIgnoreFilesCannotBeRead(t *testing.T) {
	broken := errors.New("object is damaged")
	doc := (&RulesDocument{Version: 1, SizeCap: 10, Secrets: []string{}}).Document()
	r, err := ParseRules(doc, func(path string) ([]byte, bool, error) {
		if path == "sub/.gitignore" {
			return nil, false, broken
		}
		return nil, false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Eligible("a", Candidate{Mode: gitstore.ModeFile}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Eligible("sub/a", Candidate{Mode: gitstore.ModeFile}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of reading", err)
	}
}
