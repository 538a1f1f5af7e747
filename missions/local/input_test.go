package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestRefusedWorkspaces are refused before anything is written.
func TestRefusedWorkspaces(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H24, "a home directory, what is above it, and the root are refused before anything is written")
	b := newBench(t)
	b.write("file", "x")
	for dir, kind := range map[string]missions.Kind{
		"/": missions.KindConflict, b.user: missions.KindConflict, filepath.Dir(b.user): missions.KindConflict, b.home: missions.KindConflict,
		filepath.Join(b.home, "projects"): missions.KindConflict, "/proc": missions.KindConflict,
		filepath.Join(b.dir, "file"): missions.KindUsage, filepath.Join(b.dir, "none"): missions.KindNotFound,
	} {
		_, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Workspace: dir, Command: []string{"sh"}})
		b.fails(dir, err, kind)
	}
	b.nothingMade()
	for name, r := range map[string]missions.NewMissionRequest{
		"a bad name":       {Name: "No Name"},
		"an unknown agent": {Agent: "nobody"},
		"no command":       {Command: []string{""}},
	} {
		r.Caller = b.caller()
		_, err := b.local.NewMission(context.Background(), r)
		b.fails(name, err, missions.KindUsage)
	}
	b.nothingMade()
}

// nothingMade fails if the home holds a project.
func (b *testBench) nothingMade() {
	b.Helper()
	entries, err := os.ReadDir(filepath.Join(b.home, "projects"))
	if err != nil || len(entries) != 0 {
		b.Errorf("projects: %v %v", entries, err)
	}
}

// TestBudget refuses a tree that is too big, and narrows with .umbra.yml.
func TestBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".umbra.yml", "capture:\n  max_files: 2\n")
	b.write("a.txt", "one\n")
	b.write("b.txt", "two\n")
	request := missions.NewMissionRequest{Caller: b.caller(), Name: "work", Command: []string{"sh"}}
	for name, limits := range map[string]string{"files": "max_files: 2", "bytes": "max_bytes: 30"} {
		b.write(".umbra.yml", "capture:\n  "+limits+"\n")
		if _, err := b.local.NewMission(context.Background(), request); kindOf(err) != missions.KindConflict || !strings.Contains(missions.AsError(err).Hint, "--force") {
			t.Errorf("a tree over the budget of %s: %v, %s", name, err, missions.AsError(err).Hint)
		}
		b.noObjects()
	}
	b.write(".umbra.yml", "capture:\n  max_file_size: 10\n  secrets: ['*.pem2']\n")
	b.write("big.bin", "more than ten bytes")
	b.write("key.pem2", "secret")
	m, err := b.local.NewMission(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: "work"})
	if err != nil || shown.Entry.Skipped != 3 { // .umbra.yml is over its own cap too
		t.Errorf("skipped: %+v %v", shown.Skipped, err)
	}
	status, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(status.LeftOut) != 1 || status.LeftOut[0].Files != 3 || !slices.Contains(status.LeftOut[0].Paths, "key.pem2") {
		t.Errorf("status: %+v %v", status.LeftOut, err)
	}
	for name, text := range map[string]string{
		"a bad pattern":  "capture:\n  secrets: ['[']\n",
		"an unknown key": "capture:\n  max_file: 1\n", "a command": "launch:\n  open: rm\n", "no YAML": "{",
	} {
		b.write(".umbra.yml", text)
		_, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Command: []string{"sh"}})
		b.fails(name, err, missions.KindUsage)
		if !strings.Contains(err.Error(), ".umbra.yml") || strings.HasPrefix(name, "an unknown") && !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), "missions.") {
			t.Errorf("%s: %v", name, err)
		}
		// An agent may write it: no snapshot fails for that, and status says so.
		b.write("key.pem2", "secret "+name)
		if e := b.snapshot(name); e.Skipped < 2 { // the key and big.bin
			t.Errorf("%s: the limits are no longer as they were: %d skipped", name, e.Skipped)
		}
		status, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
		if err != nil || len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, ".umbra.yml") {
			t.Errorf("%s: status: %+v %v", name, status.Problems, err)
		}
	}
	b.write(".umbra.yml", "capture:\n  max_files: 1\n")
	b.snapshot("over the file's budget")
	if err := os.Remove(filepath.Join(b.dir, ".umbra.yml")); err != nil {
		t.Fatal(err)
	}
	b.snapshot("again")
	if got := b.history("work"); got[len(got)-1].ID != m.Head {
		t.Errorf("history: %+v", got)
	}
}

// TestProjectFileOfAnAgent: what snapshots hold they go on holding, whatever a
// project file says that an agent may have written, and whichever process takes
// them; what they leave out for it, status says. It takes no secret out of those
// that are configured.
func TestProjectFileOfAnAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("work.txt", "hours of work\n")
	b.write("d/notes.txt", "more of it\n")
	b.mission("work")
	b.write(".umbra.yml", "capture:\n  max_file_size: 1\n  secrets: ['*.txt', '!.env']\n")
	b.write("new.txt", "x")
	b.write("large", "larger than that")
	b.write(".env", "TOKEN=1\n")
	for _, how := range []string{"the same process", "another process", "another process without the stat cache"} {
		if how != "the same process" {
			b = b.again()
		}
		if strings.HasSuffix(how, "cache") {
			if err := os.RemoveAll(filepath.Join(b.home, "statcache")); err != nil {
				t.Fatal(err)
			}
		}
		b.write("work.txt", "hours of work\n"+how+"\n")
		e := b.snapshot(how)
		if got := b.cat(e.ID, "work.txt") + b.cat(e.ID, "d/notes.txt"); got != "hours of work\n"+how+"\nmore of it\n" {
			t.Errorf("%s: the snapshot holds %q", how, got)
		}
		shown, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: e.ID})
		var left []string
		for _, s := range shown.Skipped {
			left = append(left, s.Path+" "+string(s.Reason))
		}
		if want := []string{".env secret", ".umbra.yml size", "large size", "new.txt secret"}; err != nil || !slices.Equal(left, want) {
			t.Errorf("%s: left out: %v %v", how, left, err)
		}
		status, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
		if err != nil || len(status.LeftOut) != 1 || !slices.Equal(status.LeftOut[0].Paths, []string{".umbra.yml", "large", "new.txt"}) {
			t.Errorf("%s: status: %+v %v", how, status.LeftOut, err)
		}
	}
	b.healthy()
}

// TestRestoreBesideAProjectFile: what a restore puts back is in its own snapshot, and
// in those after it, whatever an agent wrote into the project file meanwhile; also
// where another process has to finish it.
func TestRestoreBesideAProjectFile(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		b := newBench(t)
		b.write("work.txt", "hours of work\n")
		m := b.mission("work")
		b.write(".umbra.yml", "capture:\n  secrets: ['*.txt']\n")
		b.remove("work.txt")
		b.snapshot("it is gone")
		if killed {
			b.cutOff(m.ID, "work@start", applied)
			b = b.again()
			if err := os.RemoveAll(filepath.Join(b.home, "statcache")); err != nil {
				t.Fatal(err)
			}
			if err := b.local.Recover(context.Background()); err != nil {
				t.Fatal(err)
			}
		} else {
			b.restore("work@start", func(r *missions.RestoreRequest) { r.All = true })
		}
		if got := b.cat("work", "work.txt"); got != "hours of work\n" {
			t.Errorf("killed %t: the snapshot of the restore holds %q", killed, got)
		}
		b.write("work.txt", "more\n")
		if e := b.snapshot("edited"); b.cat(e.ID, "work.txt") != "more\n" {
			t.Errorf("killed %t: the snapshot after it lacks the file", killed)
		}
		b.healthy()
	}
}

// TestBudgetWithoutStatCache: a workspace over its budget of which no process
// remembers anything is snapshotted all the same, and loses nothing for that.
func TestBudgetWithoutStatCache(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 4 {
		b.write(fmt.Sprintf("d/%d", i), "x")
	}
	b.mission("work")
	b = b.again()
	if err := os.RemoveAll(filepath.Join(b.home, "statcache")); err != nil {
		t.Fatal(err)
	}
	b.local.Config.Capture.MaxFiles = 3
	b.write("d/0", "changed")
	b.write("new", "x")
	e := b.snapshot("over the budget")
	if got := b.cat(e.ID, "d/0") + b.cat(e.ID, "d/3"); got != "changedx" || e.Skipped != 1 {
		t.Errorf("it holds %q, and %d were left out", got, e.Skipped)
	}
	b.local.Config.Capture.MaxFiles = 5
	b.snapshot("within it")
	b.healthy()
}

// noObjects fails if a shadow repository holds anything.
func (b *testBench) noObjects() {
	b.Helper()
	err := filepath.WalkDir(filepath.Join(b.home, "projects"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.Contains(path, "/objects/") {
			b.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		b.Error(err)
	}
}

// TestWorkspaceGone never takes a workspace that is not there, or another one in
// its place, for an empty one.
func TestWorkspaceGone(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"moved":    func(dir string) error { return os.Rename(dir, dir+"-moved") },
		"replaced": func(dir string) error { return errorsOf(os.Rename(dir, dir+"-moved"), os.Mkdir(dir, 0o755)) },
		"removed":  os.RemoveAll,
		"a file":   func(dir string) error { return errorsOf(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"a loop":   func(dir string) error { return errorsOf(os.RemoveAll(dir), os.Symlink(dir, dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			m := b.mission("work")
			if err := damage(b.dir); err != nil {
				t.Fatal(err)
			}
			elsewhere := b.caller()
			elsewhere.Cwd = t.TempDir()
			_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: elsewhere, Mission: m.ID})
			b.fails("snapshot", err, missions.KindFailed)
			want := "moved or not visible"
			if _, err := os.Stat(b.dir + "-moved"); err == nil {
				want = "is in " + b.dir + "-moved now"
			}
			if !strings.Contains(err.Error(), want) || !strings.Contains(missions.AsError(err).Hint, "umbra project move") {
				t.Errorf("the error is %q, the hint %q", err, missions.AsError(err).Hint)
			}
			if r, err := b.local.Resolve(context.Background(), missions.ResolveRequest{Caller: elsewhere, Moment: "work"}); err != nil || r.Snapshot != m.Head {
				t.Errorf("the newest snapshot is %s, was %s: %v", r.Snapshot, m.Head, err)
			}
			d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: elsewhere})
			if err != nil || len(d.Problems) == 0 || !strings.Contains(d.Problems[0].Fix, "umbra project move") {
				t.Errorf("doctor: %+v %v", d.Problems, err)
			}
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestUnchanged answers a request of a tool by the snapshot that it equals; one
// by hand is always made.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	prompt := c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	write := func(id string) missions.HookResult {
		return c.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": id, "tool_input": map[string]any{"file_path": "a.txt"}})
	}
	if got := write("t1"); got.Snapshot != prompt.Snapshot {
		t.Errorf("an unchanged tool request answers %s, want %s", got.Snapshot, prompt.Snapshot)
	}
	c.write("a.txt", "one\n")
	changed := write("t2")
	if changed.Snapshot == prompt.Snapshot {
		t.Error("a change was not taken")
	}
	if got := write("t2"); got.Snapshot != "" {
		t.Errorf("an event heard twice answers %s", got.Snapshot)
	}
	if e := c.snapshot("by hand"); e.ID == changed.Snapshot || e.Unchanged {
		t.Errorf("by hand: %+v", e)
	}
}

// TestClockSetBack keeps the order that `git log` relies on.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	clock := &clockwork{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	b.local.Clock = clock.time
	b.write("a.txt", "one\n")
	m := b.mission("work")
	clock.now = clock.now.Add(-24 * time.Hour)
	b.snapshot("earlier")
	clock.now = clock.now.Add(time.Minute)
	b.snapshot("still earlier")
	p, err := b.local.OpenProject(filepath.Dir(m.ShadowRepo))
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	for _, e := range b.history("work") {
		id, err := gitstore.ParseID(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Store.Snapshot(id)
		if err != nil || !last.IsZero() && s.At.After(last) {
			t.Errorf("snapshot %s is of %s, the next of %s: %v", e.ID, s.At, last, err)
		}
		last = s.At
	}
	b.healthy()
}

// TestFailedCapture hands out no snapshot, and no older one in its place (H1).
func TestFailedCapture(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H1, "a snapshot that fails publishes nothing, and no older id is handed out in its place")
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	b.write(".gitignore/x", "a directory where a file of rules belongs")
	b.write("a.txt", "two\n")
	e, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller()})
	if err == nil { // taken for what it is: a directory
		if got := b.cat(e.ID, "a.txt"); got != "two\n" {
			t.Errorf("the snapshot holds %q", got)
		}
	}
	before := b.only().Head
	objects := filepath.Join(m.ShadowRepo, "objects")
	if err := os.Rename(objects, objects+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(objects, 0o600); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "three\n")
	if e, err = b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller()}); err == nil || e.ID != "" {
		t.Errorf("a snapshot without a store: %+v %v", e, err)
	}
	if err := errorsOf(os.Remove(objects), os.Rename(objects+"-away", objects)); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	if head := b.only().Head; head != before {
		t.Errorf("the newest snapshot is %s, was %s", head, before)
	}
	b.snapshot("when it works again")
	if got := b.cat("", "a.txt"); got != "three\n" {
		t.Errorf("it holds %q", got)
	}
	b.healthy()
}
