package shadow

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestStatusWritesNoIndex: Git's own status brings the index up to date, in the
// user's repository too, where somebody may be writing to it.
func TestStatusWritesNoIndex(t *testing.T) {
	repo := t.TempDir()
	file, index := filepath.Join(repo, "a.txt"), filepath.Join(repo, ".git", "index")
	run := func(args ...string) {
		t.Helper()
		if out, err := hazards.Git(repo, append([]string{"-c", "user.name=N", "-c", "user.email=n@n"}, args...)...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	noErr(t, os.WriteFile(file, []byte("text\n"), 0o600))
	run("init", "-q")
	run("add", ".")
	run("commit", "-qm", "first")
	written := func(status func()) bool {
		t.Helper()
		// The entry's time is another one then, and the file is as it was.
		noErr(t, os.Chtimes(file, time.Time{}, time.Unix(1e9, 0)))
		run("update-index", "--really-refresh")
		noErr(t, os.Chtimes(file, time.Time{}, time.Unix(1e9+60, 0)))
		before := string(must[[]byte](t)(os.ReadFile(index)))
		status()
		return string(must[[]byte](t)(os.ReadFile(index))) != before
	}
	hazards.Shown(t, hazards.H17, written(func() { run("status", "--porcelain") }), "`git status` writes the user's index")
	if written(func() {
		_ = must[[]byte](t)(git.Run(context.Background(), git.Command{Dir: repo, Args: []string{"status", "--porcelain"}}))
	}) {
		t.Error("the user's index was written")
	}
	hazards.Held(t, hazards.H17, "a git that Umbra calls takes no lock that it can do without: its status leaves the index as it is")
}
