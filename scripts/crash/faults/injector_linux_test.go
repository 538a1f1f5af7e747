//go:build linux && amd64

package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// whole takes a path for its place.
func whole(rel string) string { return rel }

// TestInject: the call that is to fail does, of a child too, no other does, and
// what lies elsewhere is not counted.
func TestInject(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		said  string
		holds string
	}{
		{Counts, "", "one\ntwo\n"},
		{Fault{Spot: Spot{Kind: "write"}, Nth: 1, Err: syscall.ENOSPC}, "No space left on device", "two\n"},
		{Fault{Spot: Spot{Kind: "write"}, Nth: 2, Err: syscall.EIO}, "I/O error", "one\n"},
		{Fault{Spot: Spot{Kind: "open"}, Nth: 1, Err: syscall.EMFILE}, "Too many open files", "two\n"},
		{Fault{Spot: Spot{Kind: "write"}, Nth: 3, Err: syscall.EIO}, "", "one\ntwo\n"},
	} {
		dir := t.TempDir()
		var said bytes.Buffer
		cmd := exec.Command("sh", "-c", `/bin/echo one >>"$1/a"; echo two >>"$1/a"; echo there >>"$2/b"`, "sh", dir, t.TempDir())
		cmd.Env, cmd.Stderr = append(os.Environ(), "LC_ALL=C"), &said
		in, err := Inject(cmd, dir, c.fault, whole, false)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the last command of the shell's decides
		if err := in.End(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "a"))
		if err != nil || string(text) != c.holds || in.Hit != (c.said != "") || !strings.Contains(strings.ToLower(said.String()), strings.ToLower(c.said)) {
			t.Errorf("%s: hit %v of %v, holds %q, said %s (%v)", c.fault, in.Hit, in.Calls, text, &said, err)
		}
		if c.fault == Counts && (in.Calls[Spot{"write", ""}] != 2 || in.Calls[Spot{"open", ""}] != 2) {
			t.Errorf("counted %v", in.Calls)
		}
	}
}

// TestHalf: of a write that is to be short, half is done, and whoever asked for it
// hears how much.
func TestHalf(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	cmd := exec.Command("dd", "if=/dev/zero", "of="+name, "bs=1000", "count=1", "status=none")
	in, err := Inject(cmd, dir, Fault{Spot{"write", ""}, 1, HalfDone}, whole, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := in.End(); err != nil || !in.Hit || in.Calls[Spot{"write", ""}] != 2 {
		t.Errorf("hit %v of %v, %v", in.Hit, in.Calls, err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() != 1000 {
		t.Errorf("%v, %v", info, err)
	}
}
