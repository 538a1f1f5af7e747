package capture

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// TestHistoriesOfOtherSystems: where another version system than Git keeps commits, or a
// Git that no .git leads to, nothing is captured, so that no restore takes commits back.
// What the user's repository tracks is a fixture, and files; so is a bare repository
// that has no work tree, and a directory that only has such a name.
func TestHistoriesOfOtherSystems(t *testing.T) {
	bare := []string{"HEAD", "objects/a", "refs/a", "config"}
	for _, c := range []struct {
		at       string
		files    []string // "path=content" where content matters
		captured bool
	}{
		{at: ".hg", files: []string{"requires", "store/00changelog.i"}},
		{at: "deep/.hg", files: []string{"store/data/a.i"}},
		{at: ".sl", files: []string{"store/a"}},
		{at: ".jj", files: []string{"repo/store/type", "working_copy/type"}},
		{at: ".svn", files: []string{"wc.db", "pristine/a"}},
		{at: ".bzr", files: []string{"branch-format"}},
		{at: "_darcs", files: []string{"hashed_inventory"}},
		{at: ".pijul", files: []string{"pristine/db"}},
		{at: ".hg", files: []string{"notes"}, captured: true},
		{at: "_darcs", files: []string{"readme"}, captured: true},
		{at: "hg", files: []string{"requires", "store/a"}, captured: true},
		{at: ".cfg", files: append(slices.Clone(bare), "index")},
		{at: "deep/hub.git", files: append(slices.Clone(bare), "worktrees/a/HEAD")},
		{at: ".yadm", files: append(slices.Clone(bare), "config=[core]\n\tworktree = /home\n")},
		{at: ".yadm", files: append(slices.Clone(bare), "config.worktree=[core]\n\tworktree = ../\n")},
		{at: "fixture.git", files: bare, captured: true},
		{at: "records", files: []string{"HEAD", "index", "refs/a"}, captured: true},
	} {
		l := newLab(t, Settings{})
		l.gitInit()
		l.write("a", "a")
		for _, f := range c.files {
			path, content, _ := strings.Cut(f, "=")
			l.write(c.at+"/"+path, content)
		}
		r := l.walk()
		if captured := len(l.files(r)) > 1; captured != c.captured {
			t.Errorf("%s with %v: captured %v", c.at, c.files, captured)
		}
		if listed := slices.Contains(r.Skipped, documents.Skipped{Path: c.at, Reason: documents.ReasonHistory}); listed == c.captured {
			t.Errorf("%s with %v: skipped %v", c.at, c.files, r.Skipped)
		}
		l.git(l.root, "add", "-f", ".")
		if files := l.files(l.paths()); len(files) < 2 {
			t.Errorf("%s with %v: tracked, and left out", c.at, c.files)
		}
	}
}

// TestHistoryThatBegins: a directory that was files becomes one that keeps commits, and
// the other way round, in a workspace that is watched.
func TestHistoryThatBegins(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	for _, path := range []string{".cfg/HEAD", ".cfg/objects/a", ".cfg/refs/a", ".cfg/config", ".hg/notes"} {
		l.write(path, "")
	}
	whole := map[string]string{"a": "a", ".cfg/HEAD": "", ".cfg/objects/a": "", ".cfg/refs/a": "", ".cfg/config": "", ".hg/notes": ""}
	l.wantFiles(l.walk(), whole)
	l.write(".cfg/index", "")
	l.write(".hg/requires", "")
	l.wantFiles(l.paths(".cfg/index", ".hg/requires"), map[string]string{"a": "a"})
	l.write(".cfg/objects/b", "")
	l.wantFiles(l.paths(".cfg/objects/b"), map[string]string{"a": "a"})
	l.must(os.Remove(l.path(".cfg/index")))
	l.must(os.Remove(l.path(".cfg/objects/b")))
	l.must(os.Remove(l.path(".hg/requires")))
	l.wantFiles(l.paths(".cfg/index", ".cfg/objects/b", ".hg/requires"), whole)
	l.write(".cfg/config", "[core]\n\tworktree = ..\n")
	without := maps.Clone(whole)
	maps.DeleteFunc(without, func(path, _ string) bool { return strings.HasPrefix(path, ".cfg/") })
	l.wantFiles(l.paths(".cfg/config"), without)
}
