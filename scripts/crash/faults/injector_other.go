//go:build !(linux && amd64)

package faults

import (
	"errors"
	"os/exec"
)

// An Injector is for Linux alone.
type Injector struct {
	Calls map[Spot]int
	Hit   bool
	At    string
}

// errNoInjector says that no call can be made to fail here.
var errNoInjector = errors.New("file-system calls can be made to fail on Linux on amd64 alone")

// Inject is for Linux alone.
func Inject(*exec.Cmd, string, Fault, Namer, bool) (*Injector, error) { return nil, errNoInjector }

// Wake does nothing.
func (*Injector) Wake() {}

// End is for Linux alone.
func (*Injector) End() error { return errNoInjector }
