//go:build linux && amd64

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFaults fails some file-system calls, of each operation and each kind.
func TestFaults(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--faults", "60", "--dir", dir, "--seed", "3"}
	if testing.Short() {
		args[1] = "20"
	}
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h, err := crash(t.Context(), o, "../..", &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if text := h.faultSummary(time.Now()); !strings.Contains(text, "| snapshot |") || strings.Contains(text, "%!") {
		t.Errorf("the summary is\n%s", text)
	}
	if h.injected() < o.faults/2 || h.errors == 0 || h.full < 1 {
		t.Errorf("%d calls failed, %d commands with an error, and everything was looked at %d times", h.injected(), h.errors, h.full)
	}
	if err := removeAll(dir); err != nil { // what is read-only too
		t.Error(err)
	}
}

// TestInject: the call that is to fail does, of a child too, no other does, and
// what lies elsewhere is not counted.
func TestInject(t *testing.T) {
	for _, c := range []struct {
		fault fault
		said  string
		holds string
	}{
		{fault{call: counting}, "", "one\ntwo\n"},
		{fault{call: "write", nth: 1, err: syscall.ENOSPC}, "No space left on device", "two\n"},
		{fault{call: "write", nth: 2, err: syscall.EIO}, "I/O error", "one\n"},
		{fault{call: "open", nth: 1, err: syscall.EMFILE}, "Too many open files", "two\n"},
		{fault{call: "write", nth: 3, err: syscall.EIO}, "", "one\ntwo\n"},
	} {
		dir := t.TempDir()
		var said bytes.Buffer
		cmd := exec.Command("sh", "-c", `/bin/echo one >>"$1/a"; echo two >>"$1/a"; echo there >>"$2/b"`, "sh", dir, t.TempDir())
		cmd.Env, cmd.Stderr = append(os.Environ(), "LC_ALL=C"), &said
		in, err := inject(cmd, dir, c.fault)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the last command of the shell's decides
		if err := in.end(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "a"))
		if err != nil || string(text) != c.holds || in.hit != (c.said != "") || !strings.Contains(strings.ToLower(said.String()), strings.ToLower(c.said)) {
			t.Errorf("%s: hit %v of %v, holds %q, said %s (%v)", c.fault, in.hit, in.calls, text, &said, err)
		}
		if c.fault.call == counting && (in.calls["write"] != 2 || in.calls["open"] != 2) {
			t.Errorf("counted %v", in.calls)
		}
	}
}

// TestHalf: of a write that is to be short, half is done, and whoever asked for it
// hears how much.
func TestHalf(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	cmd := exec.Command("dd", "if=/dev/zero", "of="+name, "bs=1000", "count=1", "status=none")
	in, err := inject(cmd, dir, fault{"write", 1, halfDone})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := in.end(); err != nil || !in.hit || in.calls["write"] != 2 {
		t.Errorf("hit %v of %v, %v", in.hit, in.calls, err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() != 1000 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestPlain: an error that does not say why is wrong, and so is a panic.
func TestPlain(t *testing.T) {
	f := fault{"write", 1, syscall.ENOSPC}
	for _, c := range []struct {
		of fate
		ok bool
	}{
		{fate{}, true},
		{fate{code: 1, said: "umbra: write x: No space left on device"}, true},
		{fate{code: 1, said: "umbra: it did not work"}, false},
		{fate{code: 1, said: "umbra: fork one: git read-tree 1: fatal: loose object 2 is corrupt"}, true},
		{fate{code: 1, said: "umbra: fork one: fatal: no"}, false},
		{fate{code: 1}, false},
		{fate{code: 2, said: "panic: no space left on device"}, false},
	} {
		if err := f.plain(c.of); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.of, err)
		}
	}
	f.err = halfDone
	if err := f.plain(fate{code: 1, said: "short write"}); err == nil {
		t.Error("a short write made a command fail, and that was right")
	}
}

// TestChosen: of each operation and kind of call some, in a given order; or all.
func TestChosen(t *testing.T) {
	h := newHarness(options{seed: 1, faults: 8}, nil, nil)
	h.keepFailing()
	h.calls["snapshot"] = map[string]int{"read": 100, "sync": 3, "connect": 7}
	if all := faultsOf(h.calls["snapshot"]); len(all) != 106 || all[0] != (fault{"read", 1, syscall.EIO}) {
		t.Errorf("%d faults, the first %s", len(all), all[0])
	}
	count := map[string]int{}
	for _, one := range h.chosen(newRand(h.seed)) {
		count[one.fault.call]++
	}
	if count["read"]+count["sync"] != 8 || count["read"] < 2 || count["sync"] < 4 {
		t.Errorf("chosen %v", count)
	}
	h.faults = 0
	if all := h.chosen(newRand(h.seed)); len(all) != 106 {
		t.Errorf("%d of 106 are chosen", len(all))
	}
}
