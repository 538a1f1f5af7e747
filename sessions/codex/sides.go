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

// placeSegments begins that of an earlier rollout of the session itself, in which
// its user has gone back.
const placeSegments = "segments/"

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
// fork that Codex has made, and a session in which its user has gone back, holds only
// what came since, and names the one before by its id and a length in bytes. An
// ancestor that is gone is left out: Codex can't go on from there either.
func (a Adapter) ancestorSides(env sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	var sides []sessions.Side
	own := idOf(filepath.Base(s.Path))
	seen := map[string]bool{segmentOf(filepath.Base(s.Path)): true}
	for file := s.Path; len(sides) < mostAncestors; {
		id, err := ancestorOf(file)
		if errors.Is(err, sessions.ErrNoSession) || err == nil && (id == "" || seen[id]) {
			return sides, nil
		}
		if err != nil {
			return nil, err
		}
		seen[id] = true
		if file = storeOf(env).segment(id); file == "" {
			return sides, nil
		}
		place := placeAncestors
		if idOf(filepath.Base(file)) == own {
			place = placeSegments
		}
		side, err := a.side(env, place, file)
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

func (a Adapter) side(env sessions.Environ, place, file string) (sessions.Side, error) {
	f, info, err := sessions.OpenFile(file)
	if err != nil {
		return sessions.Side{}, err
	}
	defer f.Close()
	rel, err := filepath.Rel(a.Root(env), file)
	if err != nil {
		return sessions.Side{}, err
	}
	return sessions.Side{Name: place + filepath.ToSlash(rel), Path: file, Size: info.Size(), Mode: info.Mode().Perm()}, nil
}

// ancestorOf is the rollout that a rollout's first line continues.
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
// is there, be it in the archive, serves the copy too. Earlier rollouts of the session
// itself are in a copy, and are put back for the session alone.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	var files []sessions.File
	agents := copied(sides)
	for _, name := range sides {
		if isAgent(name) {
			if f, missing := a.placeAgent(env, name, open, to, agents); missing {
				files = append(files, f)
			}
			continue
		}
		rel, ancestor := strings.CutPrefix(name, placeAncestors)
		if !ancestor {
			rel, _ = strings.CutPrefix(name, placeSegments)
		}
		if rel == name || !sessions.IsSideName(rel) || idOf(path.Base(rel)) == "" {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		if (ancestor || to.OldID == to.NewID) && storeOf(env).segment(segmentOf(path.Base(rel))) == "" {
			files = append(files, putBack(a.Root(env), name, rel, open))
		}
	}
	return files, nil
}

// isAgent reports whether a side file is a subagent's rollout.
func isAgent(name string) bool {
	base, ok := strings.CutPrefix(name, placeAgents)
	return ok && base == path.Base(base) && idOf(base) != ""
}

// Subagent implements sessions.Delegating.
func (Adapter) Subagent(side string) (id string, ok bool) {
	return idOf(path.Base(side)), isAgent(side)
}

// copied are the ids of the subagents among side files.
func copied(sides []string) (ids []string) {
	for _, name := range sides {
		if isAgent(name) {
			ids = append(ids, idOf(path.Base(name)))
		}
	}
	return ids
}

// putBack is a rollout as it was, where it was.
func putBack(root, name, rel string, open func(name string) (io.ReadCloser, error)) sessions.File {
	return sessions.File{Path: filepath.Join(root, filepath.FromSlash(rel)), Mode: sideMode, Write: func(w io.Writer) error {
		r, err := open(name)
		if err != nil {
			return fmt.Errorf("read side file %s: %w", name, err)
		}
		defer r.Close()
		if _, err := io.Copy(w, r); err != nil {
			return fmt.Errorf("place side file %s: %w", name, err)
		}
		return nil
	}}
}
