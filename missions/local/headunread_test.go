package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHeadThatWasUnread takes a snapshot while HEAD's ref can't be read. That is never
// taken for a repository without a commit: a fork starts at HEAD of now, and a restore
// names no branch to switch to.
func TestHeadThatWasUnread(t *testing.T) {
	t.Parallel()
	b, c := newCommitted(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ref := filepath.Join(b.dir, ".git", "refs", "heads", "main")
	good, err := os.ReadFile(ref)
	must(err)
	must(os.WriteFile(ref, []byte("torn"), 0o644))
	c.takeTurn("go on", "a.txt", "while HEAD was unread\n")
	must(os.WriteFile(ref, good, 0o644))
	b.write("a.txt", "now\n")

	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "@2"})
	must(err)
	fork := result.Missions[0]
	notes := strings.Join(result.Notes, "\n")
	if !result.Fallback || !strings.Contains(notes, "could not be read (") || !strings.Contains(notes, "HEAD of now") {
		t.Errorf("the fork says %q of %+v", notes, result)
	}
	if got := b.git("-C", fork.Workspace, "rev-parse", "umbra/"+fork.Name); strings.TrimSpace(got) != strings.TrimSpace(string(good)) {
		t.Errorf("the fork's branch is at %s", got)
	}
	if got, err := os.ReadFile(filepath.Join(fork.Workspace, "a.txt")); err != nil || string(got) != "while HEAD was unread\n" {
		t.Errorf("the fork's file is %q (%v)", got, err)
	}
	done := b.restore("@2", func(r *missions.RestoreRequest) { r.All = true })
	if notes := strings.Join(done.Notes, "\n"); !done.Done || b.read("a.txt") != "while HEAD was unread\n" || !strings.Contains(notes, "can't be told") {
		t.Errorf("the restore says %q of %+v", notes, done)
	}
}
