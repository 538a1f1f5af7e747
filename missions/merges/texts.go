package merges

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/missions"
)

// resultWithTexts is the plan as its user sees it, with the texts of some paths.
func (p *plan) resultWithTexts(paths []missions.Path) (missions.MergeResult, error) {
	for _, path := range paths {
		q := p.paths[string(path)]
		if q == nil {
			return missions.MergeResult{}, notInMerge(p, path)
		}
		var err error
		if q.Texts, err = p.texts(q); err != nil {
			return missions.MergeResult{}, err
		}
		if one := p.proposalFor(q); one != nil && q.Proposal != nil {
			if err := p.addProposalText(q, *one); err != nil {
				return missions.MergeResult{}, err
			}
		}
	}
	return p.result(), nil
}

func notInMerge(p *plan, path missions.Path) error {
	if name := (wholes{p}).with(string(path)); name != "" {
		return missions.Errorf(missions.KindNotFound, "--resolve "+name+"=CHOICE", "%s is chosen with %s: it is a log of that database", path, name)
	}
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
		if text, err := p.areTextOrNone(one.Conflict); err != nil || !text {
			return texts, err
		}
	}
	if texts.Merged, err = p.read(list[0].Ours); err != nil {
		return nil, err
	}
	add := func(one pathSide, side, name string) (err error) {
		e, text := one.Theirs, missions.MergeText{Mission: name}
		if side == "ours" {
			e = one.Ours
		}
		text.Absent = e.ID.IsZero() && one.Base.ID.IsZero()
		if text.Deleted = e.ID.IsZero() && !one.Base.ID.IsZero(); !text.Deleted {
			text.Patch, err = p.patch(one.Conflict, side, "", name)
		}
		texts.Sides = append(texts.Sides, text)
		return err
	}
	names, marks := []string{p.into.Name}, firstMark
	for i, one := range list {
		if i == 0 && slices.Contains(q.Missions, p.into.Name) {
			if err := add(one, "ours", p.into.Name); err != nil {
				return nil, err
			}
		}
		if err := add(one, "theirs", one.name); err != nil {
			return nil, err
		}
		merged, conflicts, err := p.mergeWithMarks(texts.Merged, one, marks, strings.Join(names, ", "))
		if err != nil {
			return nil, err
		}
		if conflicts {
			marks++
		}
		if i == 0 && !slices.Contains(q.Missions, p.into.Name) {
			names = nil
		}
		texts.Merged, names = merged, append(names, one.name)
	}
	return texts, nil
}

// pathSide is what a path is on a side, with what it is in the mission that is merged into.
type pathSide struct {
	merge.Conflict
	name string
}

// pathSides are the sides that changed a path, in their order.
func (p *plan) pathSides(q *question) (list []pathSide, err error) {
	for i, from := range p.sides {
		c, conflicts := q.conflicts[i]
		if !conflicts {
			if !slices.Contains(q.Missions, from.mission.Name) {
				continue
			}
			c.Path = string(q.Path)
			if c.Base, err = p.entryAt(from.base.Tree, string(q.Path)); err != nil {
				return nil, err
			}
			if c.Theirs, err = p.entryAt(from.tree, string(q.Path)); err != nil {
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
	if e, err = p.entryAt(p.ours, string(q.Path)); err == nil && e.ID.IsZero() {
		e = c.Ours
	}
	return e, err
}

// addProposalText adds what a proposal changes since the sides were one.
func (p *plan) addProposalText(q *question, one proposal) error {
	q.Proposal.Content = one.Content
	list, err := p.pathSides(q)
	if err != nil || len(q.Texts.Sides) == 0 || one.Refused != "" {
		return err
	}
	q.Proposal.Patch, err = p.patch(list[0].Conflict, "proposal", string(one.Content), "proposal")
	return err
}

// firstMark is how many signs a mark has where lines of a path conflict; those of a further
// side have one more, so that nobody mistakes them for others.
const firstMark = 7

// mergeWithMarks merges a side into what was merged before, with marks of so many signs where
// lines conflict.
func (p *plan) mergeWithMarks(merged []byte, one pathSide, signs int, before string) (text []byte, conflicts bool, err error) {
	texts, err := p.readAll(one.Conflict)
	if err != nil {
		return nil, false, err
	}
	texts.Ours = merged
	err = withFiles(texts.Align(false), func(dir string) error {
		text, err = git.Run(p.ctx, git.Command{Dir: dir, Args: []string{
			"merge-file", "-p", "--diff3", fmt.Sprintf("--marker-size=%d", signs),
			"-L", before, "-L", "before", "-L", one.name, "ours", "base", "theirs",
		}})
		if failed, ok := errors.AsType[*git.Error](err); ok && failed.ExitCode > 0 && failed.ExitCode <= mostConflicts {
			conflicts, err = true, nil
		}
		return err
	})
	return text, conflicts, err
}

// mostConflicts is the highest exit code by which git merge-file counts conflicts.
const mostConflicts = 127
