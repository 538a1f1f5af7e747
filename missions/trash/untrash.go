package trash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// UntrashWorkspace puts a workspace that was removed with its mission back in its
// place. Where something else is there it refuses, and nothing has changed.
func (b *Bin) UntrashWorkspace(ctx context.Context, m *projects.Mission) error {
	if m.Binding.Fork == nil {
		return nil
	}
	trash := b.Home.Path("trash", m.ID)
	reclaimed, err := fork.Reclaim(ctx, *m.Binding.Fork, trash)
	var taken *fork.TargetError
	if errors.As(err, &taken) {
		return missions.Errorf(missions.KindConflict, "move "+taken.Directory+" away, then try again",
			"the workspace of %s can't go back: %s %s", m.Name, taken.Directory, taken.Reason)
	}
	if err != nil {
		return fmt.Errorf("put the workspace of %s back: %w", m.Name, err)
	}
	if reclaimed.Moved {
		missions.Notify(ctx, missions.Notice{Text: "its workspace is in " + m.Binding.Workspace + " again, as it was"})
	}
	for _, note := range reclaimed.Notes {
		missions.Notify(ctx, missions.Notice{Text: note})
	}
	_ = os.Remove(trash) // stays if something is in it
	return nil
}

// tellMissingWorkspace says of a mission that is back what a launch would do, where its
// workspace is not there, and what of it is in the trash still.
func (b *Bin) tellMissingWorkspace(ctx context.Context, m *projects.Mission) {
	if m.Binding.Fork == nil || !m.IsWorkspaceGone() {
		return
	}
	missions.Notify(ctx, missions.Notice{Text: fmt.Sprintf("its workspace %s is not there: umbra mission resume %s makes it again from the newest snapshot, without what was in none, such as ignored files", m.Binding.Workspace, m.Name)})
	if left := b.pathsInTrash(m.ID); len(left) > 0 {
		missions.Notify(ctx, missions.Notice{Text: "in the trash are still, to be copied from: " + strings.Join(left, ", ")})
	}
}

// pathsInTrash lists what is in a mission's directory of the trash.
func (b *Bin) pathsInTrash(mission string) []string {
	entries, err := os.ReadDir(b.Home.Path("trash", mission))
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, b.Home.Path("trash", mission, e.Name()))
	}
	return paths
}
