package agents

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TerminateProcess ends a process: SIGTERM, and SIGKILL when the patience is over. It
// returns when the process is gone. The process is proved to be the one meant
// before each signal, since a pid can be used again. One that no signal ends, as
// a process that waits for a broken disk, is an error after twice the patience.
func TerminateProcess(ctx context.Context, p lock.Owner, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	signal := syscall.SIGTERM
	for sent := false; p.Liveness() == lock.Alive; {
		if !sent {
			if err := syscall.Kill(p.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
			sent = true
		}
		if signal == syscall.SIGTERM && time.Now().After(deadline) {
			signal, sent = syscall.SIGKILL, false
		}
		if time.Now().After(deadline.Add(patience)) {
			return errors.New("it does not end")
		}
		if err := projects.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
