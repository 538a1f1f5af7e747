package doctor

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

func TestUrgency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bulk         upkeep.Bulk
		due, overdue bool
	}{
		{upkeep.Bulk{}, false, false},
		{upkeep.Bulk{Loose: 1999, Packs: 19}, false, false},
		{upkeep.Bulk{Loose: 2000}, true, false},
		{upkeep.Bulk{Packs: 20}, true, false},
		{upkeep.Bulk{Loose: 20_000}, true, true},
		{upkeep.Bulk{Packs: 50}, true, true},
		{upkeep.Bulk{Packs: 2, Bytes: 127 << 20}, false, false},
		{upkeep.Bulk{Packs: 2, Bytes: 128 << 20}, true, false},
		{upkeep.Bulk{Packs: 2, Bytes: 1 << 30}, true, true},
	} {
		if due, overdue := Due.needsHousekeeping(c.bulk), Overdue.needsHousekeeping(c.bulk); due != c.due || overdue != c.overdue {
			t.Errorf("%+v: due %v, overdue %v", c.bulk, due, overdue)
		}
	}
}
