package sideforks

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// mayReturn refuses to leave a side fork if its parent's agent could not be launched in the
// terminal afterwards. The fork's agent then still runs, and its user can mend the cause.
func (x *Exchanger) mayReturn(ctx context.Context, fork *projects.Mission, r missions.LeaveForkRequest) error {
	if fork.IsBeside() {
		return nil // its parent has a terminal of its own, or is gone
	}
	parent, err := x.LoadMission(fork.Project, r.Parent)
	if err != nil {
		return err
	}
	refusal := func(kind missions.Kind, hint, format string, args ...any) error {
		hint = strings.TrimPrefix(hint+"; umbra mission stop "+fork.Name+" ends the fork all the same", "; ")
		return missions.Errorf(kind, hint, format, args...)
	}
	if parent.IsWorkspaceGone() && parent.WorkspaceProblem(r.Caller.Cwd) != nil {
		hint := missions.AsError(projects.WorkspaceMovedError(parent, "")).Hint
		if moved := parent.Whereabouts(r.Caller.Cwd); moved != "" {
			hint = parent.MoveCommand(moved)
		}
		return refusal(missions.KindFailed, hint, "the agent of %s could not be launched again: its workspace %s was moved or removed", parent.Name, parent.Binding.Workspace)
	}
	if err := agents.CheckProgram(parent, fork.Live.KeeperPath); err != nil {
		hint := "put it back; or umbra mission resume " + parent.Name + " -- COMMAND, in another terminal"
		return refusal(missions.KindFailed, hint, "the agent of %s could not be launched again: %w", parent.Name, err)
	}
	if parent.LentTo() == nil {
		return nil
	}
	if err := x.lender.mayTakeBack(ctx, parent); err != nil {
		e := missions.AsError(err)
		return refusal(e.Kind, e.Hint, "%s could not get its files back: %s", parent.Name, e.Message)
	}
	return nil
}

// mayTakeBack returns the error with which takeBack would refuse, as far as it can be known
// without looking at files.
func (l *lender) mayTakeBack(ctx context.Context, m *projects.Mission) error {
	return l.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		if m.LentTo() == nil {
			return nil
		}
		if err := l.checkAlone(m, m.LentTo().Fork, "end it first"); err != nil {
			return err
		}
		return restores.CheckReturn(ctx, l.restores, m)
	})
}
