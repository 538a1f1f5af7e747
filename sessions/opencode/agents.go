package opencode

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// placeAgents begins the portable name of a side file: what a subagent said.
const placeAgents = "agents/"

// agentsDir holds what the subagents of a session said, and theirs, a file each:
// the plugin writes it.
func agentsDir(session string) string { return strings.TrimSuffix(session, transcriptExt) }

func agentFile(session, id string) string {
	return filepath.Join(agentsDir(session), id+transcriptExt)
}

// agentsIn are the ids that have a file of that kind in a directory, in order.
func agentsIn(dir, ext string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ext); ok && isID(id) && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Sides lists what the session's subagents said.
func (Adapter) Sides(_ sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	ids, err := agentsIn(agentsDir(s.Path), transcriptExt)
	if err != nil {
		return nil, fmt.Errorf("list side files: %w", err)
	}
	var sides []sessions.Side
	for _, id := range ids {
		file := agentFile(s.Path, id)
		info, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list side files: %w", err)
		}
		sides = append(sides, sessions.Side{Name: placeAgents + id + transcriptExt, Path: file, Size: info.Size(), Mode: info.Mode().Perm()})
	}
	return sides, nil
}

// Subagent implements sessions.Delegating.
func (Adapter) Subagent(side string) (id string, ok bool) {
	name, below := strings.CutPrefix(side, placeAgents)
	id, is := strings.CutSuffix(name, transcriptExt)
	return id, below && is && isID(id)
}

// PlaceSides places a copy of what each subagent said, under an id of its own, and
// the marks that it and the session are still to be imported. A subagent that was
// at work is cut as its session is; one that had said nothing yet is left out.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	to.Version = rewriteVersion // what is placed beside a session is kept as it is
	session, turn := a.Path(env, to.NewCwd, to.NewID), turnOf(to.OldID, to.NewID)
	files := []sessions.File{markOf(session)}
	for _, name := range sides {
		id, is := a.Subagent(name)
		if !is {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		moved := turn.session([]byte(id))
		if moved == nil {
			continue // no id of OpenCode's: nothing in the copy would lead there
		}
		cut, err := a.cutSide(name, open)
		if errors.Is(err, sessions.ErrEmptyCut) {
			continue
		}
		if err != nil {
			return nil, err
		}
		file := agentFile(session, string(moved))
		files = append(files, sessions.File{Path: file, Mode: 0o600, Write: func(w io.Writer) error {
			return readSide(name, open, func(r io.Reader) error { return a.Rewrite(w, r, cut.Length, to) })
		}}, markOf(file))
	}
	return files, nil
}

// markOf says that a session's file that is placed is still to be imported.
func markOf(session string) sessions.File {
	return sessions.File{Path: strings.TrimSuffix(session, transcriptExt) + pendingExt, Mode: 0o600, Write: func(io.Writer) error { return nil }}
}

func (a Adapter) cutSide(name string, open func(string) (io.ReadCloser, error)) (cut sessions.Cut, err error) {
	err = readSide(name, open, func(r io.Reader) error {
		cut, err = a.Cut(r)
		return err
	})
	return cut, err
}

func readSide(name string, open func(string) (io.ReadCloser, error), read func(io.Reader) error) error {
	r, err := open(name)
	if err != nil {
		return fmt.Errorf("read side file %s: %w", name, err)
	}
	defer r.Close()
	if err := read(r); err != nil {
		return fmt.Errorf("side file %s: %w", name, err)
	}
	return nil
}
