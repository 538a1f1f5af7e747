package capture

import (
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// heldNow are the files and links that the Scanner knows to be captured.
func (l *lab) heldNow() (paths []string) {
	l.t.Helper()
	known := l.scanner.Known()
	_, err := known.WalkTree(known.Tree(), func(path string, e gitstore.TreeEntry) error {
		if !e.Mode.IsDir() {
			paths = append(paths, path)
		}
		return nil
	})
	l.must(err)
	return paths
}

// TestHeldStaysCaptured: what is captured stays so when a rule comes that would leave it
// out, whatever rule that is, as Git goes on with what it tracks. What is new does not
// come in, and what was removed is new when it comes again.
func TestHeldStaysCaptured(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(l *lab){
		".gitignore":           func(l *lab) { l.write(".gitignore", "*\n") },
		"a nested .gitignore":  func(l *lab) { l.write("src/.gitignore", "/a\n/deep/\n/new\n") },
		".umbraignore":         func(l *lab) { l.write(".umbraignore", "src/\n") },
		"info/exclude":         func(l *lab) { l.write(".git/info/exclude", "src\n") },
		"the user's excludes":  func(l *lab) { l.must(os.WriteFile(l.sources.Excludes, []byte("src/\n"), 0o600)) },
		"a pattern of secrets": func(l *lab) { l.sources.Settings.Secrets, l.rules = []string{"a", "b", "new"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{})
			l.gitInit()
			l.write("src/a", "a")
			l.write("src/deep/b", "b")
			l.walk()
			held := l.heldNow()
			rule(l)
			l.write("src/a", "changed")
			l.write("src/new", "new")
			check := func(how string, r *Result) {
				t.Helper()
				got := l.files(r)
				if _, in := got["src/new"]; in || got["src/a"] != "changed" || got["src/deep/b"] != "b" {
					t.Errorf("%s: captured %q", how, got)
				}
				recorded := l.recorded(r)
				for path, want := range map[string]bool{"src/a": true, "src/deep/b": true, "src/new": false} {
					if ok, _, err := recorded.Eligible(path, documents.Candidate{Mode: gitstore.ModeFile}); ok != want || err != nil {
						t.Errorf("%s: %s would be captured: %t %v", how, path, ok, err)
					}
				}
			}
			check("what is dirty", l.paths(".gitignore", "src", ".umbraignore"))
			check("again", l.walk())
			filter := NewFilter(l.rules, l.scanner.Known())
			if filter.Ignored("src") || filter.Ignored("src/deep") {
				t.Error("nobody would hear of changes")
			}
			workspace, saved := l.scanner.workspace, l.save(1)
			l.scanner = l.newScanner()
			check("without memory", l.capture(Dirty{All: true}, Options{Held: NewHeld(held)}))
			var err error
			l.scanner, err = OpenScanner(workspace, saved, 1)
			l.must(err)
			check("by a cache", l.walk())

			l.must(os.RemoveAll(l.path("src")))
			l.walk()
			rule(l)
			l.write("src/a", "again")
			if got := l.files(l.walk()); got["src/a"] != "" {
				t.Errorf("what was removed came back: %q", got)
			}
		})
	}
}

// TestHeldByAnotherCapture: what the snapshot before holds and the cache does not know
// of stays captured too; of one that can't be read nothing is known, and what a rule
// leaves out stays out.
func TestHeldByAnotherCapture(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write(".gitignore", "a\nd/\n")
	l.walk()
	l.write("a", "a")
	l.write("d/b", "b")
	l.write("d/c", "c")
	rules := map[string]string{".gitignore": "a\nd/\n"}
	l.wantFiles(l.capture(Dirty{All: true}, Options{Held: UnknownHeld()}), rules)
	l.wantFiles(l.capture(Dirty{All: true}, Options{Held: NewHeld([]string{"d/b", "a", "gone"})}), map[string]string{".gitignore": "a\nd/\n", "a": "a", "d/b": "b"})
}

// TestWithheldUnlessHeld: what is withheld stays out, but not where the snapshot before
// could not be read: it may hold the file.
func TestWithheldUnlessHeld(t *testing.T) {
	t.Parallel()
	withheld := []string{"a", "d/b"}
	for name, c := range map[string]struct {
		held *Held
		want map[string]string
	}{
		"no snapshot":         {NoHeld(), map[string]string{"c": "c"}},
		"a snapshot of one":   {NewHeld([]string{"d/b"}), map[string]string{"c": "c", "d/b": "b"}},
		"an unknown snapshot": {UnknownHeld(), map[string]string{"a": "a", "c": "c", "d/b": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{})
			l.write("a", "a")
			l.write("d/b", "b")
			l.write("c", "c")
			l.wantFiles(l.capture(Dirty{All: true}, Options{Held: c.held.Withholding(withheld)}), c.want)
		})
	}
}

// TestIncluding: what a restore is to replace is captured though a rule leaves it out and no
// snapshot before holds it, however little the capture looks at otherwise.
func TestIncluding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dirty   Dirty
		options Options
	}{
		"nothing is dirty": {},
		"a walk":           {dirty: Dirty{All: true}},
		"a walk by times":  {dirty: Dirty{All: true}, options: Options{ByTimes: true}},
		"a walk to verify": {dirty: Dirty{All: true}, options: Options{Verify: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{Secrets: []string{"key"}})
			l.write(".gitignore", "a\nd/\n")
			for _, path := range []string{"a", "d/deep/b", "d/deep/c", "key", "d/e/f/g"} {
				l.write(path, path)
			}
			rules := map[string]string{".gitignore": "a\nd/\n"}
			l.wantFiles(l.walk(), rules)
			l.wantFiles(l.walk(), rules)
			wanted := []string{"a", "d/deep/b", "key", "d/e/f", "gone", "a/below"}
			c.options.Held = NewHeld(nil).Including(wanted)
			r := l.capture(c.dirty, c.options)
			l.wantFiles(r, map[string]string{".gitignore": "a\nd/\n", "a": "a", "d/deep/b": "d/deep/b", "key": "key"})
			if len(r.Missed) > 0 || !r.HoldsAny(wanted) || r.HoldsAny([]string{"gone", "d/e/f", "d"}) {
				t.Errorf("missed %q", r.Missed)
			}
			if c.dirty.All {
				return
			}
			if filter := NewFilter(l.rules, l.scanner.Known()); !r.RulesChanged || filter.Ignored("d/deep") {
				t.Error("nobody would hear of changes")
			}
		})
	}
}
