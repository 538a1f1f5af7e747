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
