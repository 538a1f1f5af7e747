package missions

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
	"github.com/umbra-vcs/umbra/sessions"
)

// recreate makes again what a launch needs and somebody removed: a workspace
// that Umbra made, and a session file, both from the newest snapshot. It returns
// the mission as it is then.
func (l *Local) recreate(ctx context.Context, m *loaded, r LaunchRequest) (*loaded, error) {
	if m.workspaceGone() || r.Recreate != "" {
		err := l.recreateWorkspace(ctx, m, r)
		if err != nil {
			return nil, err
		}
		if m, err = l.load(m.project, m.ID); err != nil {
			return nil, err
		}
	}
	return m, l.recreateSession(ctx, m)
}

// recreateSession puts a lost session file back as the newest record holds it.
func (l *Local) recreateSession(ctx context.Context, m *loaded) error {
	a := l.adapter(m.Agent)
	if a == nil || m.bind.Session == "" {
		return nil
	}
	if present, err := l.sessionPresent(m, a); present || err != nil {
		return err
	}
	r, meta, err := l.fileBeside(m.project, m.record, "")
	if errors.Is(err, sessions.ErrNoSession) || err == nil && meta.SessionID != m.stored.Session {
		return nil // it was never written
	}
	if err != nil {
		return err
	}
	defer r.Close()
	Notify(ctx, Notice{Text: "putting the session of " + m.Name + " back from its newest snapshot"})
	if _, ok := a.(sessions.Segmented); ok { // what the file goes on from may be gone too
		same := sessions.Rewrite{OldID: meta.SessionID, NewID: meta.SessionID}
		if err := l.placeSides(m.project, &talkPlan{record: m.record}, a, m.adapterEnv(), same, &placed{}); err != nil {
			return fmt.Errorf("put the session back: %w", err)
		}
	}
	err = journal.Place(m.bind.Session, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}, journal.PlaceOptions{})
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file without a conversation: the agent begins anew
		return fmt.Errorf("put the session back: %w", err)
	}
	return nil
}

// recreateWorkspace makes a lost workspace again from the newest snapshot, where
// it was if Umbra had made it, or in a directory that the user names. One that is
// in the trash is put back instead, with what is in no snapshot.
func (l *Local) recreateWorkspace(ctx context.Context, m *loaded, typed LaunchRequest) error {
	if typed.Recreate == "" {
		if err := l.untrashWorkspace(ctx, m); err != nil || !m.workspaceGone() {
			return err
		}
	}
	directory := m.bind.Worktree
	switch {
	case typed.Recreate != "":
		directory = joinPath(typed.Caller.Cwd, typed.Recreate)
	case !m.bind.Made:
		return moved(m, "it is not there")
	}
	if m.replaced() && directory == cmp.Or(m.bind.Worktree, m.bind.Workspace) {
		return moved(m, "another directory is in its place, and not empty")
	}
	config, err := l.configOf(typed.Caller)
	if err != nil {
		return err
	}
	Notify(ctx, Notice{Text: "making " + directory + " again from the newest snapshot of " + m.Name})
	return l.metaLocked(ctx, m, func(m *loaded) error {
		job, err := l.remake(ctx, m, directory, config.Fork.CopyLimit)
		if err != nil {
			return err
		}
		err = l.syncJobs([]*forkJob{job})
		if err == nil {
			err = l.rebindMade(m, job.made)
		}
		if err != nil {
			return errors.Join(err, job.made.Undo(context.WithoutCancel(ctx)), job.operation.Finish())
		}
		if err := l.addPlace(ctx, m.project, m.bind.Workspace, m.bind.Place); err != nil {
			return err
		}
		if err := l.writeMeta(ctx, m, "workspace made again"); err != nil {
			return err
		}
		l.saveLive(m)
		return job.operation.Finish()
	})
}

// remake is a fork's making, without a fork: the mission stays the same. The
// journal's entry stays open until the mission is bound to what was made.
func (l *Local) remake(ctx context.Context, m *loaded, directory string, limit int64) (*forkJob, error) {
	if err := l.dropLost(ctx, m); err != nil {
		return nil, fmt.Errorf("what is left of the lost workspace: %w", err)
	}
	job := &forkJob{l: l, at: found{m, step{Snapshot: m.tip}}, limit: limit, id: m.ID, name: m.Name, directory: directory}
	if err := job.begin(); err != nil {
		return nil, err
	}
	if err := job.makeWorkspace(ctx); err != nil {
		return nil, errors.Join(err, job.operation.Finish())
	}
	return job, nil
}

// dropLost takes what is left of a workspace whose directory is gone into the
// trash: its entry in the user's repository would hold on to the place.
func (l *Local) dropLost(ctx context.Context, m *loaded) error {
	if m.bind.Fork == nil {
		return nil
	}
	if place, err := placeOf(m.bind.Workspace); err == nil && place == m.bind.Place {
		return nil
	}
	trash := l.home.path("trash", m.ID)
	if err := disk.MakeDirs(l.home.Dir, trash); err != nil {
		return err
	}
	_, err := fork.Discard(ctx, *m.bind.Fork, trash)
	_ = os.Remove(trash) // stays if something was moved there
	return err
}

// rebindMade points the mission at its new workspace, and its conversation too
// if that is somewhere else now.
func (l *Local) rebindMade(m *loaded, made *fork.Made) error {
	g, err := survey(made.Workspace)
	if err != nil {
		return err
	}
	before := m.bind.Workspace
	m.bind.Workspace, m.bind.Place, m.bind.Made = g.Dir, g.Place, true
	m.bind.Worktree, m.bind.Branch, m.bind.Fork = made.Worktree, made.Branch, &made.Document
	if g.Dir == before || m.stored.Session == "" || !m.movable(l.adapter(m.Agent)) {
		return nil
	}
	plan, err := l.cutAt(m.project, m.tip, m.bind.Session)
	if errors.Is(err, sessions.ErrNoSession) || err == nil && plan.empty {
		return nil
	}
	if err != nil {
		return err
	}
	oldRoot, oldCwd, err := l.spokenIn(m.project, m.tip)
	if err != nil {
		return err
	}
	done, err := l.place(m.project, plan, m.adapterEnv(), sessions.Rewrite{
		OldID: plan.source.SessionID, NewID: l.newSession(l.adapter(plan.source.Agent)), OldCwd: oldCwd, NewCwd: m.cwd(), OldRoot: oldRoot, NewRoot: g.Dir, Now: l.now(),
	})
	if err != nil {
		return err
	}
	m.follow(done.id, done.path)
	return nil
}
