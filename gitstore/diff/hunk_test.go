package diff

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestPatches cuts the patches of random trees at their files: nothing is lost, and each
// names its file.
func TestPatches(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(1, 2))
	d := New(ctx, s, Patch)
	defer d.Close()
	for range 20 {
		b := s.NewBatch()
		from, to := storetest.WriteTree(t, b, storetest.RandomTree(rnd)), storetest.WriteTree(t, b, storetest.RandomTree(rnd))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		diff := storetest.Must[Differences](t)(d.Trees(from, to))
		patches := diff.Patches()
		if whole := strings.Join(patches, ""); whole != diff.Patch || len(patches) != len(diff.Files) {
			t.Errorf("%d patches of %d files:\n%s\nof\n%s", len(patches), len(diff.Files), whole, diff.Patch)
		}
		for i, f := range diff.Files {
			if quoted := strings.Trim(gitstore.QuotePath(f.Path), `"`); !strings.Contains(patches[i], quoted) {
				t.Errorf("the patch of %s is\n%s", quoted, patches[i])
			}
			hunks := storetest.Must[[]Hunk](t)(Hunks(patches[i]))
			added, deleted := 0, 0
			for _, h := range hunks {
				added, deleted = added+h.NewTo-h.NewFrom, deleted+h.To-h.From
			}
			if f.sections() == 1 && (added != f.LinesAdded || deleted != f.LinesDeleted) {
				t.Errorf("%s: the hunks add %d lines and take %d, git counts %d and %d", f.Path, added, deleted, f.LinesAdded, f.LinesDeleted)
			}
		}
	}
}

// TestHunks numbers changed lines as git does, without the lines around them.
func TestHunks(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string][]Hunk{
		"@@ -1,5 +1,6 @@ func\n a\n-b\n+B\n c\n+new\n d\n e\n":               {{2, 3, 2, 3}, {4, 4, 4, 5}},
		"@@ -0,0 +1,2 @@\n+a\n+b\n":                                          {{1, 1, 1, 3}},
		"@@ -1 +0,0 @@\n-a\n":                                                {{1, 2, 1, 1}},
		"@@ -3 +3 @@\n-a\n\\ No newline at end of file\n+b\n":                {{3, 4, 3, 4}},
		"--- a/x\n+++ b/x\n@@ -9 +9 @@\n--- a\n+++ b\n@@ -20,0 +21 @@\n+z\n": {{9, 10, 9, 10}, {21, 21, 21, 22}},
		"diff --git a/x b/x\nBinary files a/x and b/x differ\n":              nil,
		"old mode 100644\nnew mode 100755\n":                                 nil,
	} {
		if got := storetest.Must[[]Hunk](t)(Hunks(patch)); !slices.Equal(got, want) {
			t.Errorf("%q has %v, want %v", patch, got, want)
		}
	}
	for _, patch := range []string{"@@ -x +1 @@\n", "@@ -1\n"} {
		if got, err := Hunks(patch); err == nil {
			t.Errorf("%q has %v", patch, got)
		}
	}
}

// TestBefore: the lines of a changed file are those of before, but for what was put in.
func TestBefore(t *testing.T) {
	t.Parallel()
	// Two lines went in after line 2, lines 6 and 7 went, line 9 was changed.
	earlier := []Hunk{{3, 3, 3, 5}, {6, 8, 8, 8}, {9, 10, 9, 10}}
	for h, want := range map[Hunk]Hunk{
		{From: 1, To: 2}:   {From: 1, To: 2},
		{From: 5, To: 6}:   {From: 3, To: 4},
		{From: 4, To: 5}:   {From: 3, To: 3},
		{From: 3, To: 5}:   {From: 3, To: 3},
		{From: 9, To: 10}:  {From: 9, To: 10},
		{From: 7, To: 9}:   {From: 5, To: 9},
		{From: 20, To: 22}: {From: 20, To: 22},
	} {
		if got := h.Before(earlier); got != want {
			t.Errorf("%v was at %v, want %v", h, got, want)
		}
	}
	if a, b := (Hunk{From: 3, To: 4}), (Hunk{From: 4, To: 4}); !a.Touches(b) || a.Touches(Hunk{From: 5, To: 6}) || !a.Touches(a) {
		t.Error("changes side by side touch, others do not")
	}
}
