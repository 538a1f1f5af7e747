package projects

import (
	"context"
	"errors"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Locks run functions while no other process, and no other goroutine of this one,
// changes the mission or its workspace.
type Locks struct {
	*Base
	missions         *MissionReader
	mu               sync.Mutex // guards workspaceMutexes
	workspaceMutexes map[home.FileIdentity]*sync.Mutex

	// FinishCutOff recovers what a killed process left undone in a mission's workspace,
	// and reports whether there was any. The room of restores hands it in.
	FinishCutOff func(ctx context.Context, m *Mission) (found bool, err error)

	// Rebind has the mission work on in the directory that is where its workspace was, if
	// that holds the same files; the caller has locked it. The room of moves hands it in.
	Rebind func(ctx context.Context, m *Mission) (*Mission, error)
}

// HoldFunc is WithWorkspaceLock or WithRecoveredWorkspace.
type HoldFunc func(context.Context, *Mission, func(*Mission) error) error

// WithWorkspaceLock runs fn on a mission, read afresh, with its project shared and its
// workspace exclusive: no other process captures or restores meanwhile. By
// itself it is for what an agent waits for, and for recovery.
func (l *Locks) WithWorkspaceLock(ctx context.Context, m *Mission, fn func(*Mission) error) (err error) {
	if err := m.CheckMachine(); err != nil {
		return err
	}
	project, err := lock.Wait(ctx, lock.ProjectFile(l.Home.Dir, m.Project.ID), lock.Shared, l.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { err = errors.Join(err, project.Release()) }()
	tree, err := lock.WaitTree(ctx, l.Home.Dir, m.Binding.Workspace, l.Self)
	if err != nil {
		return l.workspaceLockError(m, err)
	}
	defer func() { err = errors.Join(err, tree.Release()) }()
	if m, err = l.proveWorkspace(ctx, m, tree); err != nil {
		return err
	}
	// The kernel's lock keeps goroutines apart too, but says so to nobody who
	// orders memory: what is cached of the workspace goes from one to the next.
	order := l.WorkspaceMutex(m.Binding.Identity.FileIdentity)
	order.Lock()
	defer order.Unlock()
	if m.Tip != nil {
		fresh, err := l.missions.LoadMission(m.Project, m.ID)
		if err != nil {
			return err
		}
		m = fresh
	}
	return fn(m)
}

// proveWorkspace returns the mission if the directory that is locked is its workspace.
// Another directory in its place, as one that was restored from a backup, is the
// workspace if it holds the same files.
func (l *Locks) proveWorkspace(ctx context.Context, m *Mission, tree *lock.Tree) (*Mission, error) {
	device, inode := tree.Identity()
	now, err := DirectoryIdentity(m.Binding.Workspace)
	if err != nil || now.FileIdentity != (home.FileIdentity{Device: device, Inode: inode}) {
		return m, WorkspaceMovedError(m, "it was moved just now")
	}
	if m.Binding.Identity.Is(now) {
		return m, nil
	}
	if m.Tip == nil || l.Rebind == nil {
		return m, WorkspaceMovedError(m, "another directory is in its place")
	}
	return l.Rebind(ctx, m)
}

// WithRecoveredWorkspace is WithWorkspaceLock for what a user asked for. It first finishes
// or undoes what a killed process left undone in the workspace, so that nobody works on
// from the middle of a restore.
func (l *Locks) WithRecoveredWorkspace(ctx context.Context, m *Mission, fn func(*Mission) error) error {
	return l.WithWorkspaceLock(ctx, m, func(m *Mission) error {
		found, err := l.FinishCutOff(ctx, m)
		if err != nil {
			return err
		}
		if found && m.Tip != nil {
			if m, err = l.missions.LoadMission(m.Project, m.ID); err != nil {
				return err
			}
		}
		return fn(m)
	})
}

func (l *Locks) WithMissionLock(ctx context.Context, m *Mission, hold HoldFunc, fn func(*Mission) error) error {
	if !m.IsWorkspaceGone() {
		return hold(ctx, m, fn)
	}
	held, err := lock.Wait(ctx, lock.ProjectFile(l.Home.Dir, m.Project.ID), lock.Shared, l.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	fresh, err := l.missions.LoadMission(m.Project, m.ID)
	if err != nil {
		return err
	}
	return fn(fresh)
}

// WithRecoveredMission runs fn on a mission read afresh, for changes of its record alone.
// It takes the workspace if that is there; a mission whose workspace is gone
// can still be renamed and removed.
func (l *Locks) WithRecoveredMission(ctx context.Context, m *Mission, fn func(*Mission) error) error {
	return l.WithMissionLock(ctx, m, l.WithRecoveredWorkspace, fn)
}

// WorkspaceMutex is the mutex of a workspace in this process.
func (l *Locks) WorkspaceMutex(at home.FileIdentity) *sync.Mutex {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.workspaceMutexes[at] == nil {
		l.workspaceMutexes[at] = &sync.Mutex{}
	}
	return l.workspaceMutexes[at]
}

func (l *Locks) workspaceLockError(m *Mission, err error) error {
	_, file := errors.AsType[*lock.FileError](err)
	if file || errors.Is(err, lock.ErrHeld) {
		return home.LockError(err)
	}
	return m.WorkspaceOpenError(err)
}

// TimeoutError is the error of a caller whose context has ended before its work: if
// another process has the mission's workspace, as a daemon that was stopped in
// the middle of a capture has, it says which.
func (l *Locks) TimeoutError(ctx context.Context, p *Project, mission string) error {
	m, err := l.missions.LoadMission(p, mission)
	if err != nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	mine, err := lock.Try(lock.WorkspaceFile(l.Home.Dir, m.Binding.Identity.Device, m.Binding.Identity.Inode), lock.Shared, l.Self)
	if err == nil {
		return errors.Join(ctx.Err(), mine.Release())
	}
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.Holder != nil && held.Holder.PID == l.Self.PID {
		return ctx.Err()
	}
	held.Cause = ctx.Err()
	return home.LockError(held)
}
