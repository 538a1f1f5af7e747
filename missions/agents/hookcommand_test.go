package agents

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestHookCommandForbidsNothing runs the command line of the hooks with a program
// that answers, with one that dies as a Go program does that gets no memory, and
// with one that is there no more. Copilot CLI denies each tool for any code but 0.
func TestHookCommandForbidsNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		program, out string
		code         int
	}{
		"answers": {"echo \"$@\"", "hook claude\n", 0},
		"dies":    {"exit 2", "", 0},
		"gone":    {"", "", 0},
	} {
		program := filepath.Join(dir, name)
		if c.program != "" {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.program+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command("sh", "-c", HookCommand(program, "claude")).Output()
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.code || string(out) != c.out {
			t.Errorf("%s: code %d, %q", name, code, out)
		}
	}
	if HookCommand("", "claude") != "" {
		t.Error("hooks of a program that is not known")
	}
}
