package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestForbidden(t *testing.T) {
	const m = module + "/"
	for _, c := range []struct {
		from, imp string
		test      bool
		want      string // part of the message; "" if the import is allowed
	}{
		{"", m + "commands", false, ""},
		{"", m + "missions", false, "main imports missions: no such arrow"},
		{"commands", m + "missions", false, ""},
		{"commands", m + "gitstore", false, "commands imports gitstore: no such arrow"},
		{"commands", m + "gitstore", true, "no such arrow"},
		{"commands/flags", "github.com/urfave/cli/v2", false, ""},
		{"missions", "github.com/urfave/cli/v2", false, "commands/flags is its only importing package"},
		{"missions", m + "gitstore/fork", false, "it opens no file"},
		{"missions/forks", m + "gitstore/fork", false, ""},
		{"missions/forks", m + "gitstore/index", false, "no such arrow"},
		{"missions/snapshots", m + "watcher", false, "no such arrow"},
		{"missions/snapshots", m + "missions/restores", false, "no such arrow"},
		{"gitstore", m + "gitstore/capture", false, "no such arrow"},
		{"gitstore", m + "missions", false, "knows nothing of agents"},
		{"gitstore/restore", m + "gitstore/capture", false, ""},
		{"gitstore/capture", m + "gitstore/restore", false, "no such arrow"},
		{"gitstore/lock", m + "gitstore/journal", false, "may import: gitstore/disk"},
		{"gitstore/disk", m + "gitstore/journal", false, "may import: nothing of umbra"},
		{"gitstore/objects", "github.com/go-git/go-git/v5/plumbing/format/packfile", false, ""},
		{"gitstore/shadow", "github.com/go-git/go-git/v5/plumbing/format/config", false, ""},
		{"gitstore/shadow", "github.com/go-git/gcfg", false, ""},
		{"gitstore/capture", "github.com/go-git/go-git/v5", false, "gitstore/objects is its only importing package"},
		{"watcher", m + "missions", true, "it knows no Git"},
		{"watcher", "github.com/fsnotify/fsnotify", false, ""},
		{"watcher/daemon", m + "gitstore/index", false, ""},
		{"sessions/claude", m + "sessions", false, ""},
		{"sessions/claude", m + "sessions/codex", false, "no such arrow"},
		{"sessions/claude", m + "sessions/sessionstest", true, ""},
		{"sessions/claude", m + "sessions/sessionstest", false, "no such arrow"},
		{"missions", m + "sessions/sessionstest", true, "no such arrow"},
		{"sessions", m + "sessions", true, ""},
		{"sessions", m + "scripts/standin", true, ""},
		{"sessions", m + "scripts/standin", false, "scripts is no part of the program"},
		{"scripts/e2e", m + "scripts/standin", false, ""},
		{"scripts/e2e", m + "missions", true, "by its command line"},
		{"missions", "pgregory.net/rapid", true, ""},
		{"missions", "pgregory.net/rapid", false, "test-only"},
		{"missions", "golang.org/x/sys/unix", false, ""},
		{"missions", "example.com/new", false, "name it in scripts/arrows/table.go"},
		{"missions", "encoding/json", false, ""},
	} {
		got := forbidden(c.from, c.imp, c.test)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("forbidden(%q, %q, %v) = %q, want %q", c.from, c.imp, c.test, got, c.want)
		}
	}
}

func TestUnknownPackage(t *testing.T) {
	got := violations([]pkg{{ImportPath: module + "/util"}})
	if len(got) != 1 || !strings.Contains(got[0], "util: the design has no such package") {
		t.Errorf("violations = %q", got)
	}
}

// TestRulesAreAcyclic keeps the table itself from allowing an arrow back.
func TestRulesAreAcyclic(t *testing.T) {
	may := map[string][]string{}
	for _, r := range rules {
		may[r.pkg] = r.may
	}
	done := map[string]bool{}
	var walk func(string, []string)
	walk = func(at string, path []string) {
		if slices.Contains(path, at) {
			t.Fatalf("cycle: %s", strings.Join(append(path, at), " → "))
		}
		if done[at] {
			return
		}
		for _, to := range may[at] {
			if _, ok := may[to]; !ok {
				t.Errorf("%s may import %s, which has no row", at, to)
			}
			walk(to, append(path, at))
		}
		done[at] = true
	}
	for _, r := range rules {
		walk(r.pkg, nil)
	}
}

// TestRunFindsForbiddenImport proves it on a module on disk, through go list,
// with the import hidden behind another system's build tag.
func TestRunFindsForbiddenImport(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":                   "module " + module + "\n\ngo 1.26.0\n",
		"missions/missions.go":     "// Package missions is here to be imported.\npackage missions\n",
		"watcher/watcher.go":       "// Package watcher is here to import.\npackage watcher\n",
		"watcher/other_windows.go": "package watcher\n\nimport _ \"" + module + "/missions\"\n",
	} {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out strings.Builder
	err := run(&out)
	if err == nil || !strings.Contains(out.String(), "watcher imports missions: no such arrow") {
		t.Errorf("run = %v, printed %q", err, out.String())
	}
}
