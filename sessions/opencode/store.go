package opencode

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const (
	transcriptExt = ".jsonl"
	// pendingExt marks a session that was placed and is not in OpenCode's
	// database yet.
	pendingExt = ".pending"
)

// Path is the file that the plugin writes a session to, whatever its directory.
func (a Adapter) Path(env sessions.Environ, _, id string) string {
	return filepath.Join(a.Root(env), id+transcriptExt)
}

// Open reads a session's identity. Its id is the file's name.
func (Adapter) Open(path string) (sessions.Session, error) {
	id, ok := strings.CutSuffix(filepath.Base(path), transcriptExt)
	if !ok || !isID(id) {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{ID: id, Path: path, Modified: info.ModTime(), Size: info.Size()}
	s.Cwd, err = directoryOf(f)
	return s, err
}

// directoryOf is the working directory that the first session line names.
func directoryOf(r io.Reader) (dir string, err error) {
	found := errors.New("found")
	split := jsonlines.Splitter{Line: func(b []byte, _ int64) error {
		if l, ok := parseLine(b); ok && l.kind == typeSession {
			dir = jsontext.Text(jsontext.Lookup(l.value, "directory"))
			return found
		}
		return nil
	}}
	if err := split.Drain(r); err != nil && !errors.Is(err, found) {
		return "", err
	}
	return dir, nil
}
