package codex

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// placeAncestors begins the portable name of a side file: the rollout of a
// session that this one was forked from by Codex itself, by its place in the
// store.
const placeAncestors = "ancestors/"

// mostAncestors is where a chain of forks is taken for one without an end.
const mostAncestors = 1000

// sideMode is what Codex gives its own files.
const sideMode = 0o600

// Sides lists the rollouts of the session's subagents, and those that its
// conversation begins in.
func (a Adapter) Sides(env sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	ancestors, err := a.ancestorSides(env, s)
	if err != nil {
		return nil, fmt.Errorf("list side files: %w", err)
	}
	agents, err := a.agentSides(env, s)
	if err != nil {
		return nil, fmt.Errorf("list side files: %w", err)
	}
	sides := slices.Concat(agents, ancestors)
	slices.SortFunc(sides, func(x, y sessions.Side) int { return cmp.Compare(x.Name, y.Name) })
	return sides, nil
}

// ancestorSides lists the rollouts that the session's conversation begins in: a
// fork that Codex has made holds only what came since, and names the one before
// by its id and a length in bytes. An ancestor that is gone is left out: Codex
// can't go on from there either.
func (a Adapter) ancestorSides(env sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	var sides []sessions.Side
	seen := map[string]bool{s.ID: true}
	for file := s.Path; len(sides) < mostAncestors; {
		id, err := ancestorOf(file)
		if errors.Is(err, sessions.ErrNoSession) || err == nil && (id == "" || seen[id]) {
			return sides, nil
		}
		if err != nil {
			return nil, err
		}
		seen[id] = true
		if file = a.find(env, id); file == "" {
			return sides, nil
		}
		side, err := a.side(env, file)
		if errors.Is(err, sessions.ErrNoSession) {
			return sides, nil
		}
		if err != nil {
			return nil, err
		}
		sides = append(sides, side)
	}
	return sides, nil
}

func (a Adapter) side(env sessions.Environ, file string) (sessions.Side, error) {
	f, info, err := sessions.OpenFile(file)
	if err != nil {
		return sessions.Side{}, err
	}
	defer f.Close()
	rel, err := filepath.Rel(a.Root(env), file)
	if err != nil {
		return sessions.Side{}, err
	}
	return sessions.Side{Name: placeAncestors + filepath.ToSlash(rel), Path: file, Size: info.Size(), Mode: info.Mode().Perm()}, nil
}

// ancestorOf is the session that a rollout's first line continues.
func ancestorOf(file string) (string, error) {
	f, _, err := sessions.OpenFile(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	first, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	l, ok := parseLine(first)
	if !ok || l.classify() != classMeta {
		return "", nil
	}
	return ancestor(l), nil
}

// PlaceSides copies the rollouts of subagents, and puts back ancestors that are no
// longer in the store, as they were: their descendants count their bytes. One that
// is there, be it in the archive, serves the copy too.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	var files []sessions.File
	var agents []string // ids
	for _, name := range sides {
		if base, ok := strings.CutPrefix(name, placeAgents); ok && base == path.Base(base) && idOf(base) != "" {
			agents = append(agents, idOf(base))
		}
	}
	for _, name := range sides {
		if base, ok := strings.CutPrefix(name, placeAgents); ok && slices.Contains(agents, idOf(base)) && base == path.Base(base) {
			if f, missing := a.placeAgent(env, name, open, to, agents); missing {
				files = append(files, f)
			}
			continue
		}
		rel, ok := strings.CutPrefix(name, placeAncestors)
		if !ok || !sessions.IsSideName(rel) || idOf(path.Base(rel)) == "" {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		if a.find(env, idOf(path.Base(rel))) != "" {
			continue
		}
		files = append(files, sessions.File{Path: filepath.Join(a.Root(env), filepath.FromSlash(rel)), Mode: sideMode, Write: func(w io.Writer) error {
			r, err := open(name)
			if err != nil {
				return fmt.Errorf("read side file %s: %w", name, err)
			}
			defer r.Close()
			if _, err := io.Copy(w, r); err != nil {
				return fmt.Errorf("place side file %s: %w", name, err)
			}
			return nil
		}})
	}
	return files, nil
}
