package trash

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Remove takes missions out of the project. Their refs go to the trash and stay there,
// and Unremove brings them back. Copies of conversations in Umbra's own store go there
// too and, with Workspace, a workspace that Umbra made. A Preview changes nothing.
func (b *Bin) Remove(ctx context.Context, r missions.RemoveRequest) (missions.RemoveResult, error) {
	result := missions.RemoveResult{Missions: []missions.Mission{}}
	if len(r.Missions) == 0 {
		return result, missions.Errorf(missions.KindUsage, "umbra mission rm NAME", "name the missions to remove")
	}
	list, err := b.addresses.FindMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return result, err
	}
	if r.Scratch {
		for _, m := range list {
			if err := b.removeScratch(ctx, m, r.Left); err != nil {
				return result, err
			}
			result.Missions = append(result.Missions, b.presence.MissionView(m))
		}
		return result, nil
	}
	for _, m := range list {
		if fork := b.SideForkOf(m); fork != nil && !r.Force {
			return result, missions.Errorf(missions.KindBusy, "leave it first: umbra fork exit "+fork.Name,
				"%s is parked for its side fork %s, which has its terminal", m.Name, fork.Name)
		}
		if err := b.checkLending(m); err != nil {
			return result, err
		}
		if err := b.checkRemoval(m, r); err != nil {
			return result, err
		}
		if err := b.addLosses(ctx, m, r, &result); err != nil {
			return result, err
		}
		result.Missions = append(result.Missions, b.presence.MissionView(m))
	}
	if r.Preview {
		return result, nil
	}
	for _, m := range list {
		if m, err = b.stopForRemoval(ctx, m, r); err != nil {
			return result, err
		}
		if err := b.removeMission(ctx, m, r, 0, &result); err != nil {
			return result, fmt.Errorf("remove %s: %w", m.Name, err)
		}
	}
	return result, nil
}

// checkLending refuses both missions while one has lent its workspace to the other.
func (b *Bin) checkLending(m *projects.Mission) error {
	if parent := b.LenderOf(m); parent != nil {
		return b.LentError(parent)
	}
	return b.LentError(m)
}

func (b *Bin) checkRemoval(m *projects.Mission, r missions.RemoveRequest) error {
	force := "umbra mission rm " + m.Name + " --force stops it first"
	if p, alive := m.Live.LivingProcess(); alive && !r.Force {
		return missions.Errorf(missions.KindBusy, force, "mission %s has an agent at work (pid %d)", m.Name, p.PID)
	}
	if b.presence.IsAgentHidden(m) && !r.Force {
		return missions.Errorf(missions.KindBusy, presence.HiddenAgentHint(m), "mission %s may have an agent at work: its process can't be seen from here", m.Name)
	}
	if r.Workspace && !r.MadeOnly && !m.Binding.MadeByUmbra {
		return missions.Errorf(missions.KindConflict, "leave out --workspace", "%s is no workspace that Umbra made: it is never removed", m.Binding.Workspace)
	}
	return nil
}

// stopForRemoval stops the agent of a mission that is removed by force, and reads
// the mission again.
func (b *Bin) stopForRemoval(ctx context.Context, m *projects.Mission, r missions.RemoveRequest) (*projects.Mission, error) {
	if !r.Force {
		return m, nil
	}
	if err := b.agents.StopAgent(ctx, m, true); err != nil {
		return m, err
	}
	fresh, err := b.awaitKeeper(ctx, m)
	if err != nil {
		return m, err
	}
	r.Force = false
	return fresh, b.checkRemoval(fresh, r) // no other agent has begun meanwhile
}

// RemoveLeaving removes a fork, with its workspace, whose agent asks for that itself: the
// process of the agent lives, and is about to leave. Nobody else may be at work there.
func (b *Bin) RemoveLeaving(ctx context.Context, m *projects.Mission, asker int) error {
	if p, alive := m.Live.LivingProcess(); alive && p.PID != asker {
		return missions.Errorf(missions.KindBusy, "umbra mission stop "+m.Name, "mission %s has an agent at work (pid %d)", m.Name, p.PID)
	}
	if fork := b.SideForkOf(m); fork != nil {
		return missions.Errorf(missions.KindBusy, "leave it first: umbra fork exit "+fork.Name, "%s is parked for its side fork %s", m.Name, fork.Name)
	}
	if !m.Binding.MadeByUmbra || m.Binding.Fork == nil || isWorkspaceMoved(m) {
		return missions.Errorf(missions.KindConflict, "remove it yourself", "%s is not where Umbra made it, or not made by it", m.Binding.Workspace)
	}
	var result missions.RemoveResult
	return b.removeMission(ctx, m, missions.RemoveRequest{Workspace: true}, asker, &result)
}

// awaitKeeper reads a mission again whose agent was stopped, once its keeper is gone: that has
// told of the end, and ends a moment later. One that stays is waited for no longer than an agent.
func (b *Bin) awaitKeeper(ctx context.Context, m *projects.Mission) (*projects.Mission, error) {
	ctx, cancel := context.WithTimeout(ctx, agents.StopPatience)
	defer cancel()
	for {
		fresh, err := b.LoadMission(m.Project, m.ID)
		if err != nil {
			return nil, err
		}
		_, alive := fresh.Live.LivingProcess()
		if !alive || missions.HasAgent(fresh.Lifecycle) || projects.Sleep(ctx, projects.PollInterval) != nil {
			return fresh, nil
		}
	}
}

// addLosses lists what exists only in what is to be removed.
func (b *Bin) addLosses(ctx context.Context, m *projects.Mission, r missions.RemoveRequest, result *missions.RemoveResult) error {
	if r.Workspace && !m.Binding.MadeByUmbra {
		result.Kept = append(result.Kept, m.Binding.Workspace+" stays: Umbra has not made it")
	}
	if !m.Binding.MadeByUmbra || m.Binding.Fork == nil {
		return nil
	}
	if !r.Workspace && m.IsWorkspaceGone() {
		noted, err := isWorktreeNoted(m)
		if noted {
			result.Kept = append(result.Kept, m.Binding.Worktree+" is not there, but stays in the list of git worktree (--workspace takes it out)")
		}
		return err
	}
	if !r.Workspace {
		result.Kept = append(result.Kept, m.Binding.Workspace+" stays (--workspace moves it to the trash)")
		return nil
	}
	if isWorkspaceMoved(m) {
		result.Kept = append(result.Kept, movedWorkspaceNote(m))
		return nil
	}
	for _, at := range beneath.MountsIn(m.Binding.Worktree) {
		result.Kept = append(result.Kept, "what is mounted at "+at+" stays: umount it before umbra trash empty, which removes nothing that is mounted")
	}
	others, err := b.missionsWithin(m)
	if err != nil {
		return err
	}
	for _, o := range others {
		result.OtherMissions = append(result.OtherMissions, o.Name)
	}
	newest, err := snapshots.RecordedSide(m.Project, m.Tip)
	if err != nil {
		return err
	}
	holdings, err := fork.Inspect(ctx, *m.Binding.Fork, fork.Source{Store: m.Project.Store, Tree: newest.Tree, Rules: newest.Rules, Skipped: newest.Skipped})
	if err != nil {
		return fmt.Errorf("look at %s: %w", m.Binding.Workspace, err)
	}
	own, copied := b.ownFiles(m, holdings.Ignored)
	result.IgnoredFiles, result.CopiedFiles = append(result.IgnoredFiles, own...), result.CopiedFiles+copied
	result.UnmergedCommits = append(result.UnmergedCommits, holdings.Commits...)
	result.Uncaptured = append(result.Uncaptured, holdings.Uncaptured...)
	return nil
}

// missionsWithin lists the other missions whose workspace is this mission's, or in it.
// It refuses if one of them has an agent at work.
func (b *Bin) missionsWithin(m *projects.Mission) ([]*projects.Mission, error) {
	all, err := b.restores.OverlappingMissions(m)
	if err != nil {
		return nil, err
	}
	var list []*projects.Mission
	for _, o := range all {
		if !home.IsWithin(m.Binding.Workspace, o.Binding.Workspace) {
			continue
		}
		if _, alive := o.Live.LivingProcess(); alive || missions.HasAgent(o.Lifecycle) && !b.presence.IsAgentGone(o) {
			return nil, missions.Errorf(missions.KindBusy, "umbra mission stop "+o.Name, "mission %s has an agent at work in %s", o.Name, o.Binding.Workspace)
		}
		list = append(list, o)
	}
	return list, nil
}

// Retire moves a mission to the trash with the workspace that Umbra made, as Remove does, where
// CheckRetirable finds nothing. What its agent and its checks have printed stays.
func (b *Bin) Retire(ctx context.Context, m *projects.Mission) error {
	if err := b.CheckRetirable(ctx, m); err != nil {
		return err
	}
	return b.moveMission(ctx, m, missions.RemoveRequest{Workspace: true}, 0, &missions.RemoveResult{})
}

// CheckRetirable is KindBusy where a mission has something that is nowhere else, but files that
// are ignored, or where somebody is at work in it.
func (b *Bin) CheckRetirable(ctx context.Context, m *projects.Mission) error {
	r := missions.RemoveRequest{Missions: []string{m.ID}, Workspace: true}
	if err := b.checkRemoval(m, r); err != nil {
		return err
	}
	var result missions.RemoveResult
	if err := b.addLosses(ctx, m, r, &result); err != nil {
		return err
	}
	newest, err := snapshots.RecordedSide(m.Project, m.Tip)
	if err != nil {
		return err
	}
	inNone := slices.ContainsFunc(result.IgnoredFiles, func(file string) bool { return isInNoSnapshot(file, newest.Skipped.All()) })
	if inNone || len(result.Uncaptured)+len(result.UnmergedCommits)+len(result.OtherMissions)+len(result.Kept) > 0 {
		return missions.Errorf(missions.KindBusy, "umbra mission rm --preview --workspace "+m.Name+" says what", "something of it is nowhere else")
	}
	return nil
}

// isInNoSnapshot reports whether a file that no snapshot holds, or one below a directory of such,
// is another than one that is ignored: one over the cap, a secret, a nested repository.
func isInNoSnapshot(file string, skipped []documents.Skipped) bool {
	dir, isDir := strings.CutSuffix(file, "/")
	return path.Base(dir) == ".git" || slices.ContainsFunc(skipped, func(s documents.Skipped) bool {
		return s.Path == dir || isDir && strings.HasPrefix(s.Path, file)
	})
}

// removeMission moves one mission to the trash: first its workspace, after a last
// snapshot, then its conversations in Umbra's own store, then its refs. leaver is as
// TrashWorkspace has it.
func (b *Bin) removeMission(ctx context.Context, m *projects.Mission, r missions.RemoveRequest, leaver int, result *missions.RemoveResult) error {
	err := b.moveMission(ctx, m, r, leaver, result)
	if err != nil {
		return err
	}
	return b.removeOutputs(m.ID)
}

// moveMission is removeMission without what its agent and its checks have printed.
func (b *Bin) moveMission(ctx context.Context, m *projects.Mission, r missions.RemoveRequest, leaver int, result *missions.RemoveResult) error {
	if r.Workspace && m.Binding.MadeByUmbra && m.Binding.Fork != nil && !isWorkspaceMoved(m) {
		move := b.TrashWorkspace
		if r.Scratch {
			move = b.moveWorkspace // without a last snapshot
		}
		if err := move(ctx, m, leaver, result); err != nil {
			return err
		}
	}
	err := b.WithRecoveredMission(ctx, m, func(m *projects.Mission) error {
		if err := b.trashConversations(m, result); err != nil {
			return err
		}
		return b.trashRefs(ctx, m)
	})
	if err != nil {
		return err
	}
	failpoint.Hit("remove.removed")
	result.Trash = append(result.Trash, string(gitstore.TrashAgentRef(m.ID)))
	return errors.Join(b.Journal.DeleteLive(m.ID), b.Journal.DropQueue(m.ID))
}

// removeOutputs removes what a mission's agent and its checks have printed, and what is known
// of its work on branches.
func (b *Bin) removeOutputs(mission string) (err error) {
	h := b.Home
	for _, name := range []string{
		h.OutputFile(mission), h.CheckOutputFile(mission), h.CheckResultFile(mission), h.LandedFile(mission), h.BisectFile(mission), h.FixFile(mission),
	} {
		err = errors.Join(err, journal.Remove(name))
	}
	return err
}
