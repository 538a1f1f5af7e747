package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// ErasedDir is where a home's entries go before they are removed: to other processes
// they are gone at once, and whoever is cut off goes on from there.
const ErasedDir = ".erased"

// homeEntryNames are the names of what Umbra keeps in a home beside HomeDirs, and beside
// what it keeps for each machine; those that end with a star begin so.
var homeEntryNames = [...]string{
	"index", "projects.json*", "known.json", "importing.json", "trash.json", "forks.json", "tightening.json", "config.yml", "config.kept.yml", "automations.log*",
	"lock", "usage.json", HooksFile, "daemon.log*", "machine-id", ".umbra-*", ErasedDir,
}

// Erase removes all that Umbra keeps in the home for good, and the home if nothing
// else is in it: what is not Umbra's stays, and is returned, as does what a link in
// the home leads to. Nothing is removed while another process serves the home or
// works in it: KindBusy; and nothing that is not Erasable.
func (h Home) Erase() (stays []string, err error) {
	if err := h.CheckWritable(); err != nil {
		return nil, err
	}
	serving, err := h.Hold("umbra uninstall")
	if err != nil {
		return nil, err
	}
	defer serving.Release()
	release, err := h.takeAllLocks()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := h.CheckErasable(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		return nil, missions.Errorf(missions.KindFailed, "", "read Umbra's home: %w", err)
	}
	for _, e := range entries {
		if !IsHomeEntry(e.Name()) {
			continue
		}
		if err := makeRemovable(h.Path(e.Name())); err != nil {
			return nil, err
		}
	}
	elsewhere := h.TrashedElsewhere()
	for _, place := range elsewhere {
		if err := makeRemovable(place); err != nil {
			return nil, err
		}
	}
	for _, place := range elsewhere {
		if err := RemoveTree(place); err != nil {
			return nil, err
		}
	}
	if err := disk.MakeDirs(h.Dir, h.Path(ErasedDir)); err != nil {
		return nil, missions.Errorf(missions.KindFailed, "", "empty Umbra's home: %w", err)
	}
	var beyond []string // where links lead to
	for _, e := range entries {
		switch {
		case !IsHomeEntry(e.Name()):
			stays = append(stays, h.Path(e.Name()))
		case e.Name() != ErasedDir:
			if at, err := filepath.EvalSymlinks(h.Path(e.Name())); err == nil && e.Type()&fs.ModeSymlink != 0 {
				beyond = append(beyond, at)
			}
			if err := moveEntryInto(h.Path(ErasedDir), h.Path(e.Name())); err != nil {
				return nil, err
			}
		}
	}
	if err := RemoveTree(h.Path(ErasedDir)); err != nil {
		return nil, err
	}
	if len(stays) == 0 {
		if err := os.Remove(h.Dir); err != nil {
			return nil, missions.Errorf(missions.KindFailed, "rmdir "+h.Dir, "remove Umbra's home: %w", err)
		}
	}
	return append(stays, beyond...), nil
}

// takeAllLocks takes every lock of the home, so that no process is at work with what
// is in it.
func (h Home) takeAllLocks() (release func(), err error) {
	files, err := os.ReadDir(h.Path("locks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, missions.Errorf(missions.KindFailed, "", "read the locks of Umbra's home: %w", err)
	}
	var held []*lock.Lock
	release = func() {
		for _, l := range held {
			_ = l.Release() // what it guarded is gone
		}
	}
	for _, file := range files {
		l, err := lock.Try(h.Path("locks", file.Name()), lock.Exclusive, lock.Self("umbra uninstall"))
		if err != nil {
			release()
			return nil, LockError(err)
		}
		held = append(held, l)
	}
	return release, nil
}

// moveEntryInto moves an entry into dir, beside one of its name that a run which was
// cut off has left there.
func moveEntryInto(dir, entry string) error {
	for n := 0; ; n++ {
		to := filepath.Join(dir, fmt.Sprintf("%s.%d", filepath.Base(entry), n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(entry, to); err != nil {
			return missions.Errorf(missions.KindFailed, "", "take %s away: %w", entry, userfile.Reason(err))
		}
		return nil
	}
}

// RemoveTree removes a directory with all that is in it, read-only ones too. It
// refuses, and removes nothing, where something is mounted in it.
func RemoveTree(dir string) error {
	return removalError(dir, beneath.RemoveTree(dir))
}

// makeRemovable opens the directories below dir to their owner, and refuses where
// something is mounted.
func makeRemovable(dir string) error {
	return removalError(dir, beneath.OpenTree(dir, beneath.Options{}))
}

func removalError(dir string, err error) error {
	var mounted *beneath.MountError
	if errors.As(err, &mounted) {
		return missions.Errorf(missions.KindConflict, "umount "+ShellQuote(mounted.At)+", then try again", "%w: it is not removed", mounted)
	}
	if err != nil {
		return missions.Errorf(missions.KindFailed, "", "remove %s: %w", dir, userfile.Reason(err))
	}
	return nil
}
