package gitstore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// step is a random next state: files stay, are edited, go, come, move, and are
// edited and moved, some of them far from what they were.
func step(rnd *rand.Rand, before map[string]testFile) map[string]testFile {
	after := map[string]testFile{}
	dirs := []string{"", "a/", "b/", "a/deep/"}
	place := func(old string) string {
		for {
			name := baseName(old)
			if rnd.IntN(2) == 0 {
				name = fmt.Sprintf("f%d", rnd.IntN(40))
			}
			path := dirs[rnd.IntN(len(dirs))] + name
			if _, taken := after[path]; !taken {
				return path
			}
			old = fmt.Sprintf("f%d", rnd.IntN(1000))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		f := before[path]
		switch rnd.IntN(6) {
		case 0:
			continue
		case 1, 2:
			f.data = edited(rnd, f.data)
			path = place(path)
		case 3:
			path = place(path)
		case 4:
			f.data = edited(rnd, f.data)
		}
		if _, taken := after[path]; taken {
			path = place(path)
		}
		if rnd.IntN(12) == 0 {
			f.mode = ModeFile + ModeExec - f.mode
		}
		after[path] = f
	}
	for range rnd.IntN(4) {
		after[place("f0")] = testFile{ModeFile, lines(rnd, rnd.IntN(30))}
	}
	return after
}

func lines(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		end := "\n"
		if rnd.IntN(9) == 0 {
			end = "\r\n"
		}
		fmt.Fprintf(&b, "%s %d%s", strings.Repeat("word ", rnd.IntN(30)), rnd.IntN(20), end)
	}
	return b.String()
}

// edited changes a few lines, or most.
func edited(rnd *rand.Rand, data string) string {
	kept, n := strings.SplitAfter(data, "\n"), 1+rnd.IntN(10)
	for i := range kept {
		if rnd.IntN(10) < n {
			kept[i] = lines(rnd, rnd.IntN(3))
		}
	}
	return strings.Join(kept, "")
}

// TestRenamesAgreeWithGit: over random histories the same names are paired as by git
// diff -M, with the same likeness.
func TestRenamesAgreeWithGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(5, 6))
	renamed, similar := 0, 0
	for range 60 {
		before := map[string]testFile{}
		for i := range 2 + rnd.IntN(12) {
			data := lines(rnd, rnd.IntN(30))
			if rnd.IntN(6) == 0 {
				data = "\x00" + data
			}
			before[fmt.Sprintf("f%d", i)] = testFile{[]Mode{ModeFile, ModeFile, ModeExec}[rnd.IntN(3)], data}
		}
		b := s.NewBatch()
		from := writeTree(t, b, before)
		to := writeTree(t, b, step(rnd, before))
		noErr(t, b.Flush(ctx))
		b.Discard()
		want := string(must[[]byte](t)(s.Git(ctx, "diff-tree", "-r", "-M", "--no-rename-empty", "--name-status", from.String(), to.String())))
		var got strings.Builder
		for _, f := range must[Differences](t)(s.DiffFiles(ctx, from, to, nil)).Files {
			if f.Type() == Renamed {
				fmt.Fprintf(&got, "R%03d\t%s\t%s\n", f.Similarity, f.OldPath, f.Path)
				if renamed++; f.Similarity < 100 {
					similar++
				}
				continue
			}
			fmt.Fprintf(&got, "%c\t%s\n", f.Type(), f.Path)
		}
		if strings.TrimSpace(got.String()) != strings.TrimSpace(want) {
			t.Fatalf("it is\n%swant\n%s", got.String(), want)
		}
	}
	if similar < 50 || renamed-similar < 20 {
		t.Errorf("only %d renames were tried, %d of edited files", renamed, similar)
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
	d := must[Differences](t)(s.DiffFiles(ctx, from, to, nil))
	names := map[string]string{}
	for _, f := range d.Files {
		if f.OldPath != "" {
			names[f.Path] = f.OldPath
		}
	}
	if want := map[string]string{"b/other": "a/same", "b/alone": "a/alone"}; !maps.Equal(names, want) || d.Unpaired != renameLimit+1 {
		t.Errorf("renamed are %v and %d were not compared, want %v and %d", names, d.Unpaired, want, renameLimit+1)
	}
	few := func(r Rename) bool { return r.Path == "old/7" || r.Path == "new/7.txt" }
	d = must[Differences](t)(s.DiffFiles(ctx, from, to, few))
	if len(d.Files) != 1 || d.Files[0].OldPath != "old/7" || d.Unpaired != 0 || d.Files[0].LinesAdded != 1 {
		t.Errorf("of one file that was asked for: %+v", d)
	}
}
