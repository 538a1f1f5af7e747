package remotes

import (
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// sentSnapshot is the snapshot of a mission that a remote had when it was removed. Pruning may
// drop it then: if the remote is added again, nothing else tells that it is of this home.
type sentSnapshot struct {
	Mission string      `json:"mission"`
	ID      gitstore.ID `json:"id"`
	At      time.Time   `json:"at"`
}

// PushedIDs are the snapshots that the remotes of a project have, or may have. What a remote
// has that was removed is not among them: nothing is kept for it.
func PushedIDs(p *projects.Project) (map[gitstore.ID]bool, error) {
	s, err := readSaved(p)
	if err != nil {
		return nil, err
	}
	ids := map[gitstore.ID]bool{}
	for _, r := range s.Remotes {
		for _, id := range r.has() {
			ids[id] = true
		}
	}
	return ids, nil
}

// forget removes a remote from the list, and remembers what it has of this home. What can't
// be read is not remembered, so that a fetch brings it again.
func (s *saved) forget(store *shadow.Store, name string) {
	kept := s.Remotes[:0]
	for _, r := range s.Remotes {
		if r.Name != name {
			kept = append(kept, r)
			continue
		}
		for mission, id := range r.has() {
			if c, err := store.Commit(id); err == nil && !s.wasSent(mission, id) {
				s.Sent = append(s.Sent, sentSnapshot{Mission: mission, ID: id, At: c.Committer.When})
			}
		}
	}
	s.Remotes = kept
}

func (s *saved) wasSent(mission string, id gitstore.ID) bool {
	for _, one := range s.Sent {
		if one.Mission == mission && one.ID == id {
			return true
		}
	}
	return false
}

// hasPruned reports whether a snapshot that a remote has of a mission of this home was pruned
// here: it was sent, and the history has a gap of pruning at its time. One that was lost
// otherwise is worth being fetched.
func (s *saved) hasPruned(store *shadow.Store, mission string, id, tip gitstore.ID) (bool, error) {
	for _, one := range s.Sent {
		if one.Mission == mission && one.ID == id {
			return inPrunedGap(store, tip, one.At)
		}
	}
	return false, nil
}

// inPrunedGap reports whether a commit of some time can stand where a history was pruned. Along
// a history times never go back, but several commits may have one.
func inPrunedGap(s *shadow.Store, tip gitstore.ID, at time.Time) (bool, error) {
	gap := false // right before the commit
	for c, err := range s.History(tip, shadow.HistoryOptions{}) {
		switch {
		case err != nil:
			return false, err
		case gap && !c.Committer.When.After(at):
			return true, nil
		case c.Committer.When.Before(at):
			return false, nil
		}
		gap = !c.PrunedAt.IsZero()
	}
	return gap, nil
}
