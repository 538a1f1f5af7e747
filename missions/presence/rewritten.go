package presence

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// CompareSessionFiles compares whole session files with what was recorded of them, for the
// missions that work in a workspace and are in no turn. A snapshot compares only the
// beginning and the last recorded bytes of a file that has grown. If an agent has rewritten a
// line in between, it is found here, and the file is recorded anew.
func (o *Observer) CompareSessionFiles(ctx context.Context, root string) error {
	for _, m := range o.LiveMissionsIn(root) {
		if missions.InTurn(m.Lifecycle) {
			continue
		}
		same, err := o.conversations.SessionFileMatches(ctx, m)
		if err != nil {
			return fmt.Errorf("compare the session of %s: %w", m.Name, err)
		}
		if same {
			continue
		}
		o.Logger.Info("the conversation was rewritten", "mission", m.ID, "session", m.Binding.SessionPath)
		take := &missions.TakeSnapshot{Trigger: missions.TriggerWatch, Message: "conversation rewritten", CompareWholeSession: true}
		if _, err := o.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: take}); err != nil {
			return err
		}
	}
	return nil
}
