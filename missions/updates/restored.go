package updates

import (
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TellRestored tells the mission that a fork is of that the fork was put back, where the fork
// has reported something of later turns, and that this was undone. What has waited since then
// is told too, before it: what was reported is not lost. An operation is told once, however
// often it is finished after a kill.
func (c *Courier) TellRestored(m *projects.Mission, op projects.Operation, did string) {
	if m.Parent == nil || op.Kind == string(missions.TriggerPromote) || op.Kind == string(missions.TriggerMerge) {
		return
	}
	parent, err := c.parentOf(m)
	if err != nil {
		return // it is told nothing any more
	}
	id, err := gitstore.ParseID(op.Target)
	if err != nil {
		return
	}
	target, err := m.Project.Store.Snapshot(id)
	if err != nil {
		c.warn(parent, err)
		return
	}
	b := boxOf(parent)
	_, wasTold := b.find(op.ReversedOperation)
	if !wasTold && !b.hasReportSince(m.ID, target) {
		return
	}
	what := "It is"
	if len(op.Paths) > 0 {
		what = "Some of its files are"
	}
	u := missions.Update{
		ID: op.ID, From: m.Name, FromID: m.ID, Kind: missions.UpdateRestored,
		Text: fmt.Sprintf("%s as in turn %d again (%s). What it has reported up to then counts, what it has reported of later turns does not.", what, target.Turn, did),
	}
	_, err = c.queue(parent, u, target.Turn)
	c.warn(parent, err)
}

// hasReportSince reports whether a fork has reported something that came after one of its
// snapshots.
func (b box) hasReportSince(fork string, at *gitstore.Snapshot) bool {
	waiting, _ := b.waiting() // what can't be read is said where updates are told
	told, _ := b.told()
	triggers := projects.TriggersOf(at)
	ended := triggers.HasTurnEnd() || triggers.Has(missions.TriggerClose)
	return slices.ContainsFunc(append(waiting, told...), func(d document) bool {
		later := d.FromTurn > at.Turn || d.FromTurn == at.Turn && !ended && d.At.Truncate(time.Second).After(at.At) // a commit has whole seconds
		return d.FromID == fork && d.Kind == missions.UpdateReport && d.ClearedAt.IsZero() && later
	})
}
