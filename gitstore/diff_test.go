package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// writeTree stores files given as path -> mode and content.
func writeTree(t testing.TB, b *Batch, files map[string]testFile) ID {
	t.Helper()
	below := map[string]map[string]testFile{}
	var entries []TreeEntry
	for path, f := range files {
		dir, rest, nested := strings.Cut(path, "/")
		if !nested {
			entries = append(entries, TreeEntry{Name: path, Mode: f.mode, ID: must[ID](t)(b.Blob([]byte(f.data)))})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]testFile{}
		}
		below[dir][rest] = f
	}
	for dir, files := range below {
		entries = append(entries, TreeEntry{Name: dir, Mode: ModeDir, ID: writeTree(t, b, files)})
	}
	return must[ID](t)(b.Tree(entries))
}

type testFile struct {
	mode Mode
	data string
}

// randomTree makes trees in which names collide, files and directories too.
func randomTree(rnd *rand.Rand) map[string]testFile {
	files := map[string]testFile{}
	names := []string{"a", "b", "a.b", "a-b", "a0", "sp ace", "tab\t", "ü", "q\"uote", "back\\slash", "\xff\xfe"}
	for range rnd.IntN(12) {
		var parts []string
		for range 1 + rnd.IntN(3) {
			parts = append(parts, names[rnd.IntN(len(names))])
		}
		path := strings.Join(parts, "/")
		clash := false
		for other := range files {
			clash = clash || strings.HasPrefix(other+"/", path+"/") || strings.HasPrefix(path+"/", other+"/")
		}
		if clash {
			continue
		}
		mode := []Mode{ModeFile, ModeFile, ModeExec, ModeSymlink}[rnd.IntN(4)]
		var data strings.Builder
		for range rnd.IntN(30) {
			fmt.Fprintf(&data, "line %d\n", rnd.IntN(12))
		}
		if rnd.IntN(2) == 0 || mode == ModeSymlink {
			data.WriteString("no newline")
		}
		content := data.String()
		if mode == ModeSymlink {
			content = strings.ReplaceAll(content, "\n", " ")
		}
		files[path] = testFile{mode, content}
	}
	return files
}

func TestDiffTreesAgreesWithGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		b := s.NewBatch()
		from, to := writeTree(t, b, randomTree(rnd)), writeTree(t, b, randomTree(rnd))
		noErr(t, b.Flush(ctx))
		b.Discard()
		var got strings.Builder
		noErr(t, s.DiffTrees(from, to, func(c Change) error {
			fmt.Fprintf(&got, ":%06o %06o %s %s %c\x00%s\x00", uint32(c.From.Mode), uint32(c.To.Mode), c.From.ID, c.To.ID, c.Type(), c.Path)
			return nil
		}))
		want := must[[]byte](t)(s.Git(ctx, "diff-tree", "-r", "-z", "--no-renames", from.String(), to.String()))
		if got.String() != string(want) {
			t.Fatalf("got  %q\nwant %q", got.String(), want)
		}
	}
}

// TestDiffTreesIn enters only the directories that it may.
func TestDiffTreesIn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rnd := rand.New(rand.NewPCG(5, 7))
	for range 20 {
		b := s.NewBatch()
		from, to := writeTree(t, b, randomTree(rnd)), writeTree(t, b, randomTree(rnd))
		noErr(t, b.Flush(context.Background()))
		b.Discard()
		allowed := map[string]bool{}
		enter := func(dir string) bool {
			if _, asked := allowed[dir]; !asked {
				allowed[dir] = dir == "" || rnd.IntN(3) > 0
			}
			return allowed[dir]
		}
		var got, want []string
		noErr(t, s.DiffTreesIn(from, to, enter, func(c Change) error {
			got = append(got, c.Path)
			return nil
		}))
		noErr(t, s.DiffTrees(from, to, func(c Change) error {
			ok := true
			for at, b := range c.Path {
				ok = ok && (b != '/' || enter(c.Path[:at]))
			}
			if ok {
				want = append(want, c.Path)
			}
			return nil
		}))
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}

// TestDiffer: of any trees, one after the other, git makes the later one of the earlier
// one and the patch, and the lines that are counted are those of the patch.
func TestDiffer(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(7, 8))
	d, index := s.Differ(ctx, DiffPatch), filepath.Join(t.TempDir(), "index")
	defer d.Close()
	for range 20 {
		b := s.NewBatch()
		from, to := writeTree(t, b, randomTree(rnd)), writeTree(t, b, randomTree(rnd))
		noErr(t, b.Flush(ctx))
		b.Discard()
		diff := must[Differences](t)(d.Trees(from, to))
		names := s.Differ(ctx, DiffNames)
		listed := must[Differences](t)(names.Trees(from, to))
		names.Close()
		added, deleted := 0, 0
		for i, f := range diff.Files {
			added, deleted = added+f.LinesAdded, deleted+f.LinesDeleted
			if l := listed.Files[i]; l.Path != f.Path || l.Change != f.Change || l.OldPath != f.OldPath {
				t.Errorf("by names %+v, with its lines %+v", l, f)
			}
		}
		if diff.Patch == "" {
			continue
		}
		git := func(args ...string) string {
			t.Helper()
			out, err := git.Run(ctx, git.Command{
				Dir: s.Dir(), GitDir: s.Dir(), Env: []string{"GIT_INDEX_FILE=" + index},
				Stdin: strings.NewReader(diff.Patch), Args: args,
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, diff.Patch)
			}
			return strings.TrimSpace(string(out))
		}
		git("read-tree", from.String())
		for line := range strings.Lines(git("apply", "--numstat", "-")) {
			var more, fewer int
			if _, err := fmt.Sscan(line, &more, &fewer); err != nil {
				t.Fatal(line, err)
			}
			added, deleted = added-more, deleted-fewer
		}
		if added != 0 || deleted != 0 {
			t.Errorf("counted %+d lines and %+d that are not in the patch:\n%s", added, deleted, diff.Patch)
		}
		git("apply", "--cached", "--whitespace=nowarn", "-")
		if got := git("write-tree"); got != to.String() {
			t.Fatalf("patch gives %s, want %s:\n%s", got, to, diff.Patch)
		}
	}
}

func TestDifferCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := writeTree(t, b, map[string]testFile{
		"keep": {ModeFile, "same\n"}, "edit": {ModeFile, "1\n2\n3\n"}, "gone": {ModeFile, "a\nb\n"},
		"move": {ModeFile, "moved\n"}, "bin": {ModeFile, "\x00\x01"}, "empty": {ModeFile, ""},
	})
	to := writeTree(t, b, map[string]testFile{
		"keep": {ModeFile, "same\n"}, "edit": {ModeExec, "1\nTWO\n3\n4\n"}, "made\n": {ModeFile, "x\n"},
		"dir/move": {ModeFile, "moved\n"}, "bin": {ModeFile, "\x00\x02"}, "void": {ModeFile, ""},
	})
	noErr(t, b.Flush(ctx))
	counted := func(a, b ID, paths ...string) string {
		t.Helper()
		d := s.Differ(ctx, DiffLines, paths...)
		defer d.Close()
		var list []string
		for _, f := range must[Differences](t)(d.Trees(a, b)).Files {
			list = append(list, fmt.Sprintf("%c %q %q +%d -%d %t", f.Type(), f.OldPath, f.Path, f.LinesAdded, f.LinesDeleted, f.Binary))
		}
		return strings.Join(list, "\n")
	}
	want := `M "" "bin" +0 -0 true
R "move" "dir/move" +0 -0 false
M "" "edit" +2 -1 false
D "" "empty" +0 -0 false
D "" "gone" +0 -2 false
A "" "made\n" +1 -0 false
A "" "void" +0 -0 false`
	if got := counted(from, to); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	if got := counted(from, to, "dir", "gone", "*"); got != `A "" "dir/move" +1 -0 false`+"\n"+`D "" "gone" +0 -2 false` {
		t.Errorf("of some paths it is\n%s", got)
	}
	if got := counted(ID{}, from, "edit"); got != `A "" "edit" +3 -0 false` {
		t.Errorf("of a first tree it is\n%s", got)
	}
	if got := counted(to, to); got != "" {
		t.Errorf("of one tree it is\n%s", got)
	}
}

// TestDifferAfterDamage: what is lost fails one comparison, with what git says of it,
// and not the next; and what nobody asks for is not read.
func TestDifferAfterDamage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := writeTree(t, b, map[string]testFile{"edit": {ModeFile, "1\n"}, "lost": {ModeFile, "a\n"}})
	to := writeTree(t, b, map[string]testFile{"edit": {ModeFile, "1\n2\n"}, "lost": {ModeFile, "b\n"}})
	next := writeTree(t, b, map[string]testFile{"edit": {ModeFile, "1\n2\n"}, "lost": {ModeFile, "a\n"}})
	noErr(t, b.Flush(ctx))
	lost := HashObject(TypeBlob, []byte("b\n")).String()
	noErr(t, os.Remove(filepath.Join(s.Dir(), "objects", lost[:2], lost[2:])))
	d := s.Differ(ctx, DiffPatch)
	defer d.Close()
	if _, err := d.Trees(from, to); err == nil || !strings.Contains(err.Error(), lost) {
		t.Fatalf("of a lost file it says %v", err)
	}
	if diff := must[Differences](t)(d.Trees(from, next)); len(diff.Files) != 1 || !strings.HasSuffix(diff.Patch, "@@ -1 +1,2 @@\n 1\n+2\n") {
		t.Errorf("after it: %+v", diff)
	}
	some := s.Differ(ctx, DiffLines, "edit")
	defer some.Close()
	if diff := must[Differences](t)(some.Trees(from, to)); len(diff.Files) != 1 || diff.Files[0].LinesAdded != 1 {
		t.Errorf("beside it: %+v", diff)
	}
	ended, end := context.WithCancel(ctx)
	late := s.Differ(ended, DiffLines)
	defer late.Close()
	end()
	if _, err := late.Trees(from, to); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end it says %v", err)
	}
}

// TestDifferOfScratch: a scratch's own objects are compared with the repository's.
func TestDifferOfScratch(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := writeTree(t, b, map[string]testFile{"edit": {ModeFile, "1\n"}})
	noErr(t, b.Flush(ctx))
	scratch := must[*Store](t)(s.Scratch())
	defer scratch.Close()
	present := scratch.NewBatch()
	defer present.Discard()
	to := writeTree(t, present, map[string]testFile{"edit": {ModeFile, "1\n2\n"}})
	noErr(t, present.Flush(ctx))
	d := scratch.Differ(ctx, DiffLines)
	defer d.Close()
	if diff := must[Differences](t)(d.Trees(from, to)); len(diff.Files) != 1 || diff.Files[0].LinesAdded != 1 {
		t.Errorf("it is %+v", diff)
	}
}

// TestRenamesAreBounded: where too many files went and came, those that were edited
// are left as they are, which is said; those of the same content, and those that
// alone have their name, are paired all the same.
func TestRenamesAreBounded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	before, after := map[string]testFile{}, map[string]testFile{}
	for i := range renameLimit + 1 {
		data := fmt.Sprintf("file %d\nhas\nthree lines\n", i)
		before[fmt.Sprintf("old/%d", i)], after[fmt.Sprintf("new/%d.txt", i)] = testFile{ModeFile, data}, testFile{ModeFile, data + "more\n"}
	}
	before["a/same"], after["b/other"] = testFile{ModeFile, "the same\n"}, testFile{ModeFile, "the same\n"}
	before["a/alone"], after["b/alone"] = testFile{ModeFile, "1\n2\n3\n4\n5\n"}, testFile{ModeFile, "1\n2\n3\n4\n5\n6\n"}
	b := s.NewBatch()
	defer b.Discard()
	from, to := writeTree(t, b, before), writeTree(t, b, after)
	noErr(t, b.Flush(ctx))
	d := s.Differ(ctx, DiffNames)
	defer d.Close()
	diff := must[Differences](t)(d.Trees(from, to))
	names := map[string]string{}
	for _, f := range diff.Files {
		if f.OldPath != "" {
			names[f.Path] = f.OldPath
		}
	}
	if want := map[string]string{"b/other": "a/same", "b/alone": "a/alone"}; !maps.Equal(names, want) || diff.Unpaired != renameLimit+1 {
		t.Errorf("renamed are %v and %d were not compared, want %v and %d", names, diff.Unpaired, want, renameLimit+1)
	}
	few := s.Differ(ctx, DiffLines, "old/7", "new/7.txt")
	defer few.Close()
	diff = must[Differences](t)(few.Trees(from, to))
	if len(diff.Files) != 1 || diff.Files[0].OldPath != "old/7" || diff.Unpaired != 0 || diff.Files[0].LinesAdded != 1 {
		t.Errorf("of one file that was asked for: %+v", diff)
	}
}
