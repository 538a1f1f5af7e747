package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestRepositoryUnderAnotherName: `.git` is a link to a directory beside it, as it is kept
// from programs that copy files to other machines.
func TestRepositoryUnderAnotherName(t *testing.T) {
	t.Parallel()
	begin := func() *testBench {
		b := newBench(t)
		b.git("init", "-q", "-b", "main")
		b.write("a.txt", "one\n")
		b.git("add", ".")
		b.git("commit", "-qm", "first")
		if err := os.Rename(filepath.Join(b.dir, ".git"), filepath.Join(b.dir, ".git.nosync")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(".git.nosync", filepath.Join(b.dir, ".git")); err != nil {
			t.Fatal(err)
		}
		return b
	}
	later := func(b *testBench) string {
		b.write("a.txt", "two\n")
		b.git("commit", "-qam", "second")
		return b.git("rev-parse", "HEAD")
	}
	other := begin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	second := later(other)
	naive.Restore(first)
	_, lost := hazards.Git(other.dir, "cat-file", "-e", strings.TrimSpace(second))
	hazards.Shown(t, hazards.H41, lost != nil && other.git("rev-parse", "HEAD") != second, "`git add` takes the directory that `.git` leads to for files; restoring them takes the branch back and deletes the commit")

	b := begin()
	b.mission("work")
	second = later(b)
	b.restore("work@start")
	if got := b.git("rev-parse", "HEAD"); got != second || b.read("a.txt") != "one\n" {
		t.Errorf("HEAD is %s, was %s; a.txt is %q", got, second, b.read("a.txt"))
	}
	b.git("fsck", "--strict")
	b.healthy()
	hazards.Held(t, hazards.H41, "whatever directory Git uses for a work tree that is captured is in no snapshot, and is not written to")
}

// TestRulesOfABranch: what is ignored hangs on the branch that is checked out.
func TestRulesOfABranch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "one\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	rules := filepath.Join(b.user, "private")
	for file, content := range map[string]string{rules: "draft.txt\n", rules + ".config": "[core]\n\texcludesFile = " + rules + "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.git("config", "includeIf.onbranch:private.path", rules+".config")
	before := strings.TrimSpace(b.git("config", "--default", "", "core.excludesFile"))
	naive := hazards.NewNaive(t, b.dir)
	naive.Git("config", "core.excludesFile", before) // as the user's were, once
	b.mission("work")
	b.git("switch", "-qc", "private")
	b.write("draft.txt", "draft\n")
	held := naive.Git("ls-tree", "-r", "--name-only", naive.Save())
	hazards.Shown(t, hazards.H47, strings.Contains(held, "draft.txt") && b.git("check-ignore", "draft.txt") == "draft.txt\n", "who has read the user's rules once takes what they ignore on another branch")

	b.snapshot("private")
	if _, err := b.local.Cat(t.Context(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "draft.txt"}); err == nil {
		t.Error("the snapshot holds draft.txt")
	}
	b.git("switch", "-q", "main")
	b.snapshot("public")
	if got := b.cat("work", "draft.txt"); got != "draft\n" {
		t.Errorf("on the branch on which it is not ignored, draft.txt is %q", got)
	}
	hazards.Held(t, hazards.H47, "an answer about rules hangs on HEAD, and on each file that is included or may come")
}
