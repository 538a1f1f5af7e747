package prunes

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// makers know who changed what in a project. When snapshots are gone nobody can tell any
// more, so pruning notes it at each cut.
type makers struct {
	project  *projects.Project
	numbered map[gitstore.ID]projects.NumberedSnapshot
	turns    map[string]bool // the missions that have turns
	others   map[gitstore.ID]othersPaths
}

// othersPaths are the paths that others than the mission changed since the snapshot before.
type othersPaths struct {
	known bool
	paths []string
}

func newMakers(p *projects.Project) *makers {
	return &makers{
		project: p, numbered: map[gitstore.ID]projects.NumberedSnapshot{}, turns: map[string]bool{}, others: map[gitstore.ID]othersPaths{},
	}
}

// read reads the histories that lead to some snapshots, as far as they are not known.
func (k *makers) read(ctx context.Context, tips []gitstore.ID) error {
	for _, tip := range tips {
		err := k.project.WalkTurns(tip, func(turn []projects.NumberedSnapshot) error {
			news := false
			for _, s := range turn {
				if _, known := k.numbered[s.ID]; !known {
					k.numbered[s.ID], news = s, true
				}
				k.turns[s.Mission] = k.turns[s.Mission] || s.Turn > 0
			}
			if !news {
				return projects.ErrStopWalk
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// moments are a mission's own snapshots that go, the newest first.
func (k *makers) moments(m *projects.Mission, kept map[gitstore.ID][]retention.Reason) []missions.PrunedMoment {
	list := []missions.PrunedMoment{}
	prompts := map[int]string{}
	back, newer := -1, -1 // the turns so far, and the number of the last
	for id := m.Tip.ID; !id.IsZero(); {
		s, known := k.numbered[id]
		if !known || s.Mission != m.ID {
			break
		}
		if s.Turn == 0 || s.Turn != newer {
			back, newer = back+1, s.Turn
		}
		if s.Prompt != "" {
			prompts[s.Turn] = s.Prompt
		}
		if id = s.Parent(); kept[s.ID] == nil {
			list = append(list, missions.PrunedMoment{Address: s.Address(m.Name), Snapshot: s.ID.String(), Turn: s.Turn, At: s.At, TurnsBack: back})
		}
	}
	for i, moment := range list {
		if moment.Turn > 0 {
			list[i].Prompt = prompts[moment.Turn]
		}
	}
	return list
}

// changedByOthers are for each cut the paths that others changed in what goes; nil for one
// of which that can't be known.
func (k *makers) changedByOthers(ctx context.Context, cuts map[gitstore.ID]gitstore.ID) (map[gitstore.ID][]string, error) {
	all := map[gitstore.ID][]string{}
	for after, before := range cuts {
		paths, known := map[string]bool{}, true
		for id := after; known && !id.IsZero() && id != before; {
			o, err := k.step(id)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			if known = o.known; !known {
				break
			}
			for _, path := range o.paths {
				paths[path] = true
			}
			id = k.numbered[id].Parent()
		}
		all[after] = nil // nobody can tell: nothing noted before holds for what goes now
		if known {
			all[after] = slices.AppendSeq([]string{}, maps.Keys(paths))
			slices.Sort(all[after])
		}
	}
	return all, nil
}

// step says what others changed between the snapshot before and this one.
func (k *makers) step(id gitstore.ID) (o othersPaths, err error) {
	if o, read := k.others[id]; read {
		return o, nil
	}
	defer func() {
		if err == nil {
			k.others[id] = o
		}
	}()
	after, known := k.numbered[id]
	if !known {
		return o, nil
	}
	before, there := k.numbered[after.Parent()]
	if !there && !after.Parent().IsZero() {
		return o, nil
	}
	if !after.PrunedAt.IsZero() {
		o.paths, err = k.project.PrunedPaths.Others(k.project.Store, id)
		o.known = o.paths != nil
		return o, err
	}
	o.known = after.Lost.IsZero()
	if !o.known || !there || before.Tree == after.Tree {
		return o, nil
	}
	making, err := presence.WhoMade(k.project, before, after, k.turns[after.Mission])
	if err != nil || making.All() {
		return o, err
	}
	err = k.project.Store.DiffTrees(before.Tree, after.Tree, func(c gitstore.Change) error {
		o.paths = append(o.paths, c.Path)
		return nil
	})
	if projects.IsObjectLost(err) {
		return othersPaths{}, nil
	}
	return o, err
}
