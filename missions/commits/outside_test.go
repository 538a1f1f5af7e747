package commits

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestSparseCheckout: what a sparse checkout leaves out is not removed from a branch, nor
// is anything changed that the index says not to look at.
func TestSparseCheckout(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"main", "topic"} {
		b := newBench(t)
		b.put("in/1", "one\n")
		b.put("out/2", "two\n")
		b.put("mine.txt", "as committed\n")
		b.begin()
		b.git("update-index", "--assume-unchanged", "mine.txt")
		b.git("sparse-checkout", "set", "in")
		b.put("in/1", "one more\n")
		b.put("mine.txt", "as nobody is to see\n")
		b.step("1", "change one")
		r := b.land(func(o *Options) { o.Branch = branch })
		if got := b.git("show", "--format=", "--name-status", branch); got != "M\tin/1" || len(r.Left) > 0 {
			t.Errorf("on %s: %q, left %q", branch, got, r.Left)
		}
		if len(r.Landed) > 0 {
			t.Errorf("on %s, all is said to have landed", branch)
		}
	}
}

// TestRepositoriesInside: what is in a submodule, or in a repository that the agent made,
// does not land; the rest does.
func TestRepositoriesInside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	library := filepath.Join(b.home, "library")
	b.in(b.home, "init", "-q", library)
	b.in(library, "commit", "-q", "--allow-empty", "-m", "first")
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "sub")
	b.put(".gitignore", "*.log\n")
	b.begin()
	changes := func(names ...string) {
		s := missions.LandingStep{Key: "1", Title: "change all", From: b.git("hash-object", "-t", "tree", os.DevNull)}
		for _, name := range names {
			b.put(name, "new\n")
			blob := b.git("--git-dir="+b.shadow, "hash-object", "-w", name)
			s.Changes = append(s.Changes, missions.LandingChange{Path: name, To: missions.LandingFile{Mode: "100644", Blob: blob}})
		}
		s.To = b.last
		b.plan.Steps = append(b.plan.Steps, s)
	}
	b.in(b.dir, "init", "-q", "nest")
	changes("sub/a.txt", "sub/deep/b.txt", "nest/deep/c.txt", "top.txt")
	r := b.land()
	if got := b.git("show", "--format=", "--name-status", "HEAD"); got != "A\ttop.txt" || !slices.Equal(r.Left, []string{"sub", "nest/"}) {
		t.Errorf("landed %q, left %q", got, r.Left)
	}
	if len(r.Landed) > 0 {
		t.Error("all is said to have landed")
	}
}

// TestIdentityOfTheRepository: settings for this repository alone hold for commits on a
// branch that is not checked out, and nothing is left of how they were made.
func TestIdentityOfTheRepository(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.git("config", "-f", filepath.Join(b.home, "corp"), "user.email", "ada@corp.example")
	b.git("config", "--global", "includeIf.gitdir:"+b.dir+"/.path", filepath.Join(b.home, "corp"))
	b.git("config", "extensions.worktreeConfig", "true")
	b.git("config", "--worktree", "user.name", "Ada of this worktree")
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	work, err := b.open(func(o *Options) { o.Branch = "topic" })
	if err == nil {
		_, err = work.Make()
	}
	if err = errors.Join(err, work.Close()); err != nil {
		t.Fatal(err)
	}
	if got := b.git("log", "-1", "--format=%an %ae", "topic"); got != "Ada of this worktree ada@corp.example" {
		t.Errorf("by %s", got)
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, ".git", "umbra-land-*")); err != nil || len(left) > 0 {
		t.Errorf("left in the repository: %v %v", left, err)
	}
}
