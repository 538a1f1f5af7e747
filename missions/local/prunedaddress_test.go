package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestPrunedAddress: the address of a snapshot that is gone, among others that are left, says so.
func TestPrunedAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	b.numbered(1, 8)
	if r := b.pruned(2); r.Pruned() == 0 {
		t.Fatalf("nothing was pruned: %+v", r)
	}
	_, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: "work@0.3", Path: "a.txt"})
	if kindOf(err) != missions.KindNotFound || !strings.Contains(err.Error(), "pruned on") {
		t.Errorf("work@0.3: %v", err)
	}
	_, err = b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: "work@0.99", Path: "a.txt"})
	if kindOf(err) != missions.KindNotFound || strings.Contains(err.Error(), "pruned on") {
		t.Errorf("work@0.99, which never was: %v", err)
	}
}
