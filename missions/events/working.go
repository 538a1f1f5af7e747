package events

import (
	"context"
	"errors"
)

// lookAfterTurns finds out, of the missions in a workspace, which agents go on after
// their turns' end, or after a question, and does what has waited for the others to come
// to rest.
func (l *Listener) lookAfterTurns(ctx context.Context, root string) error {
	for _, m := range l.LiveMissionsIn(root) {
		if err := errors.Join(l.presence.ContinueTurnIfWorking(ctx, m), l.noteAnsweredQuestion(ctx, m)); err != nil {
			return err
		}
		if l.handovers.HasUnattendedAction(m) {
			l.presence.WarnLookFailed(m, l.handovers.ResumeHandover(ctx, m)) // a busy workspace is looked at again
		}
	}
	return nil
}
