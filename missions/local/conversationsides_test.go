package local

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// sided is a conversation of Claude Code with a file beside it, long after that
// changed: what was read of it is known by its stat data.
type sided struct {
	*talker
	in string // of the session's files, below the store
}

func startSided(t *testing.T, in string) sided {
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": missions.Itoa(os.Getpid())}
	c.local.Clock = func() time.Time { return time.Now().Add(time.Hour) }
	c.hook("SessionStart", map[string]any{"source": "startup"})
	return sided{c, in}
}

func (s sided) path(session string) string {
	return filepath.Join(s.user, ".claude", filepath.FromSlash(strings.ReplaceAll(s.in, "SESSION", session)))
}

func (s sided) put(text string) {
	s.Helper()
	path := s.path(s.session)
	if err := errorsOf(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.Fatal(err)
	}
}

// forks has a fork have a file beside its conversation.
func (s sided) forks(from, want string) {
	s.Helper()
	result, err := s.local.Fork(context.Background(), missions.ForkRequest{Caller: s.caller(), From: from})
	if err != nil {
		s.Fatal(err)
	}
	if got, err := os.ReadFile(s.path(result.Missions[0].SessionID)); string(got) != want {
		s.Errorf("the fork has %q (%v), want %q", got, err, want)
	}
}

const tasks = "tasks/SESSION/1.json"

// chooser is an adapter by which no file beside a conversation belongs to a copy of it.
type chooser struct{ claude.Adapter }

func (chooser) SidesOf(io.Reader, []string, func(string) (io.ReadCloser, error)) ([]string, error) {
	return nil, nil
}

// TestSidesAreChosen: a fork has those files beside its conversation that the adapter says
// belong to it as it is cut.
func TestSidesAreChosen(t *testing.T) {
	t.Parallel()
	s := startSided(t, tasks)
	s.put("pending")
	s.takeTurn("first", "a.txt", "one\n")
	s.forks("", "pending")
	s.local.Workers.Wait()
	s.local.Adapters = []sessions.Adapter{chooser{}}
	s.forks("", "")
}

// TestSidesAfterUndo: after an undo records have again what is beside the session that
// the mission goes on with, though it has not changed since.
func TestSidesAfterUndo(t *testing.T) {
	t.Parallel()
	s := startSided(t, tasks)
	s.put("pending")
	s.takeTurn("first", "a.txt", "one\n")
	s.put("completed, and more")
	s.takeTurn("second", "a.txt", "two\n")
	if _, err := s.local.Restore(context.Background(), missions.RestoreRequest{Caller: s.caller(), Moment: "@1"}); err != nil {
		t.Fatal(err)
	}
	s.forks("", "pending")
	if _, err := s.local.Undo(context.Background(), missions.UndoRequest{Caller: s.caller(), Force: true}); err != nil {
		t.Fatal(err)
	}
	s.forks("", "completed, and more")
	s.healthy()
}

// TestSidesOfAnotherSession: names of files beside sessions are the same in each.
func TestSidesOfAnotherSession(t *testing.T) {
	t.Parallel()
	s := startSided(t, "file-history/SESSION/0123456789abcdef@v1")
	s.put("of session A\n")
	s.takeTurn("first", "a.txt", "one\n")
	s.hook("SessionEnd", map[string]any{"reason": "clear"})
	s.switchTo(otherSession)
	s.hook("SessionStart", map[string]any{"source": "clear"})
	s.put("of session B\n")
	s.takeTurn("second", "a.txt", "two\n")
	s.hook("SessionEnd", map[string]any{"reason": "resume"})
	s.switchTo(testSession)
	s.hook("SessionStart", map[string]any{"source": "resume"})
	s.takeTurn("third", "a.txt", "three\n")
	s.forks("", "of session A\n")
	s.healthy()
}

// TestSidesAfterFailure: what was read for a snapshot that failed is in the next one.
func TestSidesAfterFailure(t *testing.T) {
	t.Parallel()
	s := startSided(t, tasks)
	s.put("pending")
	s.takeTurn("first", "a.txt", "one\n")
	s.put("completed, and more")
	ref := ""
	err := filepath.WalkDir(s.home, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == s.only().ID && strings.Contains(path, filepath.FromSlash("/refs/agents/")) {
			ref = path
		}
		return err
	})
	if err != nil || ref == "" {
		t.Fatalf("no ref of the mission: %v", err)
	}
	s.write("a.txt", "half\n")
	if err := os.WriteFile(ref+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: s.caller()}); err == nil {
		t.Fatal("a snapshot was published on a locked ref")
	}
	if err := os.Remove(ref + ".lock"); err != nil {
		t.Fatal(err)
	}
	s.takeTurn("second", "a.txt", "two\n")
	s.forks("", "completed, and more")
	s.healthy()
}

// TestSidesAlone: where only what is beside a session has changed since the last
// snapshot, a fork and a restore have it all the same; and where nothing has, there is
// no snapshot for them.
func TestSidesAlone(t *testing.T) {
	t.Parallel()
	s := startSided(t, tasks)
	s.put("pending")
	s.takeTurn("first", "a.txt", "one\n")
	newest := func() string { return s.history("")[0].ID }
	before := newest()
	s.forks("", "pending")
	again := s.again()
	if _, err := again.local.Fork(context.Background(), missions.ForkRequest{Caller: s.caller()}); err != nil {
		t.Fatal(err)
	}
	if now := newest(); now != before {
		t.Errorf("snapshot %s is of nothing new after %s", now, before)
	}
	s.put("completed, and more")
	s.forks("", "completed, and more")
	s.put("all removed")
	r, err := s.local.Restore(context.Background(), missions.RestoreRequest{Caller: s.caller(), Moment: "@1"})
	if err != nil {
		t.Fatal(err)
	}
	s.forks(r.SafetySnapshot, "all removed")
	s.healthy()
}
