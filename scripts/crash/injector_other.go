//go:build !(linux && amd64)

package main

import (
	"errors"
	"os/exec"
)

// An injector is for Linux alone.
type injector struct {
	calls map[spot]int
	hit   bool
	at    string
}

// errNoInjector says that no call can be made to fail here.
var errNoInjector = errors.New("file-system calls can be made to fail on Linux on amd64 alone")

func inject(*exec.Cmd, string, fault, bool) (*injector, error) { return nil, errNoInjector }

func (*injector) wake() {}

func (*injector) end() error { return errNoInjector }
