package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	long := "// Package long is long.\npackage long\n" + strings.Repeat("\n", maxLines)
	function := "// Package function has a long one.\npackage function\n\nfunc long() {" + strings.Repeat("\n", maxFunc+2) + "}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"good":     {map[string]string{"a/a.go": "// Package a is good.\npackage a\n", "a/b.go": "package a\n", "a/a_test.go": "package a_test\n"}, nil},
		"main":     {map[string]string{"m.go": "// Command m exits.\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n"}, nil},
		"testdata": {map[string]string{"testdata/a.go": "package a\n", ".hidden/b.go": "package b\n"}, nil},
		"comment":  {map[string]string{"a/a.go": "package a\n"}, []string{"a: no package comment"}},
		"tags":     {map[string]string{"a/a.go": "//go:build linux\n\npackage a\n"}, []string{"a: no package comment"}},
		"twice":    {map[string]string{"a/a.go": "// Package a is.\npackage a\n", "a/b.go": "// Package a is.\npackage a\n"}, []string{"more than one package comment: "}},
		"init":     {map[string]string{"a.go": "// Package a is.\npackage a\n\nfunc init() {}\n"}, []string{"a.go:4: init"}},
		"exit":     {map[string]string{"a.go": "// Package a is.\npackage a\n\nimport \"os\"\n\nfunc b() { os.Exit(1) }\n"}, []string{"a.go:6: os.Exit outside main"}},
		"panic":    {map[string]string{"a.go": "// Package a is.\npackage a\n\nfunc b() { panic(1) }\n"}, []string{"a.go:4: panic"}},
		"note":     {map[string]string{"a.go": "// Package a is.\npackage a // " + "TO" + "DO later\n"}, []string{"a.go:2: "}},
		"long":     {map[string]string{"a.go": long}, []string{"a.go: 502 lines"}},
		"function": {map[string]string{"a.go": function}, []string{"a.go:4: long has"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range c.files {
				write(t, filepath.Join(dir, path), text)
			}
			got, err := run(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("run = %q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("run = %q, want %q", got[i], want)
				}
			}
		})
	}
}

func TestRunRefusesWhatDoesNotParse(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.go"), "package\n")
	if got, err := run(dir, nil); err == nil {
		t.Errorf("run = %q, want an error", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
