package keeper

import "golang.org/x/sys/unix"

const (
	termiosGet      = unix.TCGETS
	termiosSetDrain = unix.TCSETSW
)
