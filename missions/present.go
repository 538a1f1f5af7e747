package missions

import (
	"context"
	"errors"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// presentTree captures a mission's workspace as it is now without publishing
// anything: objects that nothing names are all it leaves. The mission is one of
// glimpse's.
func (l *Local) presentTree(ctx context.Context, m *loaded) (gitstore.ID, error) {
	var tree gitstore.ID
	err := l.looking(l.locked)(ctx, m, func(m *loaded) error {
		side, err := l.presentSide(ctx, m)
		tree = side.Tree
		return err
	})
	return tree, err
}

// glimpse is a mission for who looks at its workspace as it is now and publishes
// nothing. While nothing may be written in the home, what is stored for that is kept
// elsewhere, until done is called.
func (l *Local) glimpse(m *loaded) (seen *loaded, done func(), err error) {
	why := l.space.Low()
	if why == nil {
		return m, func() {}, nil
	}
	store, err := m.project.store.Scratch()
	if err != nil {
		return nil, nil, Errorf(KindFailed, "set TMPDIR to a directory that can be written to; "+AsError(why).Hint,
			"%w; nor can what is there now be looked at: %s", why, err)
	}
	p, view := *m.project, *m
	p.store, view.project = store, &p
	return &view, func() {
		if err := store.Close(); err != nil {
			l.log.Warn("remove what was stored to look at a workspace", "mission", m.ID, "error", err)
		}
	}, nil
}

// looking is hold for who publishes nothing. While nothing may be written in the
// home, what a killed process left undone can't be finished, and a lock that is not
// there can't be made: nobody who could take it would change anything by it.
func (l *Local) looking(hold holder) holder {
	if l.space.Low() == nil {
		return hold
	}
	return func(ctx context.Context, m *loaded, fn func(*loaded) error) error {
		begun := false
		err := l.holding(ctx, m, func(m *loaded) error {
			begun = true
			return fn(m)
		})
		if begun || !unmade(err) {
			return err
		}
		order := l.orderOf(m.bind.Place)
		order.Lock()
		defer order.Unlock()
		return fn(m)
	}
}

// unmade tells of an error that a lock is not there, and that there is no place for
// it.
func unmade(err error) bool {
	if _, ok := errors.AsType[*lock.FileError](err); !ok {
		return false
	}
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) || isDiskFull(err)
}
