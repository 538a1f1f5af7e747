package missions

import (
	"fmt"
	"slices"
	"testing"
)

func TestFoldPaths(t *testing.T) {
	t.Parallel()
	list := []PathReason{{Path: "a.log", Reason: "ignored"}, {Path: "few/a", Reason: "ignored"}, {Path: "few/b", Reason: "size"}}
	want := []FoldedPath{{list[0], 0}, {list[1], 0}, {list[2], 0}}
	for i := range 20 {
		list = append(list, PathReason{Path: fmt.Sprintf("node_modules/%d/x.js", i), Reason: "ignored"})
	}
	list = append(list, PathReason{Path: "node_modules/big", Reason: "size"})
	want = append(want, FoldedPath{PathReason{"node_modules/", "ignored"}, 20}, FoldedPath{PathReason{"node_modules/big", "size"}, 0})
	for i := range 20 {
		changed := PathReason{Path: fmt.Sprintf("src/%d.go", i), Reason: "changed"}
		list = append(list, changed)
		want = append(want, FoldedPath{changed, 0})
	}
	if got := FoldPaths(list); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// TestFoldPathsAtTheTop: many files, or many directories with few in each, are a few lines.
func TestFoldPathsAtTheTop(t *testing.T) {
	t.Parallel()
	var list []PathReason
	for i := range foldedAfter {
		list = append(list, PathReason{fmt.Sprintf("%d.tmp", i), "ignored"}, PathReason{fmt.Sprintf("%d/x", i), "size"})
	}
	if got := FoldPaths(list); len(got) != len(list) {
		t.Errorf("%d of %d", len(got), len(list))
	}
	for i := range 9 {
		list = append(list, PathReason{fmt.Sprintf("m/%d", i), "ignored"}, PathReason{fmt.Sprintf("%d.txt", i), "changed"})
	}
	list = append(list, PathReason{"z.tmp", "ignored"})
	got := FoldPaths(list)
	if want := (FoldedPath{PathReason{theRest, "ignored"}, 11}); len(got) != 2*foldedAfter+9 || !slices.Contains(got, want) {
		t.Errorf("%d: %+v", len(got), got)
	}
}
