package usergit

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func changes(staged []StagedEntry) string {
	var list []string
	for _, s := range staged {
		list = append(list, fmt.Sprintf("%s %s", s.Change, s.Path))
	}
	return fmt.Sprint(list)
}

// staged reads the staged state and holds it against git diff-index.
func (r *testRepo) staged() []StagedEntry {
	r.t.Helper()
	index := r.sameAsLsFiles()
	head, err := r.discover().Head()
	if err != nil {
		r.t.Fatal(err)
	}
	staged, err := Staged(r.objects(), r.tree(head), index)
	if err != nil {
		r.t.Fatal(err)
	}
	var got []string
	for _, s := range staged {
		switch s.Change {
		case Added, Modified, Intended:
			got = append(got, fmt.Sprintf("%s %s %q", s.Mode, s.ID, s.Path))
		case Deleted:
			got = append(got, fmt.Sprintf("%s %s %q", Mode(0), strings.Repeat("0", 2*r.discover().Format.Size()), s.Path))
		}
	}
	out := r.git("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "HEAD")
	var want []string
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(fields[i])
		if meta[4] != "U" {
			want = append(want, fmt.Sprintf("%s %s %q", meta[1], meta[3], fields[i+1]))
		}
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		r.t.Fatalf("staged is\n%s\ngit says\n%s", a, b)
	}
	return staged
}

func TestStagedConflictIntentGitlink(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := newRepo(t, "--object-format="+format)
			r.conflict()
			r.commit("kept", "x")
			head := r.commit("gone", "x")
			r.fails("merge", "other")
			r.write("intended", "x")
			r.git("add", "-N", "intended")
			r.git("update-index", "--force-remove", "gone")
			r.git("update-index", "--add", "--cacheinfo", "160000,"+head+",module")
			r.git("update-index", "--chmod=+x", "kept")
			if err := os.Symlink("kept", filepath.Join(r.dir, "link")); err != nil {
				t.Fatal(err)
			}
			r.git("add", "link")
			staged := r.staged()
			want := "[conflicted f conflicted f conflicted f deleted gone intent-to-add intended modified kept added link added module]"
			if got := changes(staged); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			for i := range 3 {
				if staged[i].Stage != i+1 || staged[i].ID.IsZero() {
					t.Errorf("stage %+v", staged[i])
				}
			}
			if module := staged[len(staged)-1]; module.Mode != ModeGitlink || module.ID.String() != head {
				t.Errorf("gitlink %+v", module)
			}
			r.untouched()
		})
	}
}

func TestStagedUnborn(t *testing.T) {
	r := newRepo(t)
	r.write("a/b", "x")
	r.git("add", ".")
	staged, err := Staged(r.objects(), ID{}, r.sameAsLsFiles())
	if err != nil || changes(staged) != "[added a/b]" {
		t.Errorf("%s, %v", changes(staged), err)
	}
	r.untouched()
}

// Random edits of the index, files becoming directories among them, with and
// without Git's cache of trees.
func TestStagedAgainstGit(t *testing.T) {
	r := newRepo(t)
	names := []string{"a", "a-", "a.b", "a0", "b", "é", "\xff"}
	random := rand.New(rand.NewSource(1))
	path := func() string {
		parts := make([]string, 1+random.Intn(3))
		for i := range parts {
			parts[i] = names[random.Intn(len(names))]
		}
		return strings.Join(parts, "/")
	}
	var blobs []string
	for i := range 5 {
		blobs = append(blobs, r.gitIn(fmt.Sprint(i), "hash-object", "-w", "--stdin"))
	}
	for range 25 {
		var edits strings.Builder
		for range 1 + random.Intn(6) {
			mode := []string{"0", "100755", "100644", "100644"}[random.Intn(4)]
			fmt.Fprintf(&edits, "%s %s\t%s\x00", mode, blobs[random.Intn(len(blobs))], path())
		}
		r.gitIn(edits.String(), "update-index", "--replace", "-z", "--index-info")
		if random.Intn(3) == 0 {
			r.git("commit", "-q", "--allow-empty", "-m", "x")
		}
		if _, err := r.try("rev-parse", "-q", "--verify", "HEAD"); err == nil {
			r.staged()
		}
	}
	r.untouched()
}

// noTrees fails when any tree but the given one is read.
type noTrees struct {
	gitObjects
	only ID
}

func (o noTrees) Tree(id ID) ([]TreeEntry, error) {
	if id != o.only {
		return nil, errors.New("a tree that need not be read")
	}
	return o.gitObjects.Tree(id)
}

func TestStagedReadsOnlyWhatChanged(t *testing.T) {
	r := newRepo(t)
	for i := range 9 {
		r.write(fmt.Sprintf("d%d/x/f", i), "x")
	}
	r.write("top", "x")
	r.git("add", ".")
	r.git("commit", "-q", "-m", "all")
	head, err := r.discover().Head()
	if err != nil {
		t.Fatal(err)
	}
	objects := noTrees{gitObjects: r.objects()}
	if staged, err := Staged(objects, r.tree(head), r.sameAsLsFiles()); err != nil || len(staged) != 0 {
		t.Errorf("nothing staged: %v, %v", staged, err)
	}
	r.write("top", "y")
	r.git("add", "top")
	objects.only = r.tree(head)
	if staged, err := Staged(objects, r.tree(head), r.sameAsLsFiles()); err != nil || changes(staged) != "[modified top]" {
		t.Errorf("one file staged: %v, %v", changes(staged), err)
	}
}
