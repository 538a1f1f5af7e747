package projects

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// Project is an open project: its shadow repository and where it is found. Its
// identity is its UUID; paths and inodes are hints that can be rebound.
type Project struct {
	ID            string
	Dir           string // $UMBRA_HOME/projects/<name>-<short>
	Name          string
	Store         *shadow.Store
	SnapshotCache *snapshotCache
	PrunedPaths   upkeep.OthersReader
	Locations     Locations
}

// Over is the project with what is in another store, for a look at it.
func (p *Project) Over(s *shadow.Store) *Project {
	return &Project{ID: p.ID, Dir: p.Dir, Name: p.Name, Store: s, SnapshotCache: p.SnapshotCache, Locations: p.Locations}
}

// UpdatesDir is where a project has the updates for its missions: in waiting/, told/ and
// own/, a directory for each mission.
const UpdatesDir = "updates"

// MergesDir is where a project has the merges that wait, by the mission merged into.
const MergesDir = "merges"

// RemotesFile has the project's remotes.
func (p *Project) RemotesFile() string { return filepath.Join(p.Dir, "remotes.json") }

func (p *Project) ShadowRepo() string { return filepath.Join(p.Dir, "shadow.git") }

// Generation tells one object store from another: what is in one need not be in
// the next. Pruning makes another one of a project's.
func (p *Project) Generation() uint64 {
	digits, _, _ := strings.Cut(p.ID, "-")
	n, _ := strconv.ParseUint(digits, 16, 64)
	if pruned, err := shadow.LastPruned(p.Store); err == nil && !pruned.IsZero() {
		n ^= uint64(pruned.Unix())
	}
	return n
}

// PinsBySnapshot lists the pins of each snapshot.
func (p *Project) PinsBySnapshot() map[gitstore.ID][]string {
	pins := map[gitstore.ID][]string{}
	list, err := p.Store.Refs(gitstore.RefPin)
	if err != nil {
		return pins
	}
	for _, ref := range list.Refs {
		pins[ref.ID] = append(pins[ref.ID], ref.Name.Arg())
	}
	return pins
}
