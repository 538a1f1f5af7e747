package commits

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestAttributesThatGo: where a turn removes the attributes, or makes a link of them, git
// takes its files without: it follows no link to attributes.
func TestAttributesThatGo(t *testing.T) {
	t.Parallel()
	for change, linked := range map[string]bool{"D": false, "T": true} {
		b := newBench(t)
		b.put("up", "#!/bin/sh\ntr a-z A-Z\n")
		b.chmod("up", 0o755)
		b.git("config", "filter.up.clean", "./up")
		b.put("sub/.gitattributes", "*.up filter=up\n")
		b.put("sub/attributes", "*.up filter=up\n")
		b.begin()
		b.remove("sub/.gitattributes")
		if linked {
			b.link("attributes", "sub/.gitattributes")
		}
		b.put("sub/a.up", "quiet\n")
		b.step("1", "leave the attributes")
		b.land()
		if got := b.git("show", "--format=", "--name-status", "HEAD"); got != change+"\tsub/.gitattributes\nA\tsub/a.up" || b.git("show", "HEAD:sub/a.up") != "quiet" {
			t.Errorf("landed %q with %q", got, b.git("show", "HEAD:sub/a.up"))
		}
	}
}

// TestInterruptedGitLeavesNoLock: git that is ended in the middle removes its locks.
func TestInterruptedGitLeavesNoLock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put(".gitattributes", "*.slow filter=slow\n")
	begun := filepath.Join(b.home, "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	told, err := os.OpenFile(begun, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	b.put("slow", "#!/bin/sh\necho begun >"+begun+"\nfor i in 1 2 3 4 5 6 7 8 9 10; do test -e .git/index.lock || break; sleep 1; done\n")
	b.chmod("slow", 0o755)
	b.git("config", "filter.slow.clean", "./slow")
	b.put("a.slow", "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := openRepository(ctx, b.plan.Mission, Options{Environ: b.environ})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := r.git(run{args: []string{"add", "a.slow"}})
		ended <- err
		_, _ = told.WriteString("ended\n") // the filter has not begun
	}()
	if _, err := told.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".git", "index.lock")); !os.IsNotExist(err) {
		t.Errorf("a lock stays: %v", err)
	}
}

// TestHookThatStagesMore: what a hook adds to a commit is named.
func TestHookThatStagesMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("mine.txt", "mine\n")
	b.step("", "")
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.hook("pre-commit", "git add -A\n")
	r := b.land()
	if len(r.Commits) != 1 || len(r.Commits[0].Files) != 2 || !slices.Equal(r.Commits[0].Hooked, []string{"mine.txt"}) {
		t.Errorf("landed %+v", r.Commits)
	}
}

// TestOtherBranchReadsNoOtherFiles: files that a landing leaves alone are not read, also
// where the branch is not checked out.
func TestOtherBranchReadsNoOtherFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	read := filepath.Join(b.home, "read")
	b.put("log", "#!/bin/sh\necho $1 >>"+read+"\ncat\n")
	b.chmod("log", 0o755)
	b.git("config", "filter.log.clean", "./log %f")
	b.put(".gitattributes", "*.up filter=log\n")
	b.put("other.up", "other\n")
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // git reads again what is as young as its index
	if err := os.Chtimes(filepath.Join(b.dir, "other.up"), old, old); err != nil {
		t.Fatal(err)
	}
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	if err := os.Remove(read); err != nil {
		t.Fatal(err)
	}
	b.land(func(o *Options) { o.Branch = "topic" })
	if text, err := os.ReadFile(read); !os.IsNotExist(err) {
		t.Errorf("read: %q, %v", text, err)
	}
}

// TestNoBranchForNothing: a branch that nothing would land on is not made.
func TestNoBranchForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.land()
	r := b.land(func(o *Options) { o.Branch = "topic" })
	if got := b.git("for-each-ref", "--format=%(refname)"); got != "refs/heads/main" || r.Head != b.git("rev-parse", "HEAD") || len(r.Landed) != 1 {
		t.Errorf("%+v, with the branches %s", r, got)
	}
}
