package commands

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// desk is who is told of signals: package signal's part in a test.
type desk struct {
	mu   sync.Mutex
	told map[chan<- os.Signal][]os.Signal
}

func newDesk() *desk { return &desk{told: map[chan<- os.Signal][]os.Signal{}} }

func (d *desk) notify(ch chan<- os.Signal, list ...os.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told[ch] = append(d.told[ch], list...)
}

func (d *desk) unnotify(ch chan<- os.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.told, ch)
}

// send gives a signal to all who are to be told, and reports how many there are:
// without any it ends the process.
func (d *desk) send(sig os.Signal) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ch, list := range d.told {
		if slices.Contains(list, sig) {
			ch <- sig // there is room
			n++
		}
	}
	return n
}

// opening is a call that can open files, with these variables set.
func opening(t *testing.T, d *desk, environ ...string) *call {
	t.Helper()
	environ = append([]string{"PATH=" + os.Getenv("PATH")}, environ...)
	c := &call{Env: Env{
		Stdin: os.Stdin, Stdout: io.Discard, Stderr: io.Discard, Notify: d.notify, Unnotify: d.unnotify,
		IsTerminal: func(any) bool { return true }, Width: func() int { return 80 }, Now: time.Now,
		Environ: func() []string { return environ }, Run: func(cmd *exec.Cmd) error { return cmd.Run() },
		Getenv: func(name string) string { return valueOf(environ, name) },
	}}
	c.ctx, c.signals = listen(c.Env)
	t.Cleanup(c.signals.stop)
	c.out = c.printer(c.Stdout)
	return c
}

// A file is shown in the pager, which is told to stay where it fits the screen.
func TestPageFile(t *testing.T) {
	t.Parallel()
	shown := filepath.Join(t.TempDir(), "shown")
	c := opening(t, newDesk(), "LESS=FR", `UMBRA_PAGER=(cat; echo "$LESS") >`+shown)
	if note, err := c.openFile("a.txt", []byte("as it was\n"), false); note != "" || err != nil {
		t.Errorf("%q, %v", note, err)
	}
	if got, _ := os.ReadFile(shown); string(got) != "as it was\nFR -+F\n" {
		t.Errorf("the pager had %q", got)
	}
	c = opening(t, newDesk(), "TERM=xterm", `UMBRA_PAGER=(cat; echo "$LESS") >`+shown)
	c.Color = "auto"
	c.out = c.printer(c.Stdout)
	if _, err := c.openFile("a.go", []byte("package a // \x1b[2J\r\n"), false); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(shown); string(got) != "\x1b[35mpackage\x1b[0m a \x1b[2m// \\x1b[2J\x1b[0m\\r\n -+F -R\n" {
		t.Errorf("the pager had %q", got)
	}
	if _, err := c.openFile("a.txt", []byte("\x1b[1mraw\n"), false); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(shown); string(got) != "\x1b[1mraw\n -+F\n" {
		t.Errorf("of what is no source the pager had %q", got)
	}
	for pager, want := range map[string]string{"cat": "there is no pager", "/no/such/pager": "page with /no/such/pager", "exit 1": ""} {
		_, err := opening(t, newDesk(), "UMBRA_PAGER="+pager).openFile("a.txt", []byte("x"), false)
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
		note, err := opening(t, newDesk(), "VISUAL="+editor).openFile("sub/a.txt", []byte("as it was\n"), true)
		if note != "" || (err != nil) != fails || len(left()) > 0 {
			t.Errorf("%s: %q, %v, left %q", editor, note, err, left())
		}
	}
	note, err := opening(t, newDesk(), `VISUAL=sh -c 'rm -f "$1"; echo mine >"$1"' sh`).openFile("sub/a.txt", []byte("as it was\n"), true)
	kept := left()
	if err != nil || len(kept) != 1 || filepath.Base(kept[0]) != "a.txt" || !strings.Contains(note, filepath.Dir(kept[0])) {
		t.Fatalf("%q, %v, left %q", note, err, kept)
	}
	if got, _ := os.ReadFile(kept[0]); string(got) != "mine\n" {
		t.Errorf("what was written is %q", got)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if _, err := opening(t, newDesk(), "VISUAL=true").openFile("a", nil, true); err == nil || !strings.Contains(err.Error(), "make a copy to open") {
		t.Errorf("without a directory for copies: %v", err)
	}
}

// What is typed to a program that has the terminal is not this command's, which
// hears all the time: it would end otherwise.
func TestAside(t *testing.T) {
	t.Parallel()
	d := newDesk()
	ctx, signals := listen(Env{Notify: d.notify, Unnotify: d.unnotify})
	defer signals.stop()
	err := signals.aside(func() error {
		if n := d.send(os.Interrupt); n != 1 {
			t.Errorf("a Ctrl-C is heard by %d", n)
		}
		return context.DeadlineExceeded
	})
	if err != context.DeadlineExceeded || ctx.Err() != nil || signals.came() != nil {
		t.Errorf("%v, %v, %v", err, ctx.Err(), signals.came())
	}
	if n := d.send(os.Interrupt); n != 1 {
		t.Errorf("afterwards a Ctrl-C is heard by %d", n)
	}
	select {
	case <-ctx.Done():
	case <-time.After(patience.Of(time.Minute)):
		t.Error("a Ctrl-C afterwards is not heard")
	}
	if signals.came() != syscall.SIGINT {
		t.Errorf("came %v", signals.came())
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
		c := &call{Env: Env{Getenv: func(string) string { return tt.home }}}
		if got := c.fromHome(tt.path); got != tt.want {
			t.Errorf("%s of %q is %q, want %q", tt.path, tt.home, got, tt.want)
		}
	}
}
