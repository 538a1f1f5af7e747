//go:build unix && !linux

package commands

import "golang.org/x/sys/unix"

const (
	termiosGet      = unix.TIOCGETA
	termiosSetDrain = unix.TIOCSETAW
)
