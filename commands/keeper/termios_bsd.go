//go:build unix && !linux

package keeper

import "golang.org/x/sys/unix"

const (
	termiosGet      = unix.TIOCGETA
	termiosSetDrain = unix.TIOCSETAW
)
