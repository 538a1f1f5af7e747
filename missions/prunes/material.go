package prunes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/remotes"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// material is a project's material, and the missions that it is of.
type material struct {
	retention.Material
	project  *projects.Project
	missions []*projects.Mission
	refs     []gitstore.Ref
	named    map[gitstore.ID]bool          // ids that files of the home name
	pushed   map[gitstore.ID]bool          // what remotes have
	trees    map[gitstore.ID][]gitstore.ID // the snapshots that have a tree
	lost     map[gitstore.ID]bool          // what the user knows to be lost for good
	// boundaries are the snapshots at which history breaks off, with what goes on before.
	boundaries map[gitstore.ID]gitstore.ID
}

// gather reads all snapshots of a project, and who relies on them. Whatever can't be read
// is an error: it might say that something is needed. Snapshots that were read before, for
// the same project, are not read again unless they are at a boundary: they never change.
func (pr *Pruner) gather(ctx context.Context, c choice, before map[gitstore.ID]readSnapshot) (material, error) {
	m := material{project: c.project, trees: map[gitstore.ID][]gitstore.ID{}, boundaries: map[gitstore.ID]gitstore.ID{}}
	m.Snapshots = map[gitstore.ID]retention.Snapshot{}
	present, problems, err := pr.ListMissions(c.project)
	if err != nil {
		return m, err
	}
	removed, more := pr.RemovedMissionsIn(c.project)
	if problems = append(problems, more...); len(problems) > 0 {
		return m, errors.New(problems[0].Message)
	}
	m.missions = append(present, removed...)
	if m.pushed, err = remotes.PushedIDs(c.project); err != nil {
		return m, err
	}
	for _, mission := range m.missions {
		h := retention.History{Mission: mission.ID, Tip: mission.Tip.ID, Policy: c.policy, Pushed: m.pushed, Whole: !c.includes(mission.ID)}
		m.Histories = append(m.Histories, h)
	}
	if m.lost, err = upkeep.KnownLost(c.project.Store); err != nil {
		return m, err
	}
	if err := c.project.Store.Reread(); err != nil {
		return m, err
	}
	refs, err := c.project.Store.Refs("")
	if err != nil {
		return m, err
	}
	if len(refs.Bad) > 0 {
		return m, &refs.Bad[0]
	}
	m.refs = refs.Refs
	for _, ref := range m.refs {
		switch ref.Name.Kind() {
		case gitstore.RefPin:
			m.Claims = append(m.Claims, retention.Claim{ID: ref.ID, Reason: retention.Pinned})
		case gitstore.RefFetchedAgent: // it is another home's to prune
			m.Histories = append(m.Histories, retention.History{Mission: ref.Name.Mission(), Tip: ref.ID, Whole: true})
		case gitstore.RefAgent, gitstore.RefTrashAgent:
			m.Claims = append(m.Claims, retention.Claim{ID: ref.ID, Reason: retention.Tip})
		default:
			continue
		}
		if err := m.follow(ctx, ref.ID, before); err != nil {
			return m, err
		}
	}
	if m.named, err = pr.namedIDs(c.project); err != nil {
		return m, err
	}
	for id := range m.named {
		for _, snapshot := range append([]gitstore.ID{id}, m.trees[id]...) {
			m.Claims = append(m.Claims, retention.Claim{ID: snapshot, Reason: retention.InUse})
		}
	}
	slices.SortFunc(m.Claims, func(a, b retention.Claim) int { return a.ID.Compare(b.ID) })
	return m, nil
}

// tips are the newest snapshots of the project's own missions.
func (m *material) tips() (list []gitstore.ID) {
	for _, mission := range m.missions {
		list = append(list, mission.Tip.ID)
	}
	return list
}

// sharers names the missions that are not to be pruned and have snapshots of one that is.
func (m *material) sharers(c choice, of string) (names []string) {
	for _, mission := range m.missions {
		if c.includes(mission.ID) {
			continue
		}
		for id := mission.Tip.ID; !id.IsZero(); id = m.Snapshots[id].Before() {
			if m.Snapshots[id].Mission == of {
				names = append(names, mission.Name)
				break
			}
		}
	}
	return names
}

// readSnapshot is what was read of a snapshot.
type readSnapshot struct {
	retention.Snapshot
	tree, record gitstore.ID
}

// follow reads the snapshots that lead to a snapshot, those of promoted and merged
// missions too.
func (m *material) follow(ctx context.Context, from gitstore.ID, before map[gitstore.ID]readSnapshot) error {
	todo := []gitstore.ID{from}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := m.Snapshots[id]; known {
			continue
		}
		s, known := before[id]
		bounded := m.project.Store.Bounded(id)
		if !known || bounded {
			var err error
			if s, err = m.read(id); err != nil {
				return err
			}
			before[id] = s
		}
		if bounded {
			m.boundaries[id] = s.Before()
		}
		m.Snapshots[id], m.trees[s.tree] = s.Snapshot, append(m.trees[s.tree], id)
		todo = append(todo, s.Parents...)
	}
	return nil
}

func (m *material) read(id gitstore.ID) (readSnapshot, error) {
	s, err := m.project.Store.Snapshot(id)
	if err != nil {
		return readSnapshot{}, err
	}
	if s.Mission == "" || s.Record.IsZero() {
		return readSnapshot{}, fmt.Errorf("%s is no snapshot", id)
	}
	r := readSnapshot{tree: s.Tree, record: s.Record}
	r.Snapshot = retention.Snapshot{ID: id, Parents: s.Parents, Mission: s.Mission, Turn: s.Turn, Session: s.Session, At: s.At}
	if r.Operation = projects.TriggersOf(s).Operation() != ""; r.Operation {
		if r.Needs, err = needsOf(m.project, s); upkeep.IsKnown(err, m.lost) {
			err = nil
		}
	}
	return r, err
}

// needsOf are the snapshots that it takes to undo and redo an operation.
func needsOf(p *projects.Project, s *gitstore.Snapshot) (needs []gitstore.ID, err error) {
	doc, err := p.ReadRecordDoc(s, projects.OperationDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var op projects.Operation
	if err := projects.ParseDoc(projects.OperationDoc, doc, &op); err != nil {
		return nil, err
	}
	for _, text := range append([]string{op.Target, op.SafetySnapshot}, op.Merged...) {
		if id, err := gitstore.ParseID(text); err == nil {
			needs = append(needs, id)
		}
	}
	return needs, nil
}
