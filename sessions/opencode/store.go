package opencode

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
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

// Stored are the files that the plugin has written. What OpenCode's database alone holds
// is not among them.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	return func(yield func(string) bool) {
		files, _ := os.ReadDir(a.Root(env))
		for _, f := range files {
			id, is := strings.CutSuffix(f.Name(), transcriptExt)
			if is && isID(id) && f.Type().IsRegular() && !yield(filepath.Join(a.Root(env), f.Name())) {
				return
			}
		}
	}
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
