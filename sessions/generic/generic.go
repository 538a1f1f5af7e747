// Package generic lets any tool take part: one that calls `umbra hook generic`
// with a small JSON at each change of its state, which docs/agents/generic.md describes.
// It knows no format of a conversation: the file that a tool names is kept as
// bytes, and goes to a restored or forked tool as it was, if the tool has said
// how it is started on one. It must not write files, nor know of missions or Git.
package generic

import (
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// Name is the word of these tools on Umbra's command line.
const Name = "generic"

// Adapter is the sessions.Adapter of the tools that Umbra does not know.
type Adapter struct {
	// Dir is where copies of their conversations are put.
	Dir string
}

var _ sessions.Foreign = Adapter{}

// Name is "generic".
func (Adapter) Name() string { return Name }

// Runs is false: no command is known to start such a tool until it has called.
func (Adapter) Runs([]string) bool { return false }

// Root is the directory of the copies.
func (a Adapter) Root(sessions.Environ) string { return a.Dir }

// NewID is the random UUID.
func (Adapter) NewID(random string, _ time.Time) string { return random }

const copyName = "transcript"

// Path is where a copy of a conversation goes, in a directory of its own.
func (a Adapter) Path(_ sessions.Environ, _, id string) string {
	return filepath.Join(a.Dir, filepath.Base(id), copyName)
}

// Open reads a session's identity: its id is known of a copy alone, its directory
// of none.
func (a Adapter) Open(path string) (sessions.Session, error) {
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{Path: path, Modified: info.ModTime(), Size: info.Size()}
	if dir := filepath.Dir(path); filepath.Dir(dir) == a.Dir {
		s.ID = filepath.Base(dir)
	}
	return s, nil
}
