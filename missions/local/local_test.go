package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// bench is a user with a home and a workspace, and a Service on them.
type testBench struct {
	*testing.T
	local *Service
	user  string // the user's own directory, $HOME
	home  string // Umbra's
	dir   string // the workspace
}

func newBench(t *testing.T) *testBench {
	t.Helper()
	user := t.TempDir()
	home, err := home.Open(filepath.Join(user, ".umbra-home"))
	if err != nil {
		t.Fatal(err)
	}
	local, err := New(Options{Home: home, Config: settings.Default()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	dir := filepath.Join(user, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return &testBench{T: t, local: local, user: user, home: home.Dir, dir: dir}
}

func (b *testBench) caller() missions.Caller {
	return missions.Caller{Cwd: b.dir, Env: map[string]string{"HOME": b.user, "PATH": os.Getenv("PATH"), "SHELL": "/bin/sh"}}
}

func (b *testBench) git(args ...string) string {
	b.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@t"}, args...)...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "HOME="+b.user)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (b *testBench) write(name, content string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *testBench) mission(name string) missions.Mission {
	b.Helper()
	m, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: name, Command: []string{"sh"}})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func (b *testBench) snapshot(text string) missions.Entry {
	b.Helper()
	e, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Message: text})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// TestSnapshotsAreHistory takes snapshots and reads them back through Umbra and
// through git.
func TestSnapshotsAreHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.git("add", "a.txt")
	b.git("commit", "-qm", "first")
	m := b.mission("work")
	b.write("a.txt", "two\n")
	b.write("dir/b.txt", "new\n")
	second := b.snapshot("after editing")
	entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Lines: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || entries[0].ID != second.ID || entries[1].Address != "work@start" {
		t.Fatalf("log: %+v", entries)
	}
	if got := entries[0]; got.Files != (missions.FileCounts{Added: 1, Modified: 1}) || *got.Lines != (missions.LineCounts{Added: 2, Deleted: 1}) {
		t.Fatalf("changes: %+v %+v", got.Files, *got.Lines)
	}
	out, err := exec.Command("git", "-C", m.ShadowRepo, "log", "-p", "--format=%s", "work").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "+two") {
		t.Fatalf("git log: %v\n%s", err, out)
	}
	if out, err := exec.Command("git", "-C", m.ShadowRepo, "fsck", "--full").CombinedOutput(); err != nil {
		t.Fatalf("git fsck: %v\n%s", err, out)
	}
	for moment, want := range map[string]string{"work@start": "one\n", "work": "two\n", "work~1": "one\n", second.ID[:8]: "two\n"} {
		got, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: moment, Path: "a.txt"})
		if err != nil || string(got) != want {
			t.Errorf("cat %s: %q %v", moment, got, err)
		}
	}
}
