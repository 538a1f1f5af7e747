package usergit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (r *testRepo) wantMove(to, why string) {
	r.t.Helper()
	move, err := r.discover().LastMove()
	if err != nil || move.To.String() != to || move.Why != why {
		r.t.Errorf("HEAD moved to %q, %q (%v), want %q, %q", move.To, move.Why, err, to, why)
	}
}

func TestLastMove(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := newRepo(t, "--object-format="+format)
		r.wantMove("", "")
		first := r.commit("a", "1")
		r.wantMove(first, "commit (initial): a")
		second := r.commit("a", "2")
		r.git("commit", "-q", "--amend", "-m", "another\ttext")
		r.wantMove(r.git("rev-parse", "HEAD"), "commit (amend): another text")
		r.git("checkout", "-q", second)
		r.wantMove(second, "checkout: moving from main to "+second)

		tree := filepath.Join(filepath.Dir(r.dir), "tree")
		r.git("worktree", "add", "-q", "-b", "other", tree, first)
		linked := &testRepo{t: t, dir: tree}
		there := linked.commit("b", "1")
		linked.wantMove(there, "commit: b")
		r.wantMove(second, "checkout: moving from main to "+second)

		// A log may be anything, and there need be none.
		log := filepath.Join(r.discover().GitDir, "logs", "HEAD")
		for _, odd := range []string{"", "\n", "nonsense", "a b c", strings.Repeat("x", mostMove+10) + "\n"} {
			if err := os.WriteFile(log, []byte(odd), 0o644); err != nil {
				t.Fatal(err)
			}
			r.wantMove("", "")
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(log, 0o755); err != nil {
			t.Fatal(err)
		}
		if move, err := r.discover().LastMove(); err == nil {
			t.Errorf("a directory for a log: %+v", move)
		}
	}
}

func TestHooksDir(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "1")
	home := filepath.Dir(r.dir)
	tree := filepath.Join(home, "tree")
	r.git("worktree", "add", "-q", tree)
	linked := &testRepo{t: t, dir: tree}
	for value, want := range map[string][2]string{
		"":         {filepath.Join(r.dir, ".git", "hooks"), filepath.Join(r.dir, ".git", "hooks")},
		".husky/_": {filepath.Join(r.dir, ".husky", "_"), filepath.Join(tree, ".husky", "_")},
		"~/all":    {filepath.Join(home, "all"), filepath.Join(home, "all")},
		"/else":    {"/else", "/else"},
	} {
		r.git("config", "core.hooksPath", value)
		for i, at := range []*testRepo{r, linked} {
			if got, err := at.discover().HooksDir(t.Context(), testEnv(home)); err != nil || got != want[i] {
				t.Errorf("core.hooksPath %q in %s: %q (%v), want %q", value, at.dir, got, err, want[i])
			}
		}
	}
	r.git("config", "core.hooksPath", "~no-such-user/hooks")
	if got, err := r.discover().HooksDir(t.Context(), testEnv(home)); err == nil {
		t.Errorf("a home that there is not: %q", got)
	}
}
