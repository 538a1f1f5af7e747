//go:build !linux

package watcher

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// recursive: kqueue takes a descriptor for every file of a directory (H35), so
// only the root itself is watched, for Quiet.
const recursive = false

// reliable: only inotify gives events of all directories in one order.
func reliable(string) why { return why{WhyFileSystem, "no ordered events on " + runtime.GOOS} }

func openDir(path string) (*os.File, error) { return os.Open(path) }

func overLimit(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, errTooMany) }

func watchLimit() int { return 0 }

func limitHint() string { return "raise the limit on open files" }

func instanceHint(error) string { return "" }
