//go:build !linux

package lab

import (
	"errors"
	"os/exec"
)

// Apart changes nothing: there are no user namespaces.
func Apart(*exec.Cmd) {}

// HeedModes can't be had without user namespaces.
func HeedModes() error { return errors.ErrUnsupported }

// AllowWatches can't be had without user namespaces.
func AllowWatches(int) error { return errors.ErrUnsupported }
