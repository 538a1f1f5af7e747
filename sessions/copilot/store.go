package copilot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

const fileName = "events.jsonl"

// sessionDir is where a session is, whatever directory it works in.
func (a Adapter) sessionDir(env sessions.Environ, id string) string {
	return filepath.Join(a.Root(env), "session-state", id)
}

// Path is the session's file, wherever the agent works.
func (a Adapter) Path(env sessions.Environ, _, id string) string {
	return filepath.Join(a.sessionDir(env, id), fileName)
}

// Stored are the files of all sessions.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	entries, _ := os.ReadDir(a.sessionDir(env, "")) // what can't be read holds no session
	return func(yield func(string) bool) {
		for _, e := range entries {
			if path := a.Path(env, "", e.Name()); e.IsDir() && sessions.IsUUID(e.Name()) && isThere(path) && !yield(path) {
				return
			}
		}
	}
}

func isThere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// mostHeader is how long a session's first line may be.
const mostHeader = 64 << 10

// first is a session's first line.
func first(path string) (line, os.FileInfo, error) {
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return line{}, nil, err
	}
	defer f.Close()
	b, err := bufio.NewReader(io.LimitReader(f, mostHeader)).ReadBytes('\n')
	l, ok := parseLine(b)
	if err != nil || !ok || l.kind != typeStart {
		return line{}, nil, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	return l, info, nil
}

// Open reads a session's identity from its first line. ErrNoSession also for a file that
// begins with anything else.
func (Adapter) Open(path string) (sessions.Session, error) {
	l, info, err := first(path)
	if err != nil {
		return sessions.Session{}, err
	}
	s := sessions.Session{Path: path, Modified: info.ModTime(), Size: info.Size()}
	if s.ID, s.Cwd = l.identity(); !sessions.IsUUID(s.ID) {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	return s, nil
}

// Client implements sessions.Versioned: the version that began the session.
func (Adapter) Client(path string) string {
	l, _, err := first(path)
	if err != nil {
		return ""
	}
	return l.text("copilotVersion")
}

// Trails implements sessions.Trailing.
func (Adapter) Trails() {}

// WrittenAt implements sessions.Dated: `copilot --continue` goes on with the session whose
// file was written last, of any directory. A fork is older than its source; a restore is
// what is to be gone on with.
func (a Adapter) WrittenAt(env sessions.Environ, to sessions.Rewrite) time.Time {
	if to.OldRoot == to.NewRoot {
		return time.Time{}
	}
	if info, err := os.Stat(a.Path(env, to.OldCwd, to.OldID)); err == nil {
		return info.ModTime().Add(-time.Second)
	}
	return time.Unix(1, 0) // its source is gone: older than any other
}

// Live implements sessions.Registering: the process that has the session open keeps a file
// beside it, which outlives a kill; its number may be another program's by then.
func (a Adapter) Live(env sessions.Environ, id string) (pid int, ok bool) {
	entries, _ := os.ReadDir(a.sessionDir(env, id))
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), ".lock")
		number, isPID := strings.CutPrefix(name, "inuse.")
		if pid, err := strconv.Atoi(number); isLock && isPID && err == nil && pid > 0 && lives(pid) {
			return pid, true
		}
	}
	return 0, false
}

// lives reports whether there is a process of that id which may be Copilot CLI's; one of
// another user's counts. Only Linux says what a process runs.
func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if err = p.Signal(syscall.Signal(0)); err != nil && !errors.Is(err, os.ErrPermission) {
		return false
	}
	words, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err != nil || bytes.Contains(words, []byte("copilot"))
}
