package restores

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// planDisplaced plans to put back what other programs lost to restores: the workspace as
// it is, with these files in it. A file that is there by now and that no restore wrote is
// somebody's newer work, and asked about.
func planDisplaced(ctx context.Context, rs *Restorer, m *projects.Mission, j *Job, present restore.Side, r missions.RestoreRequest) error {
	j.Result.OfDisplaced = true
	list, err := displacedAt(m, r)
	if err != nil {
		return err
	}
	all, err := snapshots.DisplacedFiles(m)
	if err != nil {
		return planError(j.target, err)
	}
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	t := records.NewTree(m.Project.Store, present.Tree)
	to := present
	to.Modes = closedModes(present.Modes)
	for _, d := range list {
		why, err := otherMoment(m, present.Tree, all, d.Path)
		if err != nil {
			return planError(j.target, err)
		}
		if why != "" {
			j.Result.Kept = append(j.Result.Kept, missions.PathReason{Path: d.Path, Reason: why})
			continue
		}
		there, err := whatIsAt(m, present.Tree, d.Path)
		if err != nil {
			return planError(j.target, err)
		}
		switch {
		case there.path != "" && there.path != d.Path:
			j.Result.Kept = append(j.Result.Kept, missions.PathReason{Path: d.Path, Reason: there.path + " is a file now"})
			continue
		case there.mode.IsDir():
			j.Result.Kept = append(j.Result.Kept, missions.PathReason{Path: d.Path, Reason: "a directory is there now"})
			continue
		case there.path != "" && there.id != d.ID && !isOfRestore(m, d.Path, there.id):
			newer := missions.PathReason{Path: d.Path, Reason: "changed since the restore"}
			j.Result.Foreign = append(j.Result.Foreign, newer)
			if r.KeepOthers {
				j.Result.Kept = append(j.Result.Kept, newer)
				continue
			}
		}
		if there.path == "" || there.mode == gitstore.ModeSymlink {
			to.Modes.Unusual[d.Path] = newDisplacedPerm(d.Mode)
		}
		if err := t.PutEntry(d.Path, d.Mode, d.ID); err != nil {
			return planError(j.target, err)
		}
	}
	if to.Tree, err = t.Write(batch); err != nil {
		return planError(j.target, err)
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	j.Files, err = rs.planPaths(m, j.target, sides{present, to}, nil, nil)
	return err
}

// otherMoment says why a file of a SQLite database is not put back: the database that is there
// now is of another moment than its log, and SQLite would damage it with that. "" is that it
// can be.
func otherMoment(m *projects.Mission, tree gitstore.ID, all []snapshots.StoredDisplaced, path string) (string, error) {
	files, err := restore.DatabaseFiles(m.Project.Store, []gitstore.ID{tree}, path)
	if err != nil || len(files) == 0 {
		return "", err
	}
	for _, log := range files[1:] {
		there, err := whatIsAt(m, tree, log)
		if err != nil {
			return "", err
		}
		if there.path != "" || slices.ContainsFunc(all, func(d snapshots.StoredDisplaced) bool { return d.Path == log }) {
			return "the database there and its logs are of another moment; umbra cat prints it with --displaced", nil
		}
	}
	return "", nil
}

// isOfRestore reports whether what is at a path is what a restore of the mission put
// there, and nobody has changed since. What can't be read is taken for somebody's work.
func isOfRestore(m *projects.Mission, path string, now gitstore.ID) bool {
	byRestore := false
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID {
			return false
		}
		e, err := m.Project.Store.Lookup(s.Tree, path)
		if err != nil && !errors.Is(err, gitstore.ErrNoEntry) {
			return false
		}
		if e.ID != now {
			return byRestore
		}
		byRestore = projects.TriggersOf(s).Operation() != ""
	}
	return false
}

// newDisplacedPerm is the permission bits of a displaced file that replaces none: nobody
// knows which it had, so it is for its owner alone.
func newDisplacedPerm(mode gitstore.Mode) uint32 {
	if mode == gitstore.ModeExec {
		return 0o700
	}
	return 0o600
}

// closedModes is a copy to which bits of single paths can be added.
func closedModes(of *documents.Modes) *documents.Modes {
	modes := documents.Modes{}
	if of != nil {
		modes = *of
	}
	if modes.Unusual = maps.Clone(modes.Unusual); modes.Unusual == nil {
		modes.Unusual = map[string]uint32{}
	}
	return &modes
}

// occupant is what a tree has at a path or, if that is a file or link, at one above it.
type occupant struct {
	path string // "" for nothing
	mode gitstore.Mode
	id   gitstore.ID
}

func whatIsAt(m *projects.Mission, tree gitstore.ID, path string) (occupant, error) {
	for end := 0; end < len(path); {
		end++
		if next := strings.IndexByte(path[end:], '/'); next >= 0 {
			end += next
		} else {
			end = len(path)
		}
		e, err := m.Project.Store.Lookup(tree, path[:end])
		if errors.Is(err, gitstore.ErrNoEntry) {
			return occupant{}, nil
		}
		if err != nil {
			return occupant{}, err
		}
		if end == len(path) || !e.Mode.IsDir() {
			return occupant{path[:end], e.Mode, e.ID}, nil
		}
	}
	return occupant{}, nil
}

// displacedAt lists the displaced files that are asked for.
func displacedAt(m *projects.Mission, r missions.RestoreRequest) ([]snapshots.StoredDisplaced, error) {
	all, err := snapshots.DisplacedFiles(m)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "what restores of %s displaced: %w", m.Name, err)
	}
	if len(all) == 0 {
		return nil, missions.Errorf(missions.KindNotFound, "umbra show MOMENT lists what the restore of that moment displaced",
			"no restore of %s displaced what is not in its newest snapshot; nothing was changed", m.Name)
	}
	if len(r.Paths) == 0 {
		return all, nil
	}
	var list []snapshots.StoredDisplaced
	for _, typed := range r.Paths {
		path, err := m.WorkspacePath(r.Caller, typed)
		if err != nil {
			return nil, err
		}
		before := len(list)
		for _, d := range all {
			if (path == "" || home.IsWithin(path, d.Path)) && !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
		if len(list) == before {
			return nil, missions.Errorf(missions.KindNotFound, "umbra status lists what was", "no restore of %s displaced %s; nothing was changed", m.Name, path)
		}
	}
	return list, nil
}
