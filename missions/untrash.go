package missions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/fork"
)

// untrashWorkspace puts a workspace that was removed with its mission back in its
// place. Where something else is there it refuses, and nothing has changed.
func (l *Local) untrashWorkspace(ctx context.Context, m *loaded) error {
	if m.bind.Fork == nil {
		return nil
	}
	trash := l.home.path("trash", m.ID)
	reclaimed, err := fork.Reclaim(ctx, *m.bind.Fork, trash)
	var taken *fork.TargetError
	if errors.As(err, &taken) {
		return Errorf(KindConflict, "move "+taken.Directory+" away, then try again",
			"the workspace of %s can't go back: %s %s", m.Name, taken.Directory, taken.Reason)
	}
	if err != nil {
		return fmt.Errorf("put the workspace of %s back: %w", m.Name, err)
	}
	if reclaimed.Moved {
		Notify(ctx, Notice{Text: "its workspace is in " + m.bind.Workspace + " again, as it was"})
	}
	for _, note := range reclaimed.Notes {
		Notify(ctx, Notice{Text: note})
	}
	_ = os.Remove(trash) // stays if something is in it
	return nil
}

// tellOfWorkspace says of a mission that is back what a launch would do, where its
// workspace is not there, and what of it is in the trash still.
func (l *Local) tellOfWorkspace(ctx context.Context, m *loaded) {
	if m.bind.Fork == nil || !m.workspaceGone() {
		return
	}
	Notify(ctx, Notice{Text: fmt.Sprintf("its workspace %s is not there: umbra mission resume %s makes it again from the newest snapshot, without what was in none, such as ignored files", m.bind.Workspace, m.Name)})
	if left := l.leftInTrash(m.ID); len(left) > 0 {
		Notify(ctx, Notice{Text: "in the trash are still, to be copied from: " + strings.Join(left, ", ")})
	}
}

// leftInTrash lists what is in a mission's directory of the trash.
func (l *Local) leftInTrash(mission string) []string {
	entries, err := os.ReadDir(l.home.path("trash", mission))
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, l.home.path("trash", mission, e.Name()))
	}
	return paths
}
