package doctor

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

func TestUrgency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bulk         gitstore.Bulk
		due, overdue bool
	}{
		{gitstore.Bulk{}, false, false},
		{gitstore.Bulk{Loose: 1999, Packs: 19}, false, false},
		{gitstore.Bulk{Loose: 2000}, true, false},
		{gitstore.Bulk{Packs: 20}, true, false},
		{gitstore.Bulk{Loose: 20_000}, true, true},
		{gitstore.Bulk{Packs: 50}, true, true},
	} {
		if due, overdue := Due.needsHousekeeping(c.bulk), Overdue.needsHousekeeping(c.bulk); due != c.due || overdue != c.overdue {
			t.Errorf("%+v: due %v, overdue %v", c.bulk, due, overdue)
		}
	}
}
