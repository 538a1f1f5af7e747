package merge_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// lines is a text of ten lines, some of them changed.
func lines(changed map[int]string) string {
	var b strings.Builder
	for n := range 10 {
		if text, ok := changed[n]; ok {
			b.WriteString(text + "\n")
		} else {
			b.WriteString("line " + string(rune('0'+n)) + "\n")
		}
	}
	return b.String()
}

type files map[string]string

func writeTree(t *testing.T, s *shadow.Store, f files) gitstore.ID {
	t.Helper()
	batch := s.NewBatch()
	all := map[string]storetest.File{}
	for path, data := range f {
		all[path] = storetest.File{Mode: gitstore.ModeFile, Data: data}
	}
	id := storetest.WriteTree(t, batch, all)
	storetest.NoErr(t, batch.Flush(t.Context()))
	return id
}

func readTree(t *testing.T, s *shadow.Store, tree gitstore.ID) files {
	t.Helper()
	f := files{}
	storetest.NoErr(t, s.WalkTree(tree, func(path string, e gitstore.TreeEntry) error {
		if e.Mode.IsDir() {
			return nil
		}
		data, err := s.Blob(e.ID)
		f[path] = string(data)
		return err
	}))
	return f
}

func TestTrees(t *testing.T) {
	t.Parallel()
	base := files{"a": lines(nil), "b": "b\n", "dir/c": "c\n", "odd\xff\t": "odd\n", "gone": "gone\n"}
	with := func(change files, without ...string) files {
		out := files{}
		for path, data := range base {
			if !slices.Contains(without, path) {
				out[path] = data
			}
		}
		for path, data := range change {
			out[path] = data
		}
		return out
	}
	for _, c := range []struct {
		name             string
		ours, theirs     files
		want             files
		taken, conflicts []string
		preferOurs       bool
	}{
		{name: "only theirs", ours: base, theirs: with(files{"b": "B\n"}), want: with(files{"b": "B\n"})},
		{name: "only ours", ours: with(files{"b": "B\n"}, "gone"), theirs: base, want: with(files{"b": "B\n"}, "gone"), taken: []string{"b", "gone"}},
		{name: "the same", ours: with(files{"b": "B\n"}), theirs: with(files{"b": "B\n"}), want: with(files{"b": "B\n"})},
		{
			name: "other files", ours: with(files{"odd\xff\t": "ours\n", "new/x": "x\n"}, "gone"), theirs: with(files{"b": "B\n"}, "dir/c"),
			want: with(files{"odd\xff\t": "ours\n", "new/x": "x\n", "b": "B\n"}, "gone", "dir/c"), taken: []string{"gone", "new/x", "odd\xff\t"},
		},
		{
			name: "other lines", ours: with(files{"a": lines(map[int]string{1: "ours"})}), theirs: with(files{"a": lines(map[int]string{8: "theirs"})}),
			want: with(files{"a": lines(map[int]string{1: "ours", 8: "theirs"})}), taken: []string{"a"},
		},
		{
			name: "the same lines", ours: with(files{"a": lines(map[int]string{1: "ours"}), "b": "B\n"}), theirs: with(files{"a": lines(map[int]string{1: "theirs"})}),
			want: with(files{"a": lines(map[int]string{1: "theirs"}), "b": "B\n"}), taken: []string{"b"}, conflicts: []string{"a"},
		},
		{
			name: "the same lines, ours", preferOurs: true,
			ours: with(files{"a": lines(map[int]string{1: "ours"})}), theirs: with(files{"a": lines(map[int]string{1: "theirs"}), "b": "B\n"}),
			want: with(files{"a": lines(map[int]string{1: "ours"}), "b": "B\n"}), conflicts: []string{"a"},
		},
		{
			name: "renamed by one, changed by the other", ours: with(files{"moved": lines(nil)}, "a"), theirs: with(files{"a": lines(map[int]string{8: "theirs"})}),
			want: with(files{"moved": lines(map[int]string{8: "theirs"})}, "a"), taken: []string{"a", "moved"},
		},
		{
			name: "renamed by one, changed by both, ours", preferOurs: true,
			ours: with(files{"a": lines(map[int]string{1: "ours"})}), theirs: with(files{"moved": lines(map[int]string{1: "theirs"})}, "a"),
			want:      with(files{"a": lines(map[int]string{1: "ours"}), "moved": lines(map[int]string{1: "theirs"})}),
			conflicts: []string{"a"},
		},
		{
			name: "deleted by one, changed by the other", ours: with(nil, "b"), theirs: with(files{"b": "B\n"}),
			want: with(files{"b": "B\n"}), conflicts: []string{"b"},
		},
		{
			name: "deleted by one, changed by the other, ours", preferOurs: true, ours: with(nil, "b"), theirs: with(files{"b": "B\n"}),
			want: with(nil, "b"), conflicts: []string{"b"},
		},
		{
			name: "a file here, a directory there", ours: with(files{"x": "file\n"}), theirs: with(files{"x/y": "y\n"}),
			want: with(files{"x/y": "y\n"}), conflicts: []string{"x"},
		},
		{
			name: "a file here, a directory there, ours", preferOurs: true, ours: with(files{"x": "file\n"}), theirs: with(files{"x/y": "y\n"}),
			want: with(files{"x": "file\n"}), conflicts: []string{"x"},
		},
		{
			name: "renamed by both", ours: with(files{"mine": lines(nil)}, "a"), theirs: with(files{"moved": lines(nil)}, "a"),
			want: with(files{"mine": lines(nil), "moved": lines(nil)}, "a"), taken: []string{"mine"},
		},
		{
			name: "renamed by both, ours", preferOurs: true, ours: with(files{"mine": lines(nil)}, "a"), theirs: with(files{"moved": lines(nil)}, "a"),
			want: with(files{"mine": lines(nil), "moved": lines(nil)}, "a"), taken: []string{"mine"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			sides := merge.Sides{Base: writeTree(t, s, base), Ours: writeTree(t, s, c.ours), Theirs: writeTree(t, s, c.theirs)}
			got, err := merge.Trees(t.Context(), s, sides, c.preferOurs)
			storetest.NoErr(t, err)
			if want := writeTree(t, s, c.want); got.Tree != want {
				t.Errorf("merged %q, want %q", readTree(t, s, got.Tree), c.want)
			}
			if !slices.Equal(got.Taken, c.taken) || !slices.Equal(got.Conflicts, c.conflicts) {
				t.Errorf("taken %q, conflicts %q; want %q, %q", got.Taken, got.Conflicts, c.taken, c.conflicts)
			}
			storetest.Fsck(t, s)
		})
	}
}

// TestDirectoryBesideConflict: one side makes a directory of a file, and another file
// conflicts. Nothing of the directory is lost, in whatever order its paths are merged.
func TestDirectoryBesideConflict(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	base := writeTree(t, s, files{"a": "a\n", "f": "f\n"})
	made := writeTree(t, s, files{"a/b": "b\n", "a/c": "c\n", "f": "made\n"})
	other := writeTree(t, s, files{"a": "a\n", "f": "other\n"})
	for range 50 {
		for _, c := range []struct {
			sides      merge.Sides
			preferOurs bool
		}{{merge.Sides{Base: base, Ours: made, Theirs: other}, false}, {merge.Sides{Base: base, Ours: other, Theirs: made}, true}} {
			got := storetest.Must[merge.Result](t)(merge.Trees(t.Context(), s, c.sides, c.preferOurs))
			if want := writeTree(t, s, files{"a/b": "b\n", "a/c": "c\n", "f": "other\n"}); got.Tree != want || !slices.Equal(got.Conflicts, []string{"f"}) {
				t.Fatalf("merged to %q, conflicts %q", readTree(t, s, got.Tree), got.Conflicts)
			}
		}
	}
}

// TestAgainstGit holds merges of random trees against git's own: where git finds no
// conflict, the tree is git's.
func TestAgainstGit(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	clean := 0
	for n := range 40 {
		batch := s.NewBatch()
		base := storetest.RandomTree(rnd)
		var sides merge.Sides
		sides.Base = storetest.WriteTree(t, batch, base)
		for _, side := range []*gitstore.ID{&sides.Ours, &sides.Theirs} {
			changed := map[string]storetest.File{}
			for path, f := range base {
				if rnd.IntN(8) > 0 {
					changed[path] = f
				}
				if rnd.IntN(8) == 0 {
					changed[path] = storetest.File{Mode: gitstore.ModeFile, Data: f.Data + "more\n"}
				}
			}
			*side = storetest.WriteTree(t, batch, changed)
		}
		storetest.NoErr(t, batch.Flush(t.Context()))
		got, err := merge.Trees(t.Context(), s, sides, n%2 == 0)
		storetest.NoErr(t, err)
		want, ok := gitMerge(t, s, sides)
		if ok && len(got.Conflicts) > 0 {
			t.Errorf("%d: conflicts %q; git has none", n, got.Conflicts)
		}
		if ok && got.Tree != want {
			t.Errorf("%d: %s, git merges to %s", n, got.Tree, want)
		}
		if ok {
			clean++
		}
	}
	if clean == 0 {
		t.Error("no merge of all was clean: nothing was compared")
	}
}

// gitMerge merges by the git program, in the repository itself.
func gitMerge(t *testing.T, s *shadow.Store, sides merge.Sides) (tree gitstore.ID, clean bool) {
	t.Helper()
	commit := func(tree gitstore.ID, parents ...string) string {
		args := []string{"commit-tree", tree.String(), "-m", "a side"}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return strings.TrimSpace(string(storetest.Must[[]byte](t)(s.Git(t.Context(), args...))))
	}
	base := commit(sides.Base)
	out, err := s.Git(context.Background(), "-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "--no-messages",
		commit(sides.Ours, base), commit(sides.Theirs, base))
	first, _, _ := bytes.Cut(out, []byte("\n"))
	return storetest.Must[gitstore.ID](t)(gitstore.ParseID(string(first))), err == nil
}

func TestModes(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	base := &documents.Modes{
		File: documents.KnownPerm(0o644), Unusual: map[string]uint32{"ours": 0o600, "theirs": 0o600, "both": 0o600, "back": 0o600},
		Empty: []string{"filled", "removed", "stays"},
	}
	ours := &documents.Modes{
		File: documents.KnownPerm(0o644), Unusual: map[string]uint32{"ours": 0o640, "theirs": 0o600, "both": 0o640},
		Empty: []string{"new", "removed", "stays", "taken/below"},
	}
	theirs := &documents.Modes{
		File: documents.KnownPerm(0o644), Unusual: map[string]uint32{"ours": 0o600, "theirs": 0o660, "both": 0o660, "back": 0o600},
		Empty: []string{"filled", "held", "stays"},
	}
	all := writeTree(t, s, files{"ours": "", "theirs": "", "both": "", "back": ""})
	tree := writeTree(t, s, files{"filled/x": "x\n", "held/x": "x\n", "taken": "a file\n"})
	got := storetest.Must[*documents.Modes](t)(merge.Modes(s, tree, merge.SideModes{Tree: all, Modes: base}, merge.SideModes{Tree: all, Modes: ours},
		merge.SideModes{Tree: all, Modes: theirs}))
	want := &documents.Modes{
		File: documents.KnownPerm(0o644), Unusual: map[string]uint32{"ours": 0o640, "theirs": 0o660, "both": 0o660},
		Empty: []string{"new", "stays"},
	}
	if !bytes.Equal(got.Document(), want.Document()) {
		t.Errorf("merged modes:\n%s\nwant:\n%s", got.Document(), want.Document())
	}
}

func TestNoGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	s := storetest.New(t)
	sides := merge.Sides{
		Base: writeTree(t, s, files{"a": "1\n"}), Ours: writeTree(t, s, files{"a": "1\n", "b": "2\n"}),
		Theirs: writeTree(t, s, files{"a": "3\n"}),
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := merge.Trees(t.Context(), s, sides, false); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("without git: %v", err)
	}
}

// TestModesOfMost: a side that has changed the permissions of most of its files has changed
// those of each of them, and of no file that only the other side has.
func TestModesOfMost(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	perm := func(file uint32, unusual map[string]uint32) *documents.Modes {
		return &documents.Modes{File: documents.KnownPerm(file), Directory: documents.KnownPerm(0o755), Unusual: unusual}
	}
	base := merge.SideModes{Tree: writeTree(t, s, files{"a": "1\n", "b": "1\n", "d/c": "1\n", "kept": "1\n"}), Modes: perm(0o644, map[string]uint32{"kept": 0o600})}
	closed := merge.SideModes{
		Tree:  writeTree(t, s, files{"a": "1\n", "b": "1\n", "d/c": "1\n", "kept": "1\n", "theirs": "1\n"}),
		Modes: perm(0o600, map[string]uint32{"d/c": 0o644}),
	}
	added := merge.SideModes{
		Tree:  writeTree(t, s, files{"a": "1\n", "b": "1\n", "d/c": "1\n", "kept": "1\n", "ours": "1\n"}),
		Modes: perm(0o644, map[string]uint32{"b": 0o640, "kept": 0o600}),
	}
	tree := writeTree(t, s, files{"a": "1\n", "b": "1\n", "d/c": "1\n", "kept": "1\n", "ours": "1\n", "theirs": "1\n"})
	want := map[string]uint32{"a": 0o600, "b": 0o640, "d/c": 0o644, "kept": 0o600, "ours": 0o644, "theirs": 0o600}
	for name, sides := range map[string][2]merge.SideModes{"it is merged": {closed, added}, "it is merged into": {added, closed}} {
		want["b"], _ = sides[1].Perm("b", gitstore.ModeFile).Known() // both changed it: the second keeps what it has
		got := storetest.Must[*documents.Modes](t)(merge.Modes(s, tree, base, sides[0], sides[1]))
		for path, bits := range want {
			if perm := got.Perm(path, gitstore.ModeFile); perm != documents.KnownPerm(bits) {
				text, _ := perm.MarshalText()
				t.Errorf("%s: %s has %s, not %o", name, path, text, bits)
			}
		}
	}
}
