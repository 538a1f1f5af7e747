package home

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// LockError turns a lock that somebody else holds, or that can't be taken, into what the
// user is told.
func LockError(err error) error {
	if file, ok := errors.AsType[*lock.FileError](err); ok {
		return lockFileError(file)
	}
	var held *lock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return missions.Errorf(missions.KindInterrupted, "", "interrupted while another operation was waited for: %w", err)
	}
	return missions.Errorf(missions.KindBusy, "wait for it to end and try again", "another operation is at work here: %w", err)
}

// lockFileError is the error of a lock that is not what it must be. It says nothing of
// what the lock is for: see unopened.
func lockFileError(err *lock.FileError) error {
	if lock.Check(err.Path) != nil {
		return missions.Errorf(missions.KindDamaged, "mv "+ShellQuote(err.Path)+" "+ShellQuote(err.Path+".away"), "%w", err)
	}
	return missions.Errorf(missions.KindFailed, "", "%w", err)
}
