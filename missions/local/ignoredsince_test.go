package local

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func (b *testBench) undo() {
	b.Helper()
	if _, err := b.local.Undo(b.Context(), missions.UndoRequest{Caller: b.caller()}); err != nil {
		b.Fatal(err)
	}
}

// TestIgnoredSinceIsRestored: an agent writes a .gitignore that ignores all, as some
// tools do in a directory that they make. What the snapshots hold stays in them, can be
// put back, and status and doctor say so.
func TestIgnoredSinceIsRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("src/a", "good\n")
	b.write("src/b", "good\n")
	other := b.twin()
	other.write(".gitignore", "*\n")
	naive := hazards.NewNaive(t, other.dir) // its index is new with each snapshot
	hazards.Shown(t, hazards.H48, naive.Git("ls-tree", "-r", naive.Save()) == "", "with a new index for each snapshot, there is nothing in those after a `.gitignore` of `*`")
	b.mission("work")
	b.write(".gitignore", "*\n")
	b.write("src/a", "bad\n")
	b.write("src/new", "new\n")
	b.snapshot("ignored")
	s, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(s.RuledOut) != 1 || s.RuledOut[0].Files != 2 || s.RuledOut[0].Rule != ".gitignore: *" {
		t.Errorf("status: %+v, %v", s.RuledOut, err)
	}
	d, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.RuledOut) != 1 || len(d.Problems) > 0 {
		t.Errorf("doctor: %+v, %v", d, err)
	}
	done := b.restore("work@start")
	if b.read("src/a") != "good\n" || b.read("src/new") != "new\n" || !strings.Contains(strings.Join(done.Notes, " "), ".gitignore") {
		t.Errorf("src/a is %q, src/new %q: %+v", b.read("src/a"), b.read("src/new"), done)
	}
	b.undo()
	if b.read("src/a") != "bad\n" {
		t.Errorf("taken back, src/a is %q", b.read("src/a"))
	}
	b.healthy()
	hazards.Held(t, hazards.H48, "a new rule takes nothing out of snapshots; what it ignores is put back, and is said")
}

// TestIgnoredSinceTheNewestSnapshot: the rule came after the newest snapshot, which the
// restore takes for its safety snapshot, since no file differs from it.
func TestIgnoredSinceTheNewestSnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("src/a", "good\n")
	b.mission("work")
	b.write("src/a", "bad\n")
	e := b.snapshot("bad")
	b.write(".git/info/exclude", "src/\n")
	done := b.restore("work@start")
	if done.SafetySnapshot != e.ID || !strings.Contains(strings.Join(done.Notes, " "), "info/exclude: src/") {
		t.Errorf("the rule is not said: %+v", done)
	}
	b.healthy()
}

// TestIgnoredAndGoneSinceIsRestored: a file went, and what is at its path now is ignored.
// The restore puts the file back, and keeps for the undo what was there. A preview says the
// same, and no snapshot holds more for it.
func TestIgnoredAndGoneSinceIsRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("out/a", "good\n")
	b.write("out/b", "good\n")
	b.write("key", "good\n")
	b.write("code", "one\n")
	b.mission("work")
	b.remove("out")
	b.remove("key")
	b.write(".gitignore", "out/\n")
	b.write(".umbra.yml", "capture: {secrets: [key]}\n")
	b.write("code", "two\n")
	b.snapshot("gone")
	b.write("out/a", "built\n")
	b.write("out/c", "built\n")
	b.write("key", "new\n")
	request := func(r *missions.RestoreRequest) { r.FilesOnly, r.All = true, true }
	plan := b.restore("work@start", request, func(r *missions.RestoreRequest) { r.Preview = true })
	b.write("code", "three\n")
	b.snapshot("after the preview")
	if b.has("work", "out/a", "built\n") || b.has("work", "key", "new\n") {
		t.Error("a preview has put an ignored file into the next snapshot")
	}
	one := b.restore("work@start", request, func(r *missions.RestoreRequest) { r.Paths = []string{"out/a"} })
	if want := []string{"out/a"}; !slices.Equal(one.Modify, want) || b.has(one.SafetySnapshot, "key", "new\n") {
		t.Errorf("of one path: %+v", one)
	}
	b.undo()
	if b.read("out/a") != "built\n" {
		t.Errorf("taken back, out/a is %q", b.read("out/a"))
	}
	b.restore("work@start", request, func(r *missions.RestoreRequest) { r.Paths = []string{"out/b"} })
	b.write("out/b", "worse\n")
	b.snapshot("after a file was put back that its rule ignores still")
	if !b.has("work", "out/b", "worse\n") {
		t.Error("a file that was put back is in no later snapshot")
	}
	b.remove("out/b")
	b.snapshot("gone again")
	done := b.restore("work@start", request)
	for path, want := range map[string]string{"out/a": "good\n", "out/b": "good\n", "key": "good\n", "out/c": "built\n"} {
		if b.read(path) != want {
			t.Errorf("%s is %q", path, b.read(path))
		}
	}
	for what, list := range map[string][2][]string{"modified": {plan.Modify, done.Modify}, "made": {plan.Create, done.Create}} {
		if !slices.Equal(list[0], list[1]) {
			t.Errorf("%s: the preview says %q, the restore %q", what, list[0], list[1])
		}
	}
	b.undo()
	if b.read("out/a") != "built\n" || b.read("key") != "new\n" || b.read("out/c") != "built\n" || b.exists("out/b") {
		t.Errorf("taken back: out/a %q, key %q", b.read("out/a"), b.read("key"))
	}
	b.healthy()
}

// TestRestoreToBeforeTheRules: what is ignored now stays where it is and out of all
// snapshots when a restore, or an undo, takes the rules away; also for a process that
// knows no more than the store, and until it is gone.
func TestRestoreToBeforeTheRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("code", "one\n")
	b.mission("work")
	b.write(".gitignore", "modules/\n*.db\n")
	b.write(".umbra.yml", "capture: {secrets: [token]}\n")
	b.write("modules/p/a.js", "js\n")
	b.write("modules/p/b.js", "js\n")
	b.write("data/dev.db", "private\n")
	b.write("token", "private\n")
	b.snapshot("with rules")
	there := func(when string, held bool) {
		t.Helper()
		if b.read("modules/p/a.js") != "js\n" || b.read("data/dev.db") != "private\n" || b.read("token") != "private\n" {
			t.Errorf("%s: what was ignored is gone", when)
		}
		for path, text := range map[string]string{"modules/p/a.js": "js\n", "data/dev.db": "private\n", "token": "private\n"} {
			if b.has("work", path, text) != held {
				t.Errorf("%s: the snapshot holds %s: %t", when, path, !held)
			}
		}
	}
	done := b.restore("work@start")
	var kept []string
	for _, k := range done.Kept {
		kept = append(kept, k.Path)
	}
	if want := []string{"data/dev.db", "modules", "token"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q", kept)
	}
	there("restored", false)
	b.write("code", "two\n")
	b.write("data/dev.db", "private\n")
	b.write("new.db", "made since\n")
	b.snapshot("after")
	there("later", false)
	if !b.has("work", "new.db", "made since\n") {
		t.Error("what was made since is in no snapshot")
	}
	b.write("modules/p/made.since", "js\n")
	said := missions.WithheldPaths{Mission: "work", Count: 3, Paths: []string{"data/dev.db", "modules", "token"}}
	if e := b.snapshot("in an ignored directory"); !slices.Contains(e.Notes, said.Sentence()) {
		t.Errorf("the snapshot says nothing of modules: %q", e.Notes)
	}
	s, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || !reflect.DeepEqual(s.Withheld, []missions.WithheldPaths{said}) {
		t.Errorf("status: %+v, %v", s.Withheld, err)
	}
	d, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || !reflect.DeepEqual(d.Withheld, s.Withheld) {
		t.Errorf("doctor: %+v, %v", d.Withheld, err)
	}
	b.restore("work@start")
	there("restored again", false)
	b = b.again()
	b.write("code", "three\n")
	b.snapshot("without a cache")
	there("without a cache", false)
	b.restore("work~1")
	there("restored without a cache", false)

	b.write(".gitignore", "!modules/\n!*.db\n")
	b.remove("token")
	b.snapshot("named by rules")
	b.write("token", "private\n")
	b.snapshot("made anew")
	there("named by rules", true)
	b.healthy()
}

// TestUndoToBeforeTheRules is that of an undo.
func TestUndoToBeforeTheRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".gitignore", "*.db\n")
	b.write("code", "one\n")
	b.mission("work")
	b.remove(".gitignore")
	b.snapshot("without rules")
	b.restore("work@start")
	b.write("dev.db", "private\n")
	b.undo()
	if b.exists(".gitignore") || b.read("dev.db") != "private\n" || b.has("work", "dev.db", "private\n") {
		t.Errorf(".gitignore is there: %t, dev.db is %q", b.exists(".gitignore"), b.read("dev.db"))
	}
	b.healthy()
}

// TestForkToBeforeTheRules: what is ignored now comes along with a fork, and stays out of
// its snapshots: of a fork of the moment before the rules, and of one of now, after a
// restore to it.
func TestForkToBeforeTheRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("code", "one\n")
	b.write("half/code", "one\n")
	b.mission("work")
	b.write(".gitignore", "modules/\n*.db\nhalf/*.tmp\n")
	b.write("modules/p/a.js", "js\n")
	b.write("half/dev.db", "private\n")
	b.write("half/a.tmp", "tmp\n")
	b.snapshot("with rules")
	forked := func(moment, name string) {
		t.Helper()
		r, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: moment, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		f := *b
		f.dir = r.Missions[0].Workspace
		f.write("half/new", "new\n")
		f.write("new.db", "new\n")
		f.snapshot("of the fork")
		for path, text := range map[string]string{"modules/p/a.js": "js\n", "half/dev.db": "private\n", "half/a.tmp": "tmp\n"} {
			if f.read(path) != text || f.has(name, path, text) {
				t.Errorf("%s: %s is %q, in a snapshot: %t", name, path, f.read(path), f.has(name, path, text))
			}
		}
		if !f.has(name, "half/new", "new\n") || !f.has(name, "new.db", "new\n") || !f.has(name, "code", "one\n") {
			t.Errorf("%s: what was made in the fork is in no snapshot", name)
		}
	}
	forked("work@start", "past")
	b.restore("work@start")
	forked("work", "now")
	b.healthy()
}

// TestWithheldFromAllMissions: what a restore of one mission keeps out of its snapshots no
// other mission of the workspace captures: not one that is new, nor in a process that
// knows no more than the store. What the other one holds already it keeps.
func TestWithheldFromAllMissions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("code", "one\n")
	b.write("kept/code", "one\n")
	b.mission("one")
	b.write(".gitignore", "*.db\nmodules/\n")
	b.write("dev.db", "private\n")
	b.write("modules/a.js", "js\n")
	b.snapshot("with rules")
	b.restore("one@start")
	private := func(when string, names ...string) {
		t.Helper()
		for _, name := range names {
			b.write("code", when)
			if _, err := b.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: b.caller(), Mission: name}); err != nil {
				t.Fatal(err)
			}
			if b.has(name, "dev.db", "private\n") || b.has(name, "modules/a.js", "js\n") || !b.has(name, "code", when) || !b.has(name, "kept/code", "one\n") {
				t.Errorf("%s: of dev.db, modules and code the wrong ones are in the snapshot of %s", when, name)
			}
		}
	}
	b.mission("two")
	private("by a process that knows", "two", "one")
	b = b.again()
	b.mission("three")
	private("by one that does not", "three", "two", "one")
	b.restore("one@start", func(r *missions.RestoreRequest) { r.Mission, r.All = "one", true })
	if b.read("dev.db") != "private\n" || b.read("modules/a.js") != "js\n" {
		t.Error("a restore of the first mission has taken away what was private")
	}
	b.healthy()
}
