package restores

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// leftOutFinder finds the files that a restore can't put back, since no snapshot holds
// them.
type leftOutFinder struct {
	mission         *projects.Mission
	root            *beneath.Root
	present, target restore.Side
	paths           []string // what the restore is limited to, none for all
}

func (f *leftOutFinder) isWanted(path string) bool {
	return isWanted(f.paths, path)
}

// isWanted reports whether a restore that is limited to some paths, none for all, has to
// do with a path.
func isWanted(paths []string, path string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return p == "" || home.IsWithin(p, path) })
}

// differing lists the files without content in the snapshots that are not as they were at
// the target's moment. A restore leaves them and says so.
func (f *leftOutFinder) differing() ([]missions.PathReason, error) {
	var list []missions.PathReason
	for _, s := range snapshots.FilesLeftOut(f.target.Skipped) {
		if !f.isWanted(s.Path) {
			continue
		}
		change, err := f.changeOf(s)
		if err != nil {
			return nil, err
		}
		if change != "" {
			list = append(list, missions.PathReason{Path: s.Path, Reason: change + " since then, and " + snapshots.LeftOutReason(s.Reason)})
		}
	}
	for _, s := range snapshots.FilesLeftOut(f.present.Skipped) {
		if isNew, err := f.isNew(s); err != nil {
			return nil, err
		} else if isNew {
			list = append(list, missions.PathReason{Path: s.Path, Reason: "new since then, and " + snapshots.LeftOutReason(s.Reason)})
		}
	}
	return list, nil
}

// changeOf is what became of a file since it was left out: "changed" or "gone", "" if
// nothing.
func (f *leftOutFinder) changeOf(s documents.Skipped) (string, error) {
	st, err := f.root.Lstat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, beneath.ErrSymlink):
		return "gone", nil
	case errors.Is(err, fs.ErrPermission):
		return "", nil // the directory above it is said as unreadable
	case err != nil:
		return "", err
	case s.Matches(st):
		return "", nil
	}
	return "changed", nil
}

// isNew reports whether a file that is left out now was not there at the target's moment:
// the restore would delete it, if that could be taken back.
func (f *leftOutFinder) isNew(s documents.Skipped) (bool, error) {
	if !f.isWanted(s.Path) {
		return false, nil
	}
	if f.target.Skipped != nil {
		if _, then := f.target.Skipped.Covers(s.Path); then {
			return false, nil
		}
	}
	if then, err := f.holds(f.target, s.Path); then || err != nil {
		return false, err
	}
	_, why, err := f.target.Rules.Eligible(s.Path, documents.Candidate{Mode: gitstore.ModeFile, Size: s.Size})
	return why != documents.ReasonIgnored, err
}

// named lists those of the paths that were typed that no snapshot holds, whether they
// differ or not. A path that names nothing then and nothing now is an error.
func (f *leftOutFinder) named() ([]missions.PathReason, error) {
	var list []missions.PathReason
	for _, path := range f.paths {
		why, err := f.reasonOfAbsence(path)
		if err != nil {
			return nil, err
		}
		if why != "" {
			list = append(list, missions.PathReason{Path: path, Reason: snapshots.LeftOutReason(why)})
		}
	}
	return list, nil
}

// reasonOfAbsence is why neither side's tree holds a path, "" if one does.
func (f *leftOutFinder) reasonOfAbsence(path string) (documents.Reason, error) {
	for _, side := range []restore.Side{f.target, f.present} {
		if held, err := f.holds(side, path); held || err != nil {
			return "", err
		}
	}
	for _, side := range []restore.Side{f.target, f.present} {
		if side.Skipped == nil {
			continue
		}
		if s, covered := side.Skipped.Covers(path); covered {
			return s.Reason, nil
		}
		if slices.ContainsFunc(side.Skipped.All(), func(s documents.Skipped) bool { return home.IsWithin(path, s.Path) }) {
			return "", nil // what is left out in it is said file by file
		}
	}
	_, err := f.root.Lstat(path)
	if err == nil {
		return documents.ReasonIgnored, nil
	}
	for _, mode := range []gitstore.Mode{gitstore.ModeFile, gitstore.ModeDir} {
		_, why, err := f.target.Rules.Eligible(path, documents.Candidate{Mode: mode})
		if err != nil || why == documents.ReasonIgnored || why == documents.ReasonReserved {
			return why, err
		}
	}
	log := home.ShellCommand([]string{"umbra", "log", f.mission.Name, "--path", path})
	return "", missions.Errorf(missions.KindNotFound, log+" lists the moments that changed it",
		"%s is neither in the snapshot nor in the workspace; nothing was changed", path)
}

// holds reports whether a snapshot has a file or directory at a path.
func (f *leftOutFinder) holds(side restore.Side, path string) (bool, error) {
	if side.Modes != nil && slices.ContainsFunc(side.Modes.Empty, func(dir string) bool { return home.IsWithin(path, dir) }) {
		return true, nil
	}
	if path == "" {
		return true, nil
	}
	_, err := f.mission.Project.Store.Lookup(side.Tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return false, nil
	}
	return err == nil, err
}
