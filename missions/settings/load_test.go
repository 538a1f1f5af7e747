package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoFile: a FIFO in the file's place keeps nobody waiting, whoever reads or
// changes it.
func TestNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yml")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := FindKey("capture.max_files")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Load(file)
	for what, err := range map[string]error{"load": err, "set": Set(file, key, []string{"5"}, false)} {
		if e := (*Error)(nil); !errors.As(err, &e) || e.Hint == "" || !strings.Contains(err.Error(), file+": not a regular file") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestLoad: errors name file and line.
func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yml")
	if c, err := Load(file); err != nil || c.Capture.MaxFileSize != Default().Capture.MaxFileSize {
		t.Errorf("without a file: %+v %v", c, err)
	}
	for text, want := range map[string]string{
		"capture:\n  max_files: 1\nforks: {}\n": `line 3: unknown key "forks"`,
		"a: 1\nb: 2\n":                          `line 1: unknown key "a"; line 2: unknown key "b"`,
		"hooks:\n  max_wait: soon\n":            `line 2: hooks.max_wait takes a duration such as 10s, not "soon"`,
		"capture:\n  max_files: many\n":         "line 2",
		"capture: [\n":                          "line 1",
		"launch:\n  open: x\n  close: y\n":      `line 3: unknown key "close"`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(file)
		if err == nil || sortOf(err) != "wrong" || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if err := os.WriteFile(file, []byte("# nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

// sortOf is what an error says of its cause: wrong, conflict, or "" of no Error.
func sortOf(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return ""
	case e.Conflict:
		return "conflict"
	}
	return "wrong"
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}
