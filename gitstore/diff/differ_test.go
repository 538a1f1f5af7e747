package diff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestDiffer: of any trees, one after the other, git makes the later one of the earlier
// one and the patch, and the lines that are counted are those of the patch.
func TestDiffer(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(7, 8))
	d, index := New(ctx, s, Patch), filepath.Join(t.TempDir(), "index")
	defer d.Close()
	for range 20 {
		b := s.NewBatch()
		from, to := storetest.WriteTree(t, b, storetest.RandomTree(rnd)), storetest.WriteTree(t, b, storetest.RandomTree(rnd))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		diff := storetest.Must[Differences](t)(d.Trees(from, to))
		names := New(ctx, s, Names)
		listed := storetest.Must[Differences](t)(names.Trees(from, to))
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
	s := storetest.New(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := storetest.WriteTree(t, b, map[string]storetest.File{
		"keep": {Mode: gitstore.ModeFile, Data: "same\n"}, "edit": {Mode: gitstore.ModeFile, Data: "1\n2\n3\n"}, "gone": {Mode: gitstore.ModeFile, Data: "a\nb\n"},
		"move": {Mode: gitstore.ModeFile, Data: "moved\n"}, "bin": {Mode: gitstore.ModeFile, Data: "\x00\x01"}, "empty": {Mode: gitstore.ModeFile, Data: ""},
	})
	to := storetest.WriteTree(t, b, map[string]storetest.File{
		"keep": {Mode: gitstore.ModeFile, Data: "same\n"}, "edit": {Mode: gitstore.ModeExec, Data: "1\nTWO\n3\n4\n"}, "made\n": {Mode: gitstore.ModeFile, Data: "x\n"},
		"dir/move": {Mode: gitstore.ModeFile, Data: "moved\n"}, "bin": {Mode: gitstore.ModeFile, Data: "\x00\x02"}, "void": {Mode: gitstore.ModeFile, Data: ""},
	})
	storetest.NoErr(t, b.Flush(ctx))
	counted := func(a, b gitstore.ID, paths ...string) string {
		t.Helper()
		d := New(ctx, s, Lines, paths...)
		defer d.Close()
		var list []string
		for _, f := range storetest.Must[Differences](t)(d.Trees(a, b)).Files {
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
	if got := counted(gitstore.ID{}, from, "edit"); got != `A "" "edit" +3 -0 false` {
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
	s := storetest.New(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := storetest.WriteTree(t, b, map[string]storetest.File{"edit": {Mode: gitstore.ModeFile, Data: "1\n"}, "lost": {Mode: gitstore.ModeFile, Data: "a\n"}})
	to := storetest.WriteTree(t, b, map[string]storetest.File{"edit": {Mode: gitstore.ModeFile, Data: "1\n2\n"}, "lost": {Mode: gitstore.ModeFile, Data: "b\n"}})
	next := storetest.WriteTree(t, b, map[string]storetest.File{"edit": {Mode: gitstore.ModeFile, Data: "1\n2\n"}, "lost": {Mode: gitstore.ModeFile, Data: "a\n"}})
	storetest.NoErr(t, b.Flush(ctx))
	lost := gitstore.HashObject(gitstore.TypeBlob, []byte("b\n")).String()
	storetest.NoErr(t, os.Remove(filepath.Join(s.Dir(), "objects", lost[:2], lost[2:])))
	d := New(ctx, s, Patch)
	defer d.Close()
	if _, err := d.Trees(from, to); err == nil || !strings.Contains(err.Error(), lost) {
		t.Fatalf("of a lost file it says %v", err)
	}
	if diff := storetest.Must[Differences](t)(d.Trees(from, next)); len(diff.Files) != 1 || !strings.HasSuffix(diff.Patch, "@@ -1 +1,2 @@\n 1\n+2\n") {
		t.Errorf("after it: %+v", diff)
	}
	some := New(ctx, s, Lines, "edit")
	defer some.Close()
	if diff := storetest.Must[Differences](t)(some.Trees(from, to)); len(diff.Files) != 1 || diff.Files[0].LinesAdded != 1 {
		t.Errorf("beside it: %+v", diff)
	}
	ended, end := context.WithCancel(ctx)
	late := New(ended, s, Lines)
	defer late.Close()
	end()
	if _, err := late.Trees(from, to); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end it says %v", err)
	}
}

// TestDifferOfScratch: a scratch's own objects are compared with the repository's.
func TestDifferOfScratch(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := storetest.WriteTree(t, b, map[string]storetest.File{"edit": {Mode: gitstore.ModeFile, Data: "1\n"}})
	storetest.NoErr(t, b.Flush(ctx))
	scratch := storetest.Must[*shadow.Store](t)(s.Scratch())
	defer scratch.Close()
	present := scratch.NewBatch()
	defer present.Discard()
	to := storetest.WriteTree(t, present, map[string]storetest.File{"edit": {Mode: gitstore.ModeFile, Data: "1\n2\n"}})
	storetest.NoErr(t, present.Flush(ctx))
	d := New(ctx, scratch, Lines)
	defer d.Close()
	if diff := storetest.Must[Differences](t)(d.Trees(from, to)); len(diff.Files) != 1 || diff.Files[0].LinesAdded != 1 {
		t.Errorf("it is %+v", diff)
	}
}

// TestRenamesAreBounded: where too many files went and came, those that were edited
// are left as they are, which is said; those of the same content, and those that
// alone have their name, are paired all the same.
func TestRenamesAreBounded(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	before, after := map[string]storetest.File{}, map[string]storetest.File{}
	for i := range renameLimit + 1 {
		data := fmt.Sprintf("file %d\nhas\nthree lines\n", i)
		before[fmt.Sprintf("old/%d", i)], after[fmt.Sprintf("new/%d.txt", i)] = storetest.File{Mode: gitstore.ModeFile, Data: data}, storetest.File{Mode: gitstore.ModeFile, Data: data + "more\n"}
	}
	before["a/same"], after["b/other"] = storetest.File{Mode: gitstore.ModeFile, Data: "the same\n"}, storetest.File{Mode: gitstore.ModeFile, Data: "the same\n"}
	before["a/alone"], after["b/alone"] = storetest.File{Mode: gitstore.ModeFile, Data: "1\n2\n3\n4\n5\n"}, storetest.File{Mode: gitstore.ModeFile, Data: "1\n2\n3\n4\n5\n6\n"}
	b := s.NewBatch()
	defer b.Discard()
	from, to := storetest.WriteTree(t, b, before), storetest.WriteTree(t, b, after)
	storetest.NoErr(t, b.Flush(ctx))
	d := New(ctx, s, Names)
	defer d.Close()
	diff := storetest.Must[Differences](t)(d.Trees(from, to))
	names := map[string]string{}
	for _, f := range diff.Files {
		if f.OldPath != "" {
			names[f.Path] = f.OldPath
		}
	}
	if want := map[string]string{"b/other": "a/same", "b/alone": "a/alone"}; !maps.Equal(names, want) || diff.Unpaired != renameLimit+1 {
		t.Errorf("renamed are %v and %d were not compared, want %v and %d", names, diff.Unpaired, want, renameLimit+1)
	}
	few := New(ctx, s, Lines, "old/7", "new/7.txt")
	defer few.Close()
	diff = storetest.Must[Differences](t)(few.Trees(from, to))
	if len(diff.Files) != 1 || diff.Files[0].OldPath != "old/7" || diff.Unpaired != 0 || diff.Files[0].LinesAdded != 1 {
		t.Errorf("of one file that was asked for: %+v", diff)
	}
}
