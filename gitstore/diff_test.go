package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// lcs is the length of the longest common subsequence, by the table.
func lcs(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diag := 0
		for j := range b {
			up := row[j+1]
			if bytes.Equal(a[i], b[j]) {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(row[j], up)
			}
			diag = up
		}
	}
	return row[len(b)]
}

func TestDiffLinesIsShortest(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		side := func() [][]byte {
			out := make([][]byte, rnd.IntN(30))
			for i := range out {
				out[i] = []byte{byte('a' + rnd.IntN(1+rnd.IntN(8))), '\n'}
			}
			return out
		}
		a, b := side(), side()
		kept, at := 0, 0
		var built [][]byte
		for _, e := range diffLines(a, b) {
			if e.aFrom != at {
				t.Fatalf("edits of %q and %q do not join", a, b)
			}
			at = e.aTo
			if e.equal {
				kept += e.aTo - e.aFrom
				built = append(built, a[e.aFrom:e.aTo]...)
			} else {
				built = append(built, b[e.bFrom:e.bTo]...)
			}
		}
		if !slices.EqualFunc(built, b, bytes.Equal) || at != len(a) {
			t.Fatalf("edits of %q do not give %q", a, b)
		}
		if want := lcs(a, b); kept != want {
			t.Fatalf("kept %d of %d lines of %q and %q", kept, want, a, b)
		}
	}
}

func TestDiffLinesIsBounded(t *testing.T) {
	t.Parallel()
	side := func(seed uint64) [][]byte {
		rnd := rand.New(rand.NewPCG(seed, 1))
		out := make([][]byte, 100_000)
		for i := range out {
			out[i] = []byte{byte('a' + rnd.IntN(20)), '\n'}
		}
		return out
	}
	start := time.Now()
	diffLines(side(1), side(2))
	if d := time.Since(start); d > patience.Of(time.Minute) {
		t.Errorf("took %v", d)
	}
}

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

func TestWriteDiffApplies(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(7, 8))
	for i := range 20 {
		b := s.NewBatch()
		from, to := writeTree(t, b, randomTree(rnd)), writeTree(t, b, randomTree(rnd))
		noErr(t, b.Flush(ctx))
		b.Discard()
		files := must[Differences](t)(s.DiffFiles(ctx, from, to, nil)).Files
		var patch bytes.Buffer
		noErr(t, s.WriteDiff(ctx, &patch, files))
		if patch.Len() == 0 {
			continue
		}
		index := filepath.Join(t.TempDir(), fmt.Sprint("index", i))
		git := func(args ...string) []byte {
			t.Helper()
			out, err := RunGit(ctx, GitCommand{Dir: s.Dir(), GitDir: s.Dir(), Env: []string{"GIT_INDEX_FILE=" + index},
				Stdin: bytes.NewReader(patch.Bytes()), Args: args})
			if err != nil {
				t.Fatalf("%v\n%s", err, patch.Bytes())
			}
			return out
		}
		git("read-tree", from.String())
		git("apply", "--cached", "--whitespace=nowarn", "-")
		if got := strings.TrimSpace(string(git("write-tree"))); got != to.String() {
			t.Fatalf("patch gives %s, want %s:\n%s", got, to, patch.Bytes())
		}
		os.Remove(index)
	}
}

func TestDiffStatCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := writeTree(t, b, map[string]testFile{
		"keep": {ModeFile, "same\n"}, "edit": {ModeFile, "1\n2\n3\n"}, "gone": {ModeFile, "a\nb\n"},
		"move": {ModeFile, "moved\n"}, "bin": {ModeFile, "\x00\x01"},
	})
	to := writeTree(t, b, map[string]testFile{
		"keep": {ModeFile, "same\n"}, "edit": {ModeFile, "1\nTWO\n3\n4\n"}, "made": {ModeFile, "x\n"},
		"dir/move": {ModeFile, "moved\n"}, "bin": {ModeFile, "\x00\x02"},
	})
	noErr(t, b.Flush(ctx))
	got := must[DiffStat](t)(s.DiffStat(ctx, from, to))
	want := DiffStat{Added: 2, Modified: 2, Deleted: 2, LinesAdded: 3, LinesDeleted: 3}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, f := range must[Differences](t)(s.DiffFiles(ctx, from, to, nil)).Files {
		if f.Path == "dir/move" && f.OldPath != "move" || f.Path == "bin" && !f.Binary {
			t.Errorf("%+v", f)
		}
	}
}

// TestDiffOfSomeFiles: what nobody asks for is not read, so that one file of many
// is compared at once; a rename is found all the same.
func TestDiffOfSomeFiles(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	from := writeTree(t, b, map[string]testFile{"edit": {ModeFile, "1\n"}, "lost": {ModeFile, "a\n"}, "move": {ModeFile, "moved\n"}})
	to := writeTree(t, b, map[string]testFile{"edit": {ModeFile, "1\n2\n"}, "lost": {ModeFile, "b\n"}, "moved": {ModeFile, "moved\n"}})
	noErr(t, b.Flush(ctx))
	lost := HashObject(TypeBlob, []byte("b\n")).String()
	noErr(t, os.Remove(filepath.Join(s.Dir(), "objects", lost[:2], lost[2:])))
	if _, err := s.DiffFiles(ctx, from, to, nil); err == nil {
		t.Fatal("a lost file is compared")
	}
	d, err := s.DiffFiles(ctx, from, to, func(r Rename) bool { return r.Path != "lost" })
	got := d.Files
	if err != nil || len(got) != 2 || got[0].LinesAdded != 1 || got[1].OldPath != "move" {
		t.Errorf("without it: %+v %v", got, err)
	}
}
