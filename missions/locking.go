package missions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// busy turns a lock that somebody else holds, or that can't be taken, into what the
// user is told.
func busy(err error) error {
	if file, ok := errors.AsType[*lock.FileError](err); ok {
		return unlockable(file)
	}
	var held *lock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return Errorf(KindInterrupted, "", "interrupted while another operation was waited for: %w", err)
	}
	return Errorf(KindBusy, "wait for it to end and try again", "another operation is at work here: %w", err)
}

// unlockable is the error of a lock that is not what it must be. It says nothing of
// what the lock is for: see unopened.
func unlockable(err *lock.FileError) error {
	if lock.Check(err.Path) != nil {
		return Errorf(KindDamaged, "mv "+shellQuote(err.Path)+" "+shellQuote(err.Path+".away"), "%w", err)
	}
	return Errorf(KindFailed, "", "%w", err)
}

// holder is locked or holding.
type holder func(context.Context, *loaded, func(*loaded) error) error

// locked is holding for what a user asked for: what a killed process left undone
// in the workspace is finished or taken back first, so that nobody goes on from
// the middle of a restore.
func (l *Local) locked(ctx context.Context, m *loaded, fn func(*loaded) error) error {
	return l.holding(ctx, m, func(m *loaded) error {
		found, err := l.finish(ctx, m)
		if err != nil {
			return err
		}
		if found && m.tip != nil {
			if m, err = l.load(m.project, m.ID); err != nil {
				return err
			}
		}
		return fn(m)
	})
}

// holding runs fn on a mission, read afresh, with its project shared and its
// workspace exclusive: no other process captures or restores meanwhile. By
// itself it is for what an agent waits for, and for recovery.
func (l *Local) holding(ctx context.Context, m *loaded, fn func(*loaded) error) (err error) {
	if err := m.bound(); err != nil {
		return err
	}
	project, err := lock.Wait(ctx, lock.ProjectFile(l.home.Dir, m.project.ID), lock.Shared, l.self)
	if err != nil {
		return busy(err)
	}
	defer func() { err = errors.Join(err, project.Release()) }()
	tree, err := lock.WaitTree(ctx, l.home.Dir, m.bind.Workspace, l.self)
	if err != nil {
		return l.lockFailed(m, err)
	}
	defer func() { err = errors.Join(err, tree.Release()) }()
	if device, inode := tree.Identity(); (Place{Device: device, Inode: inode}) != m.bind.Place {
		return moved(m, "another directory is in its place")
	}
	// The kernel's lock keeps goroutines apart too, but says so to nobody who
	// orders memory: what is cached of the workspace goes from one to the next.
	order := l.orderOf(m.bind.Place)
	order.Lock()
	defer order.Unlock()
	if m.tip != nil {
		fresh, err := l.load(m.project, m.ID)
		if err != nil {
			return err
		}
		m = fresh
	}
	return fn(m)
}

// orderOf is the mutex of a workspace in this process.
func (l *Local) orderOf(at Place) *sync.Mutex {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.order[at] == nil {
		l.order[at] = &sync.Mutex{}
	}
	return l.order[at]
}

func (l *Local) lockFailed(m *loaded, err error) error {
	_, file := errors.AsType[*lock.FileError](err)
	if file || errors.Is(err, lock.ErrHeld) {
		return busy(err)
	}
	return m.unopened(err)
}

// unopened is the error of a workspace that could not be opened: moved where it is
// not there, or not for us; anything else, such as too many open files, says
// nothing of where it is.
func (m *loaded) unopened(err error) error {
	for _, is := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, syscall.ESTALE} {
		if errors.Is(err, is) {
			return moved(m, userfile.Reason(err).Error())
		}
	}
	return Errorf(KindFailed, "try again", "open the workspace %s: %w", m.bind.Workspace, userfile.Reason(err))
}

// remaking is the command that makes a lost workspace again: one that Umbra did
// not make only where that is said.
func (m *loaded) remaking() string {
	if m.bind.Made {
		return "umbra mission resume " + m.Name
	}
	return "umbra mission resume " + m.Name + " --recreate"
}

// replaced reports whether another directory is where the workspace was, and holds
// something: nothing can be made there again.
func (m *loaded) replaced() bool {
	entries, err := os.ReadDir(m.bind.Workspace)
	return err == nil && len(entries) > 0 && m.workspaceGone()
}

// taking is the command by which the mission goes on in the directory that is now
// where its workspace was.
func (m *loaded) taking() string {
	return fmt.Sprintf("umbra project move %s %[1]s", shellQuote(m.bind.Workspace))
}

// outOfTime is the error of a caller whose context has ended before its work: if
// another process has the mission's workspace, as a daemon that was stopped in
// the middle of a capture has, it says which.
func (l *Local) outOfTime(ctx context.Context, p *project, mission string) error {
	m, err := l.load(p, mission)
	if err != nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	mine, err := lock.Try(lock.WorkspaceFile(l.home.Dir, m.bind.Place.Device, m.bind.Place.Inode), lock.Shared, l.self)
	if err == nil {
		return errors.Join(ctx.Err(), mine.Release())
	}
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.Holder != nil && held.Holder.PID == l.self.PID {
		return ctx.Err()
	}
	held.Cause = ctx.Err()
	return busy(held)
}

// moved is the error of a workspace that is not where its mission left it. It
// is never taken for an empty one.
func moved(m *loaded, why string) error {
	again := m.remaking() + " to make it again"
	if m.replaced() {
		again = m.taking() + " to work in what is there now"
	}
	return Errorf(KindFailed, fmt.Sprintf("umbra project move %s NEW if it was moved, or %s", shellQuote(m.bind.Workspace), again),
		"workspace moved or not visible: %s (%s)", m.bind.Workspace, why)
}
