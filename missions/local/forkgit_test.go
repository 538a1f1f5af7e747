package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestRestoreBeforeForkPoint restores moments of a fork's source, which were on another
// branch, in the fork: the fork's branch goes on from there. What the fork's user does
// to its HEAD is refused as anywhere else.
func TestRestoreBeforeForkPoint(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "zero\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "zero")
	b.mission("source")
	b.write("a.txt", "one\n")
	b.git("commit", "-qam", "one")
	b.snapshot("one")
	fork := func(from, name string) missions.Mission {
		t.Helper()
		made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: from, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return made.Missions[0]
	}
	fork("source", "twin")
	nested := fork("twin", "twig")
	work := nested.Workspace
	restore := func(moment, want string) (missions.RestoreResult, error) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, "a.txt"), []byte("changed\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		done, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: missions.Caller{Cwd: work, Env: b.caller().Env}, Moment: moment})
		got, rerr := os.ReadFile(filepath.Join(work, "a.txt"))
		if rerr != nil || string(got) != want {
			t.Errorf("after %s: %q %v", moment, got, rerr)
		}
		return done, err
	}
	if _, err := restore("twig@fork", "one\n"); err != nil {
		t.Error(err)
	}
	done, err := restore("twig@start", "zero\n")
	if err != nil || !strings.Contains(strings.Join(done.Notes, "\n"), "HEAD has moved on since") {
		t.Errorf("before the source's commit: %+v %v", done.Notes, err)
	}
	b.git("-C", work, "switch", "-q", "--discard-changes", "--orphan", "other")
	if _, err := restore("twig@fork", "changed\n"); err == nil || !strings.Contains(err.Error(), "HEAD is at no commit now, which does not descend from") {
		t.Errorf("with another history: %v", err)
	}
	b.healthy()
}

// TestForkAfterHeadMoved: commits that change no file since the newest snapshot, and what was
// staged since, are the fork's.
func TestForkAfterHeadMoved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		move func(b *testBench)
	}{
		{"commit", func(b *testBench) { b.git("commit", "-qam", "two") }},
		{"merge", func(b *testBench) {
			b.git("commit", "-qam", "two")
			b.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merged", "other")
		}},
		{"branch", func(b *testBench) { b.git("switch", "-qc", "topic") }},
		{"staged", func(b *testBench) { b.git("add", "a.txt") }},
		{"nothing", func(*testBench) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.git("init", "-q", "-b", "main")
			b.write("a.txt", "one\n")
			b.git("add", "a.txt")
			b.git("commit", "-qm", "one")
			b.git("switch", "-qc", "other")
			b.git("commit", "-qm", "nothing", "--allow-empty")
			b.git("switch", "-q", "main")
			b.mission("work")
			b.write("a.txt", "two\n")
			tip := b.snapshot("written").ID
			tt.move(b)
			there := b.forkBench("child")
			if got, want := there.git("rev-parse", "HEAD"), b.git("rev-parse", "HEAD"); got != want {
				t.Errorf("HEAD of the fork is %s, of the source %s", got, want)
			}
			if got, want := there.git("diff", "--cached", "--name-only"), b.git("diff", "--cached", "--name-only"); got != want {
				t.Errorf("staged in the fork: %q, in the source: %q", got, want)
			}
			now, err := b.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: b.caller(), OnlyIfChanged: true})
			if err != nil || (now.ID == tip) != (tt.name == "nothing") {
				t.Errorf("the newest snapshot is %s, before it was %s: %v", now.ID, tip, err)
			}
			b.healthy()
		})
	}
}
