//go:build !linux

package clients

import "errors"

func runIsolated() (int, error) { return 0, errors.ErrUnsupported }

func raiseLoopback() error { return errors.ErrUnsupported }
