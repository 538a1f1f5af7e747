package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// hint plays what an editor or Git tells, and returns what was answered.
func (b *testBench) hint(name, event, path string) missions.HookResult {
	b.Helper()
	r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: name, Event: event, Payload: []byte(path)})
	if err != nil || r.Problem != "" {
		b.Fatalf("%s %s %s: %+v %v", name, event, path, r, err)
	}
	return r
}

// newest is the last line of the default mission's log.
func (b *testBench) newest() missions.Entry {
	b.Helper()
	entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	return entries[0]
}

// TestSaveIsASnapshot keeps what an editor saved, of the mission that works there.
func TestSaveIsASnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	if r := b.hint("vim", "save", filepath.Join(b.dir, "a.txt")); r.Mission != "" {
		t.Errorf("where there is no mission: %+v", r)
	}
	if made, _ := os.ReadDir(b.local.Home.ProjectsDir()); len(made) > 0 {
		t.Errorf("it made %v", made)
	}
	m := b.mission("work")
	b.write("dir/b.txt", "two\n")
	r := b.hint("vim", "save", "dir/b.txt") // as seen from the caller's directory
	if got := b.newest(); r.Mission != m.ID || got.ID != r.Snapshot || got.Message != "saved dir/b.txt in vim" || !slices.Contains(got.Triggers, string(missions.TriggerWatch)) {
		t.Errorf("a save: %+v, and the log says %+v", r, got)
	}
	if again := b.hint("emacs", "save", filepath.Join(b.dir, "dir/b.txt")); again.Snapshot != r.Snapshot {
		t.Errorf("nothing changed, and %s was taken after %s", again.Snapshot, r.Snapshot)
	}
	b.write("a.txt", "three\n")
	if b.hint("nvim", "leave", ""); b.newest().Message != "nvim ended" {
		t.Errorf("at the end: %+v", b.newest())
	}
	b.write("a.txt", "3\n")
	b.write("dir/b.txt", "3\n")
	before := b.newest()
	if b.hint("vscode", "save", "a.txt\x00/nonexistent/x\x00"+filepath.Join(b.dir, "dir/b.txt")); b.newest().Message != "saved a.txt and 1 more in vscode" || b.newest().Parent != before.ID {
		t.Errorf("several at once: %+v after %+v", b.newest(), before)
	}
	link := filepath.Join(filepath.Dir(b.dir), "link")
	if err := os.Symlink(b.dir, link); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "four\n")
	if b.hint("nvim", "save", filepath.Join(link, "a.txt")); b.newest().Message != "saved a.txt in nvim" {
		t.Errorf("through a link: %+v", b.newest())
	}
	for _, elsewhere := range []string{filepath.Dir(b.dir), "/nonexistent/x", "\xff/x"} {
		if r := b.hint("vim", "save", elsewhere); r.Mission != "" {
			t.Errorf("%q: %+v", elsewhere, r)
		}
	}
	for name, event := range map[string]string{"vim": "post-commit", "git": "save", "emacs": ""} {
		if _, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: name, Event: event}); missions.AsError(err).Kind != missions.KindUsage {
			t.Errorf("%s tells of %q: %v", name, event, err)
		}
	}
}

// TestHintFindsTheMission gives a save to the missions at work there, and to the
// last one only where none is.
func TestHintFindsTheMission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "1\n")
	b.mission("first")
	second := b.mission("second")
	b.write("a.txt", "2\n")
	if r := b.hint("vim", "save", "a.txt"); r.Mission != second.ID {
		t.Errorf("of two at rest: %s", r.Mission)
	}
	for _, name := range []string{"first", "second"} { // an agent each
		m, err := b.local.FindMissionIn(b.project(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.local.SubmitRequest(context.Background(), m.Project, m.ID, &snapshots.Request{Event: missions.AgentLaunched{HasHooks: true}}); err != nil {
			t.Fatal(err)
		}
	}
	b.write("a.txt", "3\n")
	b.hint("vim", "save", "a.txt")
	for _, name := range []string{"first", "second"} {
		if p, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: name, Path: "a.txt"}); err != nil || string(p) != "3\n" {
			t.Errorf("%s has %q (%v)", name, p, err)
		}
	}
}

// project is the one project of the bench.
func (b *testBench) project() *projects.Project {
	b.Helper()
	all, problems := b.local.AllProjects()
	if len(all) != 1 || len(problems) > 0 {
		b.Fatalf("%d projects, %+v", len(all), problems)
	}
	return all[0]
}

// TestHeadMoves notes each move of HEAD that its hooks tell of, once.
func TestHeadMoves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.git("config", "user.name", "T")
	b.git("config", "user.email", "t@t")
	b.write("a.txt", "one\n")
	b.git("add", "a.txt")
	b.git("commit", "-qm", "first")
	b.mission("work")
	told := func(hook, want string) {
		t.Helper()
		before := b.newest()
		b.hint("git", hook, "")
		if got := b.newest(); want == "" && got.ID != before.ID || want != "" && (got.ID == before.ID || !strings.HasPrefix(got.Message, want)) {
			t.Errorf("%s: %q after %q, want %q", hook, got.Message, before.Message, want)
		}
	}
	head := func() string { return strings.TrimSpace(b.git("rev-parse", "HEAD"))[:7] }
	told("post-commit", "")
	b.git("commit", "-q", "--allow-empty", "-m", "Say  more")
	told("post-commit", "committed "+head()+" Say")
	told("post-commit", "")
	b.git("commit", "-q", "--amend", "--allow-empty", "-m", "Say less")
	told("post-rewrite", "amended "+head()+" Say less")
	b.git("checkout", "-q", "-b", "topic")
	told("post-checkout", "switched from main to topic")
	b.write("b.txt", "topic\n")
	b.git("add", "b.txt")
	b.git("commit", "-qm", "topic")
	told("post-commit", "committed "+head()+" topic")
	b.git("checkout", "-q", "main")
	b.git("merge", "-q", "--ff-only", "topic")
	told("post-merge", "HEAD is "+head()+": merge topic: Fast-forward")
	b.git("config", "core.logAllRefUpdates", "false")
	if err := os.Remove(filepath.Join(b.dir, ".git", "logs", "HEAD")); err != nil {
		t.Fatal(err)
	}
	b.git("commit", "-q", "--allow-empty", "-m", "without a log")
	told("post-commit", "HEAD is "+head()+" main")
	b.write("a.txt", "changed\n")
	told("post-checkout", "git checkout")

	// In the middle of a rebase nothing is noted but its end.
	b.git("commit", "-qam", "changed")
	told("post-commit", "HEAD is "+head()+" main")
	if err := os.Mkdir(filepath.Join(b.dir, ".git", "rebase-merge"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.git("commit", "-q", "--allow-empty", "-m", "picked")
	told("post-commit", "")
	told("post-rewrite", "HEAD is "+head()+" main")
}
