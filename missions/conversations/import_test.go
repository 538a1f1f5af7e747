package conversations

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// TestRunImport: the agent's import counts only if it says that it is done; it
// sees nothing of the environment but what it needs.
func TestRunImport(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SECRET_OF_THE_DAEMON", "1")
	for name, c := range map[string]struct{ script, problem string }{
		"done":         {`[ "$HOME $MINE $SECRET_OF_THE_DAEMON" = "/home/me yes " ] && echo "Imported: $1"`, ""},
		"silent":       {"exit 0", "was not taken"},
		"fails":        {"printf '\\033[91mno\\n  such \\033[0mkey'; exit 3", "no such key"},
		"fails loudly": {"echo Imported: s; exit 1", "exit status 1"},
	} {
		program := filepath.Join(dir, "agent")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		i := sessions.Import{Argv: []string{"agent", "s"}, Dir: dir, Env: map[string]string{"MINE": "yes"}, Done: "Imported: s"}
		caller := missions.Caller{Env: map[string]string{"PATH": "relative" + string(os.PathListSeparator) + dir + string(os.PathListSeparator) + "/usr/bin:/bin"}}
		err := runImportCommand(t.Context(), i, "/home/me", caller)
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "\x1b")) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
	}
	here := sessions.Import{Argv: []string{"agent"}, Dir: dir, Done: "x"}
	for _, path := range []string{":/usr/bin:/bin", ".:/usr/bin:/bin", "/usr/bin:/bin:", "../" + filepath.Base(dir)} {
		if err := runImportCommand(t.Context(), here, "/home/me", missions.Caller{Env: map[string]string{"PATH": path}}); err == nil || !strings.Contains(err.Error(), "not on PATH") {
			t.Errorf("PATH=%s runs the workspace's: %v", path, err)
		}
	}
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, []byte("#!/bin/sh\necho \"path is $PATH\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	named := sessions.Import{Argv: []string{own}, Dir: dir, Done: "path is /usr/bin:/bin\n"}
	if err := runImportCommand(t.Context(), named, "/home/me", missions.Caller{Env: map[string]string{"PATH": ".:/usr/bin::/bin"}}); err != nil {
		t.Errorf("what the agent itself looks for: %v", err)
	}
	none := sessions.Import{Argv: []string{"no-such-agent"}, Dir: dir}
	if err := runImportCommand(t.Context(), none, "/home/me", missions.Caller{}); err == nil || !strings.Contains(err.Error(), "not on PATH") {
		t.Errorf("without the program: %v", err)
	}
}

// TestRunImportEnds: an import that hangs, with a child that holds its output,
// keeps nobody waiting.
func TestRunImportEnds(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 600 &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := runImportCommand(ctx, sessions.Import{Argv: []string{program}, Done: "x"}, "/home/me", missions.Caller{Env: map[string]string{"PATH": "/usr/bin:/bin"}})
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) || !strings.Contains(err.Error(), "still running") {
		t.Errorf("%v", err)
	}
}

// TestImportAll: of imports that run side by side each is done, whichever fails, and
// what is there for them is taken away.
func TestImportAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ -e \"$1\" ] && [ \"$2\" != bad ] && echo \"imported $2\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var list []sessions.Import
	for _, name := range []string{"one", "bad", "two", "three", "four"} {
		file, mark := filepath.Join(dir, name), filepath.Join(dir, name+".pending")
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		list = append(list, sessions.Import{
			File: sessions.File{Path: file, Mode: 0o600, Write: func(io.Writer) error { return nil }},
			Argv: []string{program, file, name}, Dir: dir, Done: "imported " + name, Mark: mark, Beside: true,
		})
	}
	err := runImports(t.Context(), list, dir, missions.Caller{Env: map[string]string{"PATH": "/usr/bin:/bin"}})
	if !errors.Is(err, ErrSubagentsNotImported) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("%v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || !slices.Equal(left, []string{program, filepath.Join(dir, "bad.pending")}) {
		t.Errorf("left is %q, %v", left, err)
	}
}
