package claude

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// A side file's portable name starts with the kind of place it comes from. What
// is in the session's own directory keeps its name there.
const (
	placeHistory = "file-history/" // copies of files before the agent's edits
	placeTasks   = "tasks/"
	placeTodos   = "todos/"
	placeAgents  = "agents/" // 2.0's subagents, flat beside the session
)

// Sides lists what belongs to a session: its directory (subagents, big tool
// results, title), its file history, tasks and todos, and the flat subagent
// files of 2.0. Keys, locks and links are never among them.
func (a Adapter) Sides(env sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	root, dir := a.Root(env), filepath.Dir(s.Path)
	list := sideList{}
	for _, place := range []struct{ dir, prefix string }{
		{filepath.Join(dir, s.ID), ""},
		{filepath.Join(root, "file-history", s.ID), placeHistory},
		{filepath.Join(root, "tasks", s.ID), placeTasks},
	} {
		if err := list.tree(place.dir, place.prefix); err != nil {
			return nil, err
		}
	}
	if err := list.todos(filepath.Join(root, "todos"), s.ID); err != nil {
		return nil, err
	}
	if err := list.agents(dir, s); err != nil {
		return nil, err
	}
	slices.SortFunc(list.sides, func(x, y sessions.Side) int { return cmp.Compare(x.Name, y.Name) })
	return list.sides, nil
}

// Subagent implements sessions.Delegating.
func (Adapter) Subagent(side string) (id string, ok bool) {
	for _, place := range []string{"subagents/", placeAgents} {
		if name, below := strings.CutPrefix(side, place); below {
			name, is := strings.CutSuffix(path.Base(name), transcriptExt)
			id, called := strings.CutPrefix(name, "agent-")
			return id, is && called
		}
	}
	return "", false
}

type sideList struct{ sides []sessions.Side }

func (l *sideList) add(name, path string, info fs.FileInfo) {
	l.sides = append(l.sides, sessions.Side{Name: name, Path: path, Size: info.Size(), Mode: info.Mode().Perm()})
}

// tree adds the regular files below dir, which need not exist. What vanishes
// meanwhile is not there.
func (l *sideList) tree(dir, prefix string) error {
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !e.Type().IsRegular() || isPrivate(e.Name()) {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name := prefix + filepath.ToSlash(rel)
		if prefix == "" && placed(name) {
			return nil
		}
		l.add(name, p, info)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list side files: %w", err)
	}
	return nil
}

// placed reports whether a name is taken by another place.
func placed(name string) bool {
	return hasAnyPrefix([]byte(name), []string{placeHistory, placeTasks, placeTodos, placeAgents})
}

// isPrivate reports names that never leave the machine or mean nothing later.
func isPrivate(name string) bool {
	switch path.Ext(name) {
	case ".key", ".lock", ".sock":
		return true
	}
	return false
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// todos adds todos/<session>-agent-<agent>.json; the session's own list is the
// one whose agent is the session.
func (l *sideList) todos(dir, id string) error {
	return l.each(dir, func(name string, info fs.FileInfo) {
		agent, ok := strings.CutPrefix(name, id+"-agent-")
		if !ok || path.Ext(name) != ".json" {
			return
		}
		if agent == id+".json" {
			agent = "self.json"
		}
		l.add(placeTodos+agent, filepath.Join(dir, name), info)
	})
}

// agents adds 2.0's agent-<hex>.jsonl files whose lines name the session. Those
// written last before the session began can't belong to it and are not opened.
func (l *sideList) agents(dir string, s sessions.Session) error {
	var began time.Time
	looked := false
	return l.each(dir, func(name string, info fs.FileInfo) {
		if !strings.HasPrefix(name, "agent-") || path.Ext(name) != transcriptExt {
			return
		}
		if !looked {
			if first, ok := firstLineOf(s.Path); ok {
				began = first.at()
			}
			looked = true
		}
		file := filepath.Join(dir, name)
		if info.ModTime().Before(began.Add(-time.Minute)) {
			return
		}
		if first, ok := firstLineOf(file); ok && string(first.session) == s.ID {
			l.add(placeAgents+name, file, info)
		}
	})
}

// each calls f for the regular files of a directory, which need not exist.
func (l *sideList) each(dir string, f func(name string, info fs.FileInfo)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("list side files: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("list side files: %w", err)
		}
		f(e.Name(), info)
	}
	return nil
}
