//go:build !linux

package lock

import (
	"errors"
	"fmt"
)

// OnExit is for Linux, where it calls gone when the process has ended.
func (o Owner) OnExit(func()) (stop func(), err error) {
	return nil, fmt.Errorf("wait for the end of process %d: %w", o.PID, errors.ErrUnsupported)
}
