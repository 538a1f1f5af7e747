package merges

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/missions"
)

// resultWithTexts is the plan as its user sees it, with the texts of some paths.
func (p *plan) resultWithTexts(paths []string) (missions.MergeResult, error) {
	for _, path := range paths {
		q := p.paths[path]
		if q == nil {
			return missions.MergeResult{}, notInMerge(path)
		}
		var err error
		if q.Texts, err = p.texts(q); err != nil {
			return missions.MergeResult{}, err
		}
	}
	return p.result(), nil
}

func notInMerge(path string) error {
	return missions.Errorf(missions.KindNotFound, "umbra merge --status lists the paths", "%s is no path of this merge", path)
}

// texts are what the sides have changed at a path, and what Git makes of all.
func (p *plan) texts(q *question) (*missions.MergeTexts, error) {
	texts := &missions.MergeTexts{Sides: []missions.MergeText{}}
	list, err := p.pathSides(q)
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		if text, err := p.areText(one.Conflict); err != nil || !text {
			return texts, err
		}
	}
	if texts.Merged, err = p.read(list[0].Ours); err != nil {
		return nil, err
	}
	for i, one := range list {
		if i == 0 && slices.Contains(q.Missions, p.into.Name) {
			patch, err := p.patch(one.Conflict, "ours", p.into.Name)
			if err != nil {
				return nil, err
			}
			texts.Sides = append(texts.Sides, missions.MergeText{Mission: p.into.Name, Patch: patch})
		}
		patch, err := p.patch(one.Conflict, "theirs", one.name)
		if err != nil {
			return nil, err
		}
		texts.Sides = append(texts.Sides, missions.MergeText{Mission: one.name, Patch: patch})
		if texts.Merged, err = p.mergeWithMarks(texts.Merged, one, i); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// pathSide is what a path is on a side, with what it is in the mission that is merged into.
type pathSide struct {
	merge.Conflict
	name string
}

// pathSides are the sides whose texts a path is made of: those in conflict, or all that
// changed it where Git merged them.
func (p *plan) pathSides(q *question) (list []pathSide, err error) {
	for i, from := range p.sides {
		c, conflicts := q.conflicts[i]
		if !conflicts {
			if len(q.conflicts) > 0 || !slices.Contains(q.Missions, from.mission.Name) {
				continue
			}
			c.Path = q.Path
			if c.Base, err = p.entryAt(from.base.Tree, q.Path); err != nil {
				return nil, err
			}
			if c.Theirs, err = p.entryAt(from.tree, q.Path); err != nil {
				return nil, err
			}
		}
		if c.Ours, err = p.oursOf(q, c); err != nil {
			return nil, err
		}
		list = append(list, pathSide{Conflict: c, name: from.mission.Name})
	}
	return list, nil
}

// oursOf is what the mission merged into has at a path; where it has renamed the file, that
// is what Git found.
func (p *plan) oursOf(q *question, c merge.Conflict) (e gitstore.TreeEntry, err error) {
	if e, err = p.entryAt(p.ours, q.Path); err == nil && e.ID.IsZero() {
		e = c.Ours
	}
	return e, err
}

// patch is what a side of a conflict has changed since its base.
func (p *plan) patch(c merge.Conflict, side, name string) (patch string, err error) {
	err = p.withFiles(c, func(dir string) error {
		out, err := git.Run(p.ctx, git.Command{Dir: dir, Args: []string{"diff", "--no-index", "--no-ext-diff", "--no-color", "base", side}})
		if failed, ok := errors.AsType[*git.Error](err); err != nil && (!ok || failed.ExitCode != 1) {
			return err
		}
		if _, lines, found := strings.Cut(string(out), "\n@@ "); found {
			patch = fmt.Sprintf("--- a/%s (before)\n+++ b/%s (%s)\n@@ %s", c.Path, c.Path, name, lines)
		}
		return nil
	})
	return patch, err
}

// firstMark is how many signs a mark has in the first merge of a path; each further one has
// one more, so that nobody mistakes the marks of one for those of another.
const firstMark = 7

// mergeWithMarks merges a side into what was merged before, with marks where lines conflict.
func (p *plan) mergeWithMarks(merged []byte, one pathSide, before int) (text []byte, err error) {
	err = p.withFiles(one.Conflict, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "ours"), merged, 0o600); err != nil {
			return err
		}
		text, err = git.Run(p.ctx, git.Command{Dir: dir, Args: []string{
			"merge-file", "-p", "--diff3", fmt.Sprintf("--marker-size=%d", firstMark+before),
			"-L", p.into.Name, "-L", "before", "-L", one.name, "ours", "base", "theirs",
		}})
		if failed, ok := errors.AsType[*git.Error](err); ok && failed.ExitCode > 0 && failed.ExitCode <= mostConflicts {
			err = nil // so many conflicts
		}
		return err
	})
	return text, err
}

// mostConflicts is the highest exit code by which git merge-file counts conflicts.
const mostConflicts = 127
