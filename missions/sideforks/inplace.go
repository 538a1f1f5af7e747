package sideforks

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/promotes"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// lender lends the workspace of a mission to a side fork while the mission is parked, for trees
// that are too large to copy. The mission's record says so until its files are back, which they
// are before its agent is. The fork has no workspace of its own then: a launch makes it one.
type lender struct {
	*projects.Desk
	snapshots *snapshots.Taker
	presence  *presence.Observer
	restores  *restores.Restorer
	promotes  *promotes.Promoter
}

// mayLend refuses where the files of a mission could not be put back: they would be another
// mission's too, or the fork would not be the only one to change them.
func (l *lender) mayLend(m *projects.Mission, past bool) error {
	without := "leave out --in-place: the fork gets a copy of the files"
	switch {
	case past:
		return missions.Errorf(missions.KindUsage, without, "a fork in the workspace of %s begins with what is there now", m.Name)
	case hasForeignTerminal(m):
		return missions.Errorf(missions.KindFailed, without, "Umbra has not started the agent of %s: both would work in the same files", m.Name)
	}
	return l.checkAlone(m, "", without)
}

// checkAlone refuses while the agent of another mission than the fork is in the same files.
func (l *lender) checkAlone(m *projects.Mission, fork, hint string) error {
	others, err := l.restores.OverlappingMissions(m)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != fork && missions.HasAgent(o.Lifecycle) && !l.presence.IsAgentGone(o) {
			return missions.Errorf(missions.KindBusy, hint, "mission %s works in %s too", o.Name, o.Binding.Workspace)
		}
	}
	return nil
}

// TakeBack gives a parked mission its files back, where a fork has worked in its workspace, and
// promotes the fork if it was left for that. said is what the user is to read of it. The fork's
// agent has just ended in its terminal: what is there is the fork's.
func (x *Exchanger) TakeBack(ctx context.Context, m *projects.Mission, c missions.Caller) (now *projects.Mission, said string, err error) {
	return x.lender.takeBack(ctx, m, c, false)
}

// takeBackLater is TakeBack where the fork's agent has ended before, nobody knows when: what
// anybody else did there since is taken off the disk only once it is in a snapshot that was
// asked for.
func (x *Exchanger) takeBackLater(ctx context.Context, m *projects.Mission, c missions.Caller) (now *projects.Mission, said string, err error) {
	return x.lender.takeBack(ctx, m, c, true)
}

func (l *lender) takeBack(ctx context.Context, m *projects.Mission, c missions.Caller, later bool) (now *projects.Mission, said string, err error) {
	if m.LentTo() == nil {
		return m, "", nil
	}
	fork, err := l.LoadPublishedMission(m.Project, m.LentTo().Fork)
	if err == nil && fork != nil {
		fork, err = l.presence.ReloadMission(ctx, fork)
	}
	if err != nil {
		return m, "", err
	}
	if fork != nil && missions.HasAgent(fork.Lifecycle) {
		return m, "", l.LentError(m)
	}
	var done missions.RestoreResult
	var stays string
	err = l.WithRecoveredWorkspace(ctx, m, func(m *projects.Mission) error {
		if m.LentTo() == nil {
			return nil // one that was cut off is finished
		}
		if err := l.restores.RequireRestoresEnded(ctx, m); err != nil {
			return err
		}
		if m.LentTo() == nil {
			return nil
		}
		if err := l.checkAlone(m, m.LentTo().Fork, "end it, then umbra mission resume "+m.Name); err != nil {
			return err
		}
		if later {
			if err := l.checkOthersWork(ctx, m); err != nil {
				return err
			}
		}
		if err := l.moveOut(ctx, m); err != nil {
			return err
		}
		lent := m.LentTo().Snapshot
		done, err = restores.ReturnFiles(ctx, l.restores, m, c)
		if err == nil {
			stays = l.staysText(ctx, m, lent)
		}
		l.SaveLiveState(m)
		return err
	})
	if err != nil {
		return m, "", err
	}
	if m, err = l.LoadMission(m.Project, m.ID); err != nil || fork == nil {
		return m, "", err
	}
	said = fmt.Sprintf("back in %s, whose files are put back", m.Name)
	if left := pathsLeft(done); len(left) > 0 {
		said += ", but for " + missions.NameSome(left) + " (umbra log --ops)"
	}
	if h := fork.Live.Handover; h != nil && h.Action.Leave != nil && h.Action.Leave.Parent == m.ID && h.Action.Leave.Promote != nil {
		said = l.promote(ctx, fork, m, *h.Action.Leave.Promote)
	}
	return m, said + stays, nil
}

// pathsLeft are the paths that a restore could not put back.
func pathsLeft(r missions.RestoreResult) (paths []string) {
	for _, p := range slices.Concat(r.Kept, r.Displaced) {
		paths = append(paths, p.Path)
	}
	return paths
}

// moveOut keeps what is in the workspace of a parked mission as the newest snapshot of the fork
// that has worked there, which has no workspace from then on. The caller holds the workspace.
func (l *lender) moveOut(ctx context.Context, m *projects.Mission) error {
	fork, err := l.LoadPublishedMission(m.Project, m.LentTo().Fork)
	if err != nil || fork == nil || !fork.IsLodger() {
		return err // it is in the trash, or was moved out before
	}
	if missions.HasAgent(fork.Lifecycle) {
		return l.LentError(m)
	}
	if !fork.IsWorkspaceGone() {
		_, err := l.snapshots.TakeSnapshot(ctx, fork, &snapshots.WantedSnapshot{
			TakeSnapshot: missions.TakeSnapshot{
				Trigger: missions.TriggerManual, Lifecycle: fork.Lifecycle, Message: "before " + m.Name + " has its files again", OnlyIfChanged: true, CompareModes: true,
			},
			Triggers: missions.Triggers{missions.TriggerManual},
		})
		if err != nil {
			return err
		}
	}
	fork.MoveOut()
	if err := l.snapshots.WriteMetaRecord(ctx, fork, "is no longer in the workspace of "+m.Name); err != nil {
		return err
	}
	l.SaveLiveState(fork)
	return nil
}

// promote promotes a fork whose parent has its files back. The fork's commits are on the
// parent's own branch.
func (l *lender) promote(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) string {
	r.Commits = false
	fork, err := l.LoadMission(fork.Project, fork.ID)
	if err == nil {
		_, err = l.promotes.PromoteFork(ctx, fork, parent, r)
	}
	if err != nil {
		e := missions.AsError(err)
		return fmt.Sprintf("back in %[1]s; %[2]s was not promoted: %[3]s; it is kept: umbra promote %[2]s", parent.Name, fork.Name, e.Message)
	}
	return fmt.Sprintf("back in %[1]s, which has what %[2]s did; to take it back: umbra undo %[1]s", parent.Name, fork.Name)
}

// Recreate makes what a launch needs and is not there: a lost workspace or conversation, and the
// files of a mission that has lent its workspace.
func (x *Exchanger) Recreate(ctx context.Context, m *projects.Mission, r missions.LaunchRequest) (*projects.Mission, error) {
	m, err := x.forks.RecreateMission(ctx, m, r)
	if err != nil {
		return nil, err
	}
	m, said, err := x.takeBackLater(ctx, m, r.Caller)
	if said != "" {
		missions.Notify(ctx, missions.Notice{Text: said})
	}
	return m, err
}
