package timeline

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/missions"
)

// opening is a call that can open files, with these variables set.
func opening(t *testing.T, environ ...string) *call.Call {
	t.Helper()
	environ = append([]string{"PATH=" + os.Getenv("PATH")}, environ...)
	c := &call.Call{Env: call.Env{
		Streams: call.Streams{
			Stdin: os.Stdin, Stdout: io.Discard, Stderr: io.Discard,
			IsTerminal: func(any) bool { return true }, Width: func() int { return 80 }, Height: func() int { return 24 },
		},
		Notify: func(chan<- os.Signal, ...os.Signal) {}, Unnotify: func(chan<- os.Signal) {}, Now: time.Now,
		Environ: func() []string { return environ }, Run: func(cmd *exec.Cmd) error { return cmd.Run() },
		Getenv: func(name string) string { return keeper.ValueOf(environ, name) },
	}}
	c.Begin()
	t.Cleanup(c.ReleaseSignals)
	return c
}

// A file is shown in the pager, which is told to stay where it fits the screen.
func TestPageFile(t *testing.T) {
	t.Parallel()
	shown := filepath.Join(t.TempDir(), "shown")
	c := opening(t, "LESS=FR", `UMBRA_PAGER=(cat; echo "$LESS") >`+shown)
	if note, err := openFile(c, "a.txt", []byte("as it was\n"), false); note != "" || err != nil {
		t.Errorf("%q, %v", note, err)
	}
	if got, _ := os.ReadFile(shown); string(got) != "as it was\nFR -+F\n" {
		t.Errorf("the pager had %q", got)
	}
	c = opening(t, "TERM=xterm", `UMBRA_PAGER=(cat; echo "$LESS") >`+shown)
	c.Color = "auto"
	c.Out = c.Globals.Printer(c.Env, c.Stdout)
	if _, err := openFile(c, "a.go", []byte("package a // \x1b[2J\r\n"), false); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(shown); string(got) != "\x1b[35mpackage\x1b[0m a \x1b[2m// \\x1b[2J\x1b[0m\\r\n -+F -R\n" {
		t.Errorf("the pager had %q", got)
	}
	if _, err := openFile(c, "a.txt", []byte("\x1b[1mraw\n"), false); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(shown); string(got) != "\x1b[1mraw\n -+F\n" {
		t.Errorf("of what is no source the pager had %q", got)
	}
	for pager, want := range map[string]string{"cat": "there is no pager", "/no/such/pager": "page with /no/such/pager", "exit 1": ""} {
		_, err := openFile(opening(t, "UMBRA_PAGER="+pager), "a.txt", []byte("x"), false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || missions.AsError(err).Hint == "") {
			t.Errorf("with the pager %q: %v, want %q", pager, err, want)
		}
	}
}

// The editor has a copy, which stays where it was written to.
func TestEditCopy(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	left := func() []string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(dir, "umbra-file-*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for editor, fails := range map[string]bool{`grep -q "as it was"`: false, "false": true} {
		note, err := openFile(opening(t, "VISUAL="+editor), "sub/a.txt", []byte("as it was\n"), true)
		if note != "" || (err != nil) != fails || len(left()) > 0 {
			t.Errorf("%s: %q, %v, left %q", editor, note, err, left())
		}
	}
	note, err := openFile(opening(t, `VISUAL=sh -c 'rm -f "$1"; echo mine >"$1"' sh`), "sub/a.txt", []byte("as it was\n"), true)
	kept := left()
	if err != nil || len(kept) != 1 || filepath.Base(kept[0]) != "a.txt" || !strings.Contains(note, filepath.Dir(kept[0])) {
		t.Fatalf("%q, %v, left %q", note, err, kept)
	}
	if got, _ := os.ReadFile(kept[0]); string(got) != "mine\n" {
		t.Errorf("what was written is %q", got)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if _, err := openFile(opening(t, "VISUAL=true"), "a", nil, true); err == nil || !strings.Contains(err.Error(), "make a copy to open") {
		t.Errorf("without a directory for copies: %v", err)
	}
}

// TestFromHome: what lies in the home directory is said so, and nothing else.
func TestFromHome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ home, path, want string }{
		{"/home/ada", "/home/ada/code/app", "~/code/app"},
		{"/home/ada", "/home/ada", "~"},
		{"/home/ada", "/home/adalbert/app", "/home/adalbert/app"},
		{"", "/home/ada", "/home/ada"},
	} {
		c := &call.Call{Env: call.Env{Getenv: func(string) string { return tt.home }}}
		if got := fromHome(c, tt.path); got != tt.want {
			t.Errorf("%s of %q is %q, want %q", tt.path, tt.home, got, tt.want)
		}
	}
}
