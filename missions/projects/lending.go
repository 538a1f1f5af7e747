package projects

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Lending says that a mission is parked for a fork which works in the mission's own
// workspace: what is there is the fork's. It is in the record of the mission, since it must
// outlive every process: whoever launches the mission again puts its files back first. It
// means nothing once the mission is no longer parked.
type Lending struct {
	Fork     string `json:"fork"`
	Snapshot string `json:"snapshot"` // whose files the mission has again after it
}

// Lodging says of a fork that it has no workspace of its own yet: it was entered in its
// parent's. It is gone once the fork has one.
type Lodging struct {
	Worktree string `json:"worktree"`         // where its own is made when it is resumed
	Parents  string `json:"parent,omitempty"` // the workspace of its parent that it has worked in
}

// LentTo is the fork that a parked mission has lent its workspace to, nil for none.
func (m *Mission) LentTo() *Lending {
	c, closed := m.Lifecycle.(missions.Closed)
	if !closed || c.Reason != missions.CloseReasonParked || m.Binding.Machine == "" {
		return nil
	}
	return m.Lent
}

// IsLodger reports whether a fork is bound to the workspace of its parent.
func (m *Mission) IsLodger() bool { return m.Binding.Lodging != nil && !m.Binding.MadeByUmbra }

// IsMovedOut reports whether a fork that was entered in its parent's workspace has none: it has
// left that, and was not resumed since.
func (m *Mission) IsMovedOut() bool { return m.Binding.Lodging != nil && m.Binding.MadeByUmbra }

// KeptIn is the snapshot that has the files of a mission which are in no workspace, and are not
// missed: they were put away for a fork in place, or were that fork's. Nil for any other mission.
func (m *Mission) KeptIn() (*gitstore.Snapshot, error) {
	lent := m.LentTo()
	if lent == nil {
		if m.IsMovedOut() {
			return m.Tip, nil
		}
		return nil, nil
	}
	id, err := gitstore.ParseID(lent.Snapshot)
	if err != nil {
		return nil, err
	}
	return m.Project.Store.Snapshot(id)
}

// MoveIn binds a fork without a workspace to that of its parent.
func (m *Mission) MoveIn(parent *Mission) {
	b := &m.Binding
	b.Workspace, b.Identity, b.Worktree, b.MadeByUmbra = parent.Binding.Workspace, parent.Binding.Identity, "", false
	m.Binding.Lodging = &Lodging{Worktree: b.Lodging.Worktree, Parents: parent.Binding.Workspace}
}

// MoveOut makes a fork that is in the workspace of its parent one whose own is not there: a
// launch makes it, from the newest snapshot.
func (m *Mission) MoveOut() {
	b := &m.Binding
	b.Lodging = &Lodging{Worktree: b.Lodging.Worktree, Parents: b.Workspace}
	b.Worktree, b.Workspace = b.Lodging.Worktree, filepath.Join(b.Lodging.Worktree, b.PathInRepo)
	b.Identity, b.MadeByUmbra = home.DirectoryIdentity{}, true
}

// LenderOf is the mission that has lent its workspace to a fork, nil if none has.
func (r *MissionReader) LenderOf(fork *Mission) *Mission {
	if fork.Parent == nil || fork.Binding.Lodging == nil {
		return nil
	}
	parent, err := r.LoadMission(fork.Project, fork.Parent.Mission)
	if err != nil || parent.LentTo() == nil || parent.LentTo().Fork != fork.ID {
		return nil
	}
	return parent
}

// LentError refuses what needs the files of a mission that has lent its workspace; nil if it
// has not.
func (r *MissionReader) LentError(m *Mission) error {
	lent := m.LentTo()
	if lent == nil {
		return nil
	}
	fork, err := r.LoadMissionOrRemoved(m.Project, lent.Fork)
	if err != nil {
		return missions.Errorf(missions.KindBusy, "umbra mission resume "+m.Name+" puts its files back first", "a side fork of %s has worked in its workspace", m.Name)
	}
	hint := "umbra mission resume " + m.Name + " puts the files of " + m.Name + " back first"
	if r.SideForkOf(m) != nil {
		hint = "leave it first: umbra fork exit " + fork.Name
	} else if missions.HasAgent(fork.Lifecycle) {
		hint = "umbra mission stop " + fork.Name + ", then " + hint
	}
	return missions.Errorf(missions.KindBusy, hint, "%s is parked, and its workspace has the files of its side fork %s", m.Name, fork.Name)
}

// CheckLending refuses a mission in whose workspace another one has lent its own to a side
// fork: what this one's agent writes would be taken for the fork's.
func (r *MissionReader) CheckLending(m *Mission) error {
	all, _ := r.ProjectMissions(m.Project) // what can't be read is said elsewhere
	for _, o := range all {
		one, other := o.Binding.Workspace, m.Binding.Workspace
		if lent := o.LentTo(); lent != nil && o.ID != m.ID && lent.Fork != m.ID && (home.IsWithin(one, other) || home.IsWithin(other, one)) {
			return r.LentError(o)
		}
	}
	return nil
}
