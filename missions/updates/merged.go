package updates

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// MergedID is the id of what an agent is told of one mission of a merge, so that it is told
// once, whoever is killed.
func MergedID(merge, mission string) string {
	sum := sha256.Sum256([]byte(merge + " " + mission))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// FollowMerge has what a merge tells, and no prompt has carried yet, wait no longer once the
// merge is undone, and wait again once it is redone. The caller holds the mission's workspace.
func (c *Courier) FollowMerge(m *projects.Mission, op projects.Operation) {
	for _, text := range op.Merged {
		id, err := gitstore.ParseID(text)
		var merged *gitstore.Snapshot
		if err == nil {
			merged, err = m.Project.Store.Snapshot(id)
		}
		if err != nil {
			c.warn(m, err)
			continue
		}
		switch id := MergedID(op.Merge, merged.Mission); op.Kind {
		case "undo":
			c.withdraw(m, id)
		case "redo":
			c.bringBack(m, id)
		}
	}
}

func (c *Courier) withdraw(m *projects.Mission, id string) {
	for _, d := range c.waiting(m) {
		if d.ID == id && d.GivenAt.IsZero() {
			d.ClearedAt, d.Withdrawn = c.Now(), true
			c.warn(m, boxOf(m).retire(d))
		}
	}
}

func (c *Courier) bringBack(m *projects.Mission, id string) {
	told, err := boxOf(m).told()
	c.warn(m, err)
	for _, d := range told {
		if d.ID == id && d.Withdrawn {
			d.ClearedAt, d.Withdrawn = time.Time{}, false
			c.warn(m, boxOf(m).putBack(d))
		}
	}
}
