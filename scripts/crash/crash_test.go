package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
	"github.com/umbra-vcs/umbra/scripts/lab"
)

// TestCrash kills some processes, at each failpoint at least one.
func TestCrash(t *testing.T) {
	dir, err := os.MkdirTemp("", "umbra-kill-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"--kills", "100", "--dir", dir, "--seed", "5"})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		o.kills, o.some = 40, true
	}
	var out bytes.Buffer
	h, err := crash(t.Context(), o, "../..", &out)
	if err != nil {
		t.Fatalf("%s is left as it was: %v\n%s", dir, err, &out)
	}
	if text := h.summary(time.Now()); !strings.Contains(text, "| `restore.exchanged` |") || strings.Contains(text, "%!") {
		t.Errorf("the summary is\n%s", text)
	}
	if h.killed() < o.kills || h.Full < 2 {
		t.Errorf("%d were killed, and everything was looked at %d times", h.killed(), h.Full)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if o.some {
		t.Skipf("%d were killed, and not at each failpoint: without --fast they are", h.killed())
	}
}

// TestUnreached: a failpoint at which nobody was killed is said.
func TestUnreached(t *testing.T) {
	h := newHarness(options{}, nil, map[string]string{"a": "x.go:1", "b": "y.go:2"})
	h.At["a"] = 1
	if err := h.unreached(); err == nil || strings.Contains(err.Error(), "x.go") || !strings.Contains(err.Error(), "b (y.go:2)") {
		t.Errorf("said: %v", err)
	}
	h.At["b"] = 1
	if err := h.unreached(); err != nil {
		t.Error(err)
	}
}

// TestManifests: whatever differs is seen, and what is ignored comes apart.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := (&world{}).write(filepath.Join(dir, name), text); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (manifest, manifest) {
		t.Helper()
		held, kept, err := survey(dir)
		if err != nil {
			t.Fatal(err)
		}
		return held, kept
	}
	write("a", "a\n")
	write("d/run", "run\n")
	write("ignored/x", "x\n")
	write(".git/config", "not looked at\n")
	before, kept := read()
	if len(before) != 2 || before["a"] != "100644 78981922613b2afb6025042ff6bd878ac1994e85" || len(kept) != 1 {
		t.Fatalf("held %v, kept %v", before, kept)
	}
	for _, c := range []struct {
		name   string
		change func() error
	}{
		{"content", func() error { return os.WriteFile(filepath.Join(dir, "a"), []byte("b\n"), 0o644) }},
		{"mode", func() error { return os.Chmod(filepath.Join(dir, "d/run"), 0o755) }},
		{"gone", func() error { return os.Remove(filepath.Join(dir, "d/run")) }},
		{"new", func() error { return os.Symlink("a", filepath.Join(dir, "l")) }},
	} {
		was, _ := read()
		if err := c.change(); err != nil {
			t.Fatal(c.name, err)
		}
		if now, _ := read(); now.differs(was) == "" || was.differs(now) == "" {
			t.Errorf("%s is not seen", c.name)
		}
	}
	if is := listed("100644 blob 78981922613b2afb6025042ff6bd878ac1994e85\ta\x00100755 blob 1\td\n/x\x00"); is["a"] != before["a"] || is["d\n/x"] != "100755 1" {
		t.Errorf("git's list is read as %v", is)
	}
}

// TestRecoverable: what a writer wrote last is found on disk, in the journal and
// in what was published, and missed if it is nowhere.
func TestRecoverable(t *testing.T) {
	dir := t.TempDir()
	w := &world{dir: dir, work: filepath.Join(dir, "work"), umbra: &lab.Umbra{Base: dir}}
	w.mission = lab.Mission{Shadow: filepath.Join(w.work, ".git"), Ref: "refs/agents/1"}
	place := func(name, text string) {
		t.Helper()
		if err := w.write(name, text); err != nil {
			t.Fatal(err)
		}
	}
	place(filepath.Join(w.work, "a"), "published and gone\n")
	if err := w.commit(t.Context(), w.work); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"refs/agents/1", "refs/records/1"} {
		if _, err := w.git(t.Context(), w.work, "update-ref", ref, "main"); err != nil {
			t.Fatal(err)
		}
	}
	place(filepath.Join(w.work, "a"), "x\non disk\n")
	place(filepath.Join(dir, "umbra", "journal", "1", "displaced", "0"), "set aside\n")
	for text, found := range map[string]bool{"on disk\n": true, "set aside\n": true, "and gone\n": true, "nowhere\n": false} {
		if err := w.recoverable(t.Context(), []*writer{{name: "one", last: text}}); (err == nil) != found {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLeftovers: each kind of thing that a process leaves is seen.
func TestLeftovers(t *testing.T) {
	for _, name := range []string{
		"objects/pack/tmp_umbra_pack_1", "objects/ab/tmp_obj_1", ".umbra-tmp-1", "x/.umbra-00000000-0000-4000-8000-000000000001-3",
		"projects/.new-1", "refs/agents/x.lock", "umbra/reflocks/x.1", "umbra/repack/objects-1/x",
		"journal/00000000-0000-4000-8000-000000000001/phases",
	} {
		dir := t.TempDir()
		if err := leftovers(dir); err != nil {
			t.Error(err)
		}
		if err := (&world{}).write(filepath.Join(dir, name), ""); err != nil {
			t.Fatal(err)
		}
		if err := leftovers(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s is not seen: %v", name, err)
		}
	}
	if err := leftovers(filepath.Join(t.TempDir(), "nowhere")); err != nil {
		t.Error(err)
	}
}

// TestEnd: a run that is told to end begins nothing more, and one that is to pause
// goes on when it may.
func TestEnd(t *testing.T) {
	end, pause := make(chan struct{}), filepath.Join(t.TempDir(), "pause")
	h := newHarness(options{kills: 1, end: end, pause: pause}, nil, map[string]string{"a": "x.go:1"})
	if h.rest(t.Context()) || h.over() {
		t.Error("it ends before it is told to")
	}
	if err := os.WriteFile(pause, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rested := make(chan bool)
	go func() { rested <- h.rest(t.Context()) }()
	select {
	case <-rested:
		t.Error("it does not pause")
	default:
	}
	if err := os.Remove(pause); err != nil {
		t.Fatal(err)
	}
	if <-rested {
		t.Error("it ends after a pause")
	}
	if err := os.WriteFile(pause, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	close(end)
	if !h.rest(t.Context()) || !h.over() {
		t.Error("it does not end")
	}
	if err := h.run(t.Context()); err != nil {
		t.Errorf("a run that was ended before it killed anybody: %v", err)
	}
}

// TestTally: a run goes on with the counts of the one before.
func TestTally(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "tally")
	run := func() *harness {
		t.Helper()
		h := newHarness(options{kills: 5, keep: keep}, nil, nil)
		if err := h.goOn(); err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := run()
	first.note("", death{point: "a"}, fate{killed: true}, 0)
	first.note("", death{after: 1}, fate{killed: true}, 0)
	first.failures = append(first.failures, errors.New("wrong"))
	first.noteFault("snapshot", faults.Fault{Spot: faults.Spot{Kind: "read"}}, fate{hit: true})
	if err := first.keepTally(first.began.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	second := run()
	second.note("", death{point: "a"}, fate{killed: true}, 0)
	if second.killed() != 3 || second.At["a"] != 2 || second.injected() != 1 || second.lasted(second.began.Add(time.Hour)) != 2*time.Hour || !strings.Contains(second.mended(), " 1 time ") {
		t.Errorf("two runs together: %+v", second.tally)
	}
	if err := os.WriteFile(keep, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := newHarness(options{keep: keep}, nil, nil).goOn(); err == nil {
		t.Error("a tally that is none is gone on with")
	}
}

// TestPasses: a pass is one of those there were.
func TestPasses(t *testing.T) {
	seen := map[int]int{}
	for r := newRand(1); len(seen) < 5; {
		seen[passOf(r, 5)]++
	}
	for n := range seen {
		if n < 1 || n > 5 {
			t.Errorf("pass %d of 5", n)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"--kills", "0"}, {"--workers", "0"}, {"--only", "nothing"}, {"--nonsense"}} {
		if o, err := parse(args); err == nil {
			t.Errorf("parse(%q) = %+v", args, o)
		}
	}
}
