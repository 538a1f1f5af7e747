package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// TakeTrash takes what is in the trash of a mission out of there, in one step: whole or not
// at all. FinishTaken removes it. It refuses, and changes nothing, where something is mounted
// in it, or where not all of it can be removed.
func (h Home) TakeTrash(mission string) error {
	dir := h.Path("trash", mission)
	if err := makeRemovable(dir); err != nil {
		return err
	}
	if err := disk.MakeDirs(h.Dir, h.Path(ErasedDir)); err != nil {
		return missions.Errorf(missions.KindFailed, "", "empty the trash: %w", err)
	}
	return moveEntryInto(h.Path(ErasedDir), dir)
}

// CountTaken is of how many missions something is there that TakeTrash took, and a process that
// was killed has not removed.
func (h Home) CountTaken() (n int) {
	entries, _ := os.ReadDir(h.Path(ErasedDir)) // else FinishTaken says why
	for _, e := range entries {
		if id, _, _ := strings.Cut(e.Name(), "."); isID(id) {
			n++
		}
	}
	return n
}

// FinishTaken removes for good what TakeTrash took, also what was left of it when a process
// was killed. Other entries stay: they are of an uninstallation that was cut off. It returns
// of how many missions that was, and the bytes that were given back.
func (h Home) FinishTaken() (removed int, bytes int64, err error) {
	entries, err := os.ReadDir(h.Path(ErasedDir))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, missions.Errorf(missions.KindFailed, "", "empty the trash: %w", userfile.Reason(err))
	}
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Name(), ".")
		if !isID(id) {
			continue
		}
		taken := h.Path(ErasedDir, e.Name())
		size, merr := DiskUsage(taken)
		if rerr := RemoveTree(taken); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		if removed++; merr == nil {
			bytes += size
		}
	}
	_ = os.Remove(h.Path(ErasedDir)) // stays if something is in it
	return removed, bytes, err
}

// IsElsewhereInTrash reports whether something of a mission in the trash is on another file
// system than the home, or can't be looked at.
func (h Home) IsElsewhereInTrash(mission string) bool {
	dir := h.Path("trash", mission)
	entries, err := os.ReadDir(dir)
	if err != nil || len(beneath.MountsIn(dir)) > 0 {
		return true
	}
	paths := []string{dir}
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	home, err := os.Lstat(h.Dir)
	return err != nil || slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || IdentityOf(info).Device != IdentityOf(home).Device || placeBeside(path) != ""
	})
}
