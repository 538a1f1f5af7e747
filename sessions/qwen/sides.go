package qwen

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// A subagent has a transcript and what is noted of it, called agent-ID.jsonl and
// agent-ID.meta.json, in the directory of its session. Of a session's other files none is
// worth anything to a copy, and some are secret or another process's.
const (
	agentsDir   = "subagents"
	placeAgents = agentsDir + "/"
	agentPrefix = "agent-"
	agentNotes  = ".meta.json"
)

// agentOf is the id of the subagent whose file a side file is; false if it is none.
func agentOf(side string) (id string, ok bool) {
	name, below := strings.CutPrefix(side, placeAgents)
	id, is := strings.CutPrefix(name, agentPrefix)
	for _, ext := range []string{agentNotes, fileExt} {
		if id, ok := strings.CutSuffix(id, ext); ok && below && is && sessions.IsSideName(name) && !strings.Contains(name, "/") {
			return id, true
		}
	}
	return "", false
}

// Sides lists the files of the session's subagents.
func (Adapter) Sides(_ sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	if !sessions.IsUUID(s.ID) {
		return nil, nil
	}
	sides, err := sessions.SidesBelow(filepath.Join(filepath.Dir(filepath.Dir(s.Path)), agentsDir, s.ID), placeAgents)
	if err != nil {
		return nil, fmt.Errorf("list side files: %w", err)
	}
	sides = slices.DeleteFunc(sides, func(side sessions.Side) bool {
		_, of := agentOf(side.Name)
		return !of
	})
	slices.SortFunc(sides, func(x, y sessions.Side) int { return cmp.Compare(x.Name, y.Name) })
	return sides, nil
}

// Subagent implements sessions.Delegating: what is noted of a subagent is no conversation.
func (Adapter) Subagent(side string) (id string, ok bool) {
	id, of := agentOf(side)
	return id, of && !strings.HasSuffix(side, agentNotes)
}

// SidesOf implements sessions.SideChoosing: a subagent that was begun after the cut would be
// restored with the copy, whose model is told of it.
func (Adapter) SidesOf(conversation io.Reader, sides []string, open func(string) (io.ReadCloser, error)) ([]string, error) {
	called := map[string]bool{}
	split := jsonlines.Splitter{Line: func(b []byte, _ int64) error {
		if l, ok := parseLine(b); ok && l.classify() == classAnswer {
			l.calls(func(t sessions.Tool) { called[t.ID] = true })
		}
		return nil
	}}
	if err := split.Drain(conversation); err != nil {
		return nil, err
	}
	notes := map[string][]byte{} // by the subagent's id
	for _, side := range sides {
		id, of := agentOf(side)
		if !of || !strings.HasSuffix(side, agentNotes) {
			continue
		}
		r, err := open(side)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		notes[id] = text
	}
	return slices.DeleteFunc(slices.Clone(sides), func(side string) bool {
		id, _ := agentOf(side)
		return !isOf(called, notes, id)
	}), nil
}

// isOf reports whether a subagent, or the one that it works for, was begun by one of the
// calls.
func isOf(called map[string]bool, notes map[string][]byte, id string) bool {
	for range len(notes) + 1 { // a circle ends too
		text, known := notes[id]
		switch {
		case !known:
			return false
		case called[jsontext.Text(jsontext.Lookup(text, "toolUseId"))]:
			return true
		}
		id = jsontext.Text(jsontext.Lookup(text, "parentAgentId"))
	}
	return false
}

// sideMode is that of the copies.
const sideMode = 0o600

// PlaceSides maps side files to the copy's place, rewritten like the session.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	var files []sessions.File
	for _, name := range sides {
		if _, of := agentOf(name); !of {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		path := filepath.Join(a.projectDir(env, to.NewCwd), agentsDir, to.NewID, strings.TrimPrefix(name, placeAgents))
		files = append(files, sessions.File{Path: path, Mode: sideMode, Write: func(w io.Writer) error {
			return writeSide(w, name, open, to)
		}})
	}
	return files, nil
}

// writeSide writes one side file's content for the copy.
func writeSide(w io.Writer, name string, open func(string) (io.ReadCloser, error), to sessions.Rewrite) error {
	r, err := open(name)
	if err != nil {
		return fmt.Errorf("read side file %s: %w", name, err)
	}
	defer r.Close()
	if strings.HasSuffix(name, fileExt) {
		err = rewriteLines(w, r, to)
	} else {
		var b []byte
		if b, err = io.ReadAll(r); err == nil {
			_, err = w.Write(newRewriter(to).line(nil, b))
		}
	}
	if err != nil {
		return fmt.Errorf("place side file %s: %w", name, err)
	}
	return nil
}
