package forks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// RecreateMission makes again, from the newest snapshot, what a launch needs and
// somebody removed: a workspace that Umbra made, and a session file. It returns the
// mission as it is then.
func (f *Forker) RecreateMission(ctx context.Context, m *projects.Mission, r missions.LaunchRequest) (*projects.Mission, error) {
	if m.IsWorkspaceGone() || r.Recreate != "" {
		err := f.recreateWorkspace(ctx, m, r)
		if err != nil {
			return nil, err
		}
		if m, err = f.LoadMission(m.Project, m.ID); err != nil {
			return nil, err
		}
	}
	return m, f.RecreateSession(ctx, m)
}

// RecreateSession makes a lost session file again, as the newest record holds it.
func (f *Forker) RecreateSession(ctx context.Context, m *projects.Mission) error {
	a := f.Adapter(m.Agent)
	if a == nil || m.Binding.SessionPath == "" {
		return nil
	}
	if present, err := f.agents.HasSessionFile(m, a); present || err != nil {
		return err
	}
	r, meta, err := f.conversations.OpenNewestFile(m.Project, m.Record, "")
	if errors.Is(err, sessions.ErrNoSession) || err == nil && meta.SessionID != m.Stored.Session {
		return nil // it was never written
	}
	if err != nil {
		return err
	}
	defer r.Close()
	missions.Notify(ctx, missions.Notice{Text: "putting the session of " + m.Name + " back from its newest snapshot"})
	if _, ok := a.(sessions.Segmented); ok { // what the file goes on from may be gone too
		same := sessions.Rewrite{OldID: meta.SessionID, NewID: meta.SessionID}
		plan := &conversations.ConversationPlan{Record: m.Record}
		if err := f.conversations.PlaceSideFiles(m.Project, plan, a, m.AdapterEnv(), same, &conversations.PlacedSession{}); err != nil {
			return fmt.Errorf("put the session back: %w", err)
		}
	}
	err = journal.Place(m.Binding.SessionPath, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}, journal.PlaceOptions{})
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file without a conversation: the agent begins anew
		return fmt.Errorf("put the session back: %w", err)
	}
	return nil
}

// recreateWorkspace makes a lost workspace again from the newest snapshot: in its old
// place if Umbra had made it, or in a directory that the user names. A workspace in the
// trash is put back instead, with files that are in no snapshot.
func (f *Forker) recreateWorkspace(ctx context.Context, m *projects.Mission, typed missions.LaunchRequest) error {
	if typed.Recreate == "" {
		if err := f.trash.UntrashWorkspace(ctx, m); err != nil || !m.IsWorkspaceGone() {
			return err
		}
		if moved := m.Whereabouts(typed.Caller.Cwd); moved != "" {
			return m.MovedError(moved) // with work that may be in no snapshot
		}
	}
	directory := m.Binding.Worktree
	switch {
	case typed.Recreate != "":
		directory = projects.AbsolutePath(typed.Caller.Cwd, typed.Recreate)
	case !m.Binding.MadeByUmbra:
		return projects.WorkspaceMovedError(m, "it is not there")
	}
	if m.IsWorkspaceReplaced() && directory == cmp.Or(m.Binding.Worktree, m.Binding.Workspace) {
		return projects.WorkspaceMovedError(m, "another directory is in its place, and not empty")
	}
	config, err := f.CallerConfig(typed.Caller)
	if err != nil {
		return err
	}
	missions.Notify(ctx, missions.Notice{Text: "making " + directory + " again from the newest snapshot of " + m.Name})
	return f.WithRecoveredMission(ctx, m, func(m *projects.Mission) error {
		job, err := f.remakeWorkspace(ctx, m, directory, config.Fork.CopyLimit)
		if err != nil {
			return err
		}
		err = f.syncJobs([]*forkJob{job})
		if err == nil {
			err = f.rebindMission(ctx, m, job.Made)
		}
		if err != nil {
			return errors.Join(err, job.undoWorkspace(context.WithoutCancel(ctx)), job.Operation.Finish())
		}
		if err := f.AddLocation(ctx, m.Project, m.Binding.Workspace, m.Binding.Identity); err != nil {
			return err
		}
		if err := f.snapshots.WriteMetaRecord(ctx, m, "workspace made again"); err != nil {
			return err
		}
		f.SaveLiveState(m)
		return job.Operation.Finish()
	})
}

// remakeWorkspace makes a workspace as a fork does, for a mission that stays the same.
// The journal's entry stays open until the mission is bound to the new workspace.
func (f *Forker) remakeWorkspace(ctx context.Context, m *projects.Mission, directory string, limit int64) (*forkJob, error) {
	if err := f.trashLostWorkspace(ctx, m); err != nil {
		return nil, fmt.Errorf("what is left of the lost workspace: %w", err)
	}
	job := &forkJob{
		forker: f, moment: forkPoint{ResolvedMoment: addresses.ResolvedMoment{Mission: m, Snapshot: projects.NumberedSnapshot{Snapshot: m.Tip}}},
		copyLimit: limit, id: m.ID, name: m.Name, directory: directory,
	}
	if err := job.begin(ctx); err != nil {
		return nil, err
	}
	if err := job.MakeWorkspace(ctx); err != nil {
		return nil, errors.Join(err, job.Operation.Finish())
	}
	return job, nil
}

// trashLostWorkspace moves to the trash what is left of a workspace whose directory is
// gone. Its entry in the user's repository would keep the place taken.
func (f *Forker) trashLostWorkspace(ctx context.Context, m *projects.Mission) error {
	if m.Binding.Fork == nil {
		return nil
	}
	if place, err := projects.DirectoryIdentity(m.Binding.Workspace); err == nil && m.Binding.Identity.Is(place) {
		return nil
	}
	trash := f.Home.Path("trash", m.ID)
	if err := disk.MakeDirs(f.Home.Dir, trash); err != nil {
		return err
	}
	_, err := fork.Discard(ctx, *m.Binding.Fork, trash)
	_ = os.Remove(trash) // stays if something was moved there
	return err
}

// rebindMission binds the mission to its new workspace, and to its conversation if that
// is in another place now.
func (f *Forker) rebindMission(ctx context.Context, m *projects.Mission, made *fork.Made) error {
	g, err := projects.InspectDirectory(made.Workspace)
	if err != nil {
		return err
	}
	before, lodging := m.Binding.Workspace, m.Binding.Lodging
	if lodging != nil { // its conversation and its command are of its parent's workspace
		before = cmp.Or(lodging.Parents, before)
		m.Binding.Workspace = before
		m.Command = forkedCommand(m, m.Command, g.Dir, f.Adapter(m.Agent))
	}
	m.Binding.Lodging = nil
	m.Binding.Workspace, m.Binding.Identity, m.Binding.MadeByUmbra = g.Dir, g.Identity, true
	m.Binding.Worktree, m.Binding.Branch, m.Binding.Fork = made.Worktree, made.Branch, &made.Document
	if lodging != nil {
		if parent, err := f.LoadMission(m.Project, m.Parent.Mission); err == nil && f.Adapter(m.Agent) != nil {
			snapshots.SetNote(m, snapshots.NoteFork, snapshots.ForkNote(m, parent))
		}
	}
	if g.Dir == before || m.Stored.Session == "" || !m.CanCopyConversation(f.Adapter(m.Agent)) {
		return nil
	}
	plan, err := f.conversations.PlanCutAtSnapshot(m.Project, m.Tip, m.Binding.SessionPath)
	if errors.Is(err, sessions.ErrNoSession) || err == nil && plan.IsEmpty {
		return nil
	}
	if err != nil {
		return err
	}
	to, err := f.conversations.PlanMove(m, m.Tip, sessions.Rewrite{
		OldID: plan.SourceMeta.SessionID, NewID: f.NewSession(f.Adapter(plan.SourceMeta.Agent)), NewCwd: m.Cwd(), NewRoot: g.Dir,
	})
	if err != nil {
		return err
	}
	done, err := f.conversations.PlaceConversation(ctx, m.Project, plan, m.AdapterEnv(), to)
	if err != nil {
		return err
	}
	f.updates.NoteCopy(m, to.OldID, done.ID, true)
	conversations.SwitchSession(m, done.ID, done.Path)
	return nil
}
