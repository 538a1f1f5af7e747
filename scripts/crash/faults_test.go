//go:build linux && amd64

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
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
	if h.injected() < o.faults/2 || h.Errors == 0 || h.Full < 1 {
		t.Errorf("%d calls failed, %d commands with an error, and everything was looked at %d times", h.injected(), h.Errors, h.Full)
	}
	if err := removeAll(dir); err != nil { // what is read-only too
		t.Error(err)
	}
}

// TestPlain: an error that does not say why is wrong, and so is a panic.
func TestPlain(t *testing.T) {
	f := faults.Fault{Spot: faults.Spot{Kind: "write", Place: ""}, Nth: 1, Err: syscall.ENOSPC}
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
		if err := plainFault(f, c.of); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.of, err)
		}
	}
	f.Err = faults.HalfDone
	if err := plainFault(f, fate{code: 1, said: "short write"}); err == nil {
		t.Error("a short write made a command fail, and that was right")
	}
}

// TestChosen: of each operation and kind of call some, the same ones whatever other
// calls are made; or all.
func TestChosen(t *testing.T) {
	h := newHarness(options{seed: 1, faults: 6}, nil, nil)
	h.keepFailing()
	h.calls["snapshot"] = map[faults.Spot]int{
		{Kind: "read", Place: ""}: 100, {Kind: "read", Place: "home/x"}: 50, {Kind: "read", Place: "home/y"}: 50,
		{Kind: "sync", Place: ""}: 4, {Kind: "sync", Place: "home/x"}: 1, {Kind: "sync", Place: "home/y"}: 3, {Kind: "connect", Place: ""}: 7,
	}
	if all := faults.Of(h.calls["snapshot"]); len(all) != 108 || all[0] != (faults.Fault{Spot: faults.Spot{Kind: "read", Place: ""}, Nth: 1, Err: syscall.EIO}) {
		t.Errorf("%d faults, the first %s", len(all), all[0])
	}
	count, were := map[string]int{}, h.chosen()
	for _, one := range were {
		count[one.fault.Kind]++
	}
	if count["read"] != 2 || count["sync"] != 4 {
		t.Errorf("chosen %v", count)
	}
	h.calls["snapshot"][faults.Spot{Kind: "read", Place: "home/x"}]++
	h.calls["snapshot"][faults.Spot{Kind: "write", Place: "home/z"}] = 1
	h.faults += 3
	kept := 0
	for _, one := range h.chosen() {
		if slices.ContainsFunc(were, func(was trial) bool { return was.fault == one.fault }) {
			kept++
		}
	}
	if kept != len(were) {
		t.Errorf("with other calls, %d of %d are chosen again", kept, len(were))
	}
	h.faults = 100
	if some := h.chosen(); len(some) != 6+5+3 {
		t.Errorf("%d differ", len(some))
	}
	h.faults = 0
	if all := h.chosen(); len(all) != 108 {
		t.Errorf("%d of 108 are chosen", len(all))
	}
}

// TestLeft: what a command lists as left is read, and nothing else.
func TestLeft(t *testing.T) {
	f := fate{
		out:  "restore to 12345678: 3 changed, 0 created, 0 deleted\n\nleft as they are:\n  a/b   unreadable\n  c     it is\nto take it back: umbra undo",
		said: "forked from x\n  one in /w\n\ndid not come along, or not as it was:\n  ignored  unreadable\nnote: that",
	}
	if left := f.left(); !slices.Equal(left, []string{"a/b", "c", "ignored"}) {
		t.Errorf("left %q", left)
	}
	m := manifest{"a": "0", "a/b": "1", "c": "2", "c/d": "3", "cd": "4"}
	if rest, only := m.without(f.left()), m.only(f.left()); len(rest) != 1 || rest["cd"] != "4" || len(only) != 4 || len(m) != 5 {
		t.Errorf("without it %v, it alone %v", rest, only)
	}
	old, to := manifest{"d/a": "0", "d/b": "0", "d/c": "1", "e": "1"}, manifest{"d/a": "1", "d/b": "1", "d/c": "1", "e": "1"}
	for count, want := range map[int]int{1: 0, 2: 2, 9: 2} {
		f.out = fmt.Sprintf("left as they are:\n  d/  %d paths in it: read-only\n", count)
		f.said = ""
		if got := old.unfolded(f.leftPaths(), to); len(got) != want {
			t.Errorf("two differ, %d are said to be left: %q", count, got)
		}
	}
}

// TestQuick: half of a restore is wrong, and so is one that was told of as done and
// was not; what was said to be left is as it was.
func TestQuick(t *testing.T) {
	dir := t.TempDir()
	w := &world{work: dir}
	place := func(a, b string) {
		t.Helper()
		for name, text := range map[string]string{"a": a, "b": b} {
			if err := w.write(filepath.Join(dir, name), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func() manifest {
		t.Helper()
		held, _, err := survey(dir)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	place("new", "new")
	s := scene{new: read()}
	place("old", "old")
	s.old = read()
	const said = "left as they are:\n  b  unreadable"
	for _, c := range []struct {
		a, b string
		f    fate
		ok   bool
	}{
		{"old", "old", fate{code: 1}, true},
		{"old", "old", fate{killed: true}, true},
		{"old", "old", fate{}, false},
		{"new", "new", fate{}, true},
		{"new", "old", fate{}, false},
		{"new", "old", fate{code: partlyCode, out: said}, true},
		{"new", "else", fate{code: partlyCode, out: said}, false},
	} {
		place(c.a, c.b)
		if err := w.quick(s, c.f); (err == nil) != c.ok {
			t.Errorf("%s, %s, %s: %v", c.a, c.b, c.f, err)
		}
	}
}

// TestNoRoom does what writes, on small disks without room.
func TestNoRoom(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"--faults", "1", "--dir", dir, "--seed", "4"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h, err := built(t.Context(), o, "../..", &out)
	if err != nil {
		t.Fatal(err)
	}
	some := 12
	if testing.Short() {
		some = 4
	}
	err = h.starve(t.Context(), some, newRand(o.seed))
	if errors.Is(err, errNoRoom) {
		t.Skipf("a small disk needs a privileged user: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if h.Cramped != 3*some || h.Refused == 0 {
		t.Errorf("%d commands had no room, %d ended with an error", h.Cramped, h.Refused)
	}
	if err := removeAll(dir); err != nil {
		t.Error(err)
	}
}

// TestRoomless: where no small disk can be had, the result says so.
func TestRoomless(t *testing.T) {
	h := newHarness(options{failing: true}, nil, nil)
	h.Spared, h.Failed["snapshot"] = 3, map[string]int{"read": 4}
	if h.tried() != 7 {
		t.Errorf("%d calls of 7 count", h.tried())
	}
	h.undisked = fmt.Errorf("%w: operation not permitted", errNoRoom)
	if text := h.faultSummary(time.Now()); !strings.Contains(text, "mount a small disk: operation not permitted") || strings.Contains(text, "%!") {
		t.Errorf("the summary is\n%s", text)
	}
}

// TestTake: as much is left as is said, and all is given back.
func TestTake(t *testing.T) {
	for _, r := range []room{{"home", "bytes", 3 << 12}, {"home", "inodes", 2}, {"home", "read-only", 0}} {
		dir := t.TempDir()
		w := &world{dir: dir, work: filepath.Join(dir, "work")}
		disk := filepath.Join(dir, disks["home"])
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := smallDisk(disk); err != nil {
			t.Skipf("a small disk needs a privileged user: %v", err)
		}
		write := func(n int) (err error) {
			for i := range n {
				text := ""
				if r.kind == "bytes" {
					text = strings.Repeat("x", 1<<12)
				}
				err = errors.Join(err, os.WriteFile(filepath.Join(disk, fmt.Sprint(i)), []byte(text), 0o600))
			}
			return err
		}
		give, err := w.take(r)
		if err != nil {
			t.Fatalf("%s: %v", r, err)
		}
		if r.kind != "read-only" {
			if err := write(max(r.left>>12, r.left&0xfff)); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
		if err := write(20); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", r, err)
		}
		if err := errors.Join(give(), write(20), dropDisk(disk)); err != nil {
			t.Errorf("%s: given back: %v", r, err)
		}
	}
}
