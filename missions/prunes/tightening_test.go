package prunes

import (
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions/retention"
)

// TestTightened: each policy keeps less than the one before, the first is the configured one, and
// the last keeps the last turns alone.
func TestTightened(t *testing.T) {
	t.Parallel()
	for steps, p := range map[int]retention.Policy{
		1: {KeepLast: 5},
		3: {KeepLast: 1, KeepWithin: 5 * 24 * time.Hour},
		6: {KeepLast: 5, KeepWithin: 30 * 24 * time.Hour, KeepHourly: 24, KeepDaily: 60},
	} {
		list := tightened(p)
		if len(list) != steps || list[0] != p || list[len(list)-1] != (retention.Policy{KeepLast: p.KeepLast}) {
			t.Errorf("%+v becomes %+v", p, list)
		}
		for i, next := range list[1:] {
			before := list[i]
			if next == before || next.KeepLast != p.KeepLast || next.KeepWithin > before.KeepWithin || next.KeepHourly > before.KeepHourly || next.KeepDaily > before.KeepDaily {
				t.Errorf("after %+v comes %+v", before, next)
			}
		}
	}
}
