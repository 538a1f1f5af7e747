package snapshots

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestLeftOutIsReadOnce: what the newest snapshot leaves out is not read again at each look
// at a workspace; the mission here has no store to read it from.
func TestLeftOutIsReadOnce(t *testing.T) {
	t.Parallel()
	large := documents.Skipped{Path: "large", Reason: documents.ReasonSize}
	tip := &gitstore.Snapshot{ID: gitstore.HashObject(gitstore.TypeCommit, nil)}
	tip.Skipped = 1
	ws := &WorkspaceCache{published: publishedState{leftOut: []documents.Skipped{large}, leftOutOf: tip.ID}}
	m := &projects.Mission{Tip: tip}
	for _, c := range []struct {
		skipped []documents.Skipped
		others  bool
	}{
		{[]documents.Skipped{large, {Path: "pipe", Reason: documents.ReasonSpecial}}, false},
		{[]documents.Skipped{large, {Path: "more", Reason: documents.ReasonSize}}, true},
		{nil, true},
	} {
		if ws.leavesOutOthers(m, &capture.Result{Skipped: c.skipped}) != c.others {
			t.Errorf("%v: not %v", c.skipped, c.others)
		}
	}
}
