package missions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// trashTalks moves a mission's copies of conversations to the trash: those that
// restores and forks made in Umbra's own store, for a tool that Umbra does not know.
// What is in an agent's store is the agent's. A launch makes the copy again from the
// newest record, should the mission come back.
func (l *Local) trashTalks(m *loaded, result *RemoveResult) error {
	a := l.adapter(m.Agent)
	if !isForeign(a) {
		return nil
	}
	others := l.talksOfOthers(m)
	for _, id := range append(slices.Clone(m.Sessions), m.stored.Session) {
		if !uuidForm().MatchString(id) || slices.Contains(others, id) { // a tool's own name for one is in no directory of Umbra's
			continue
		}
		moved, err := l.trashDirectory(m.ID, filepath.Dir(a.Path(m.adapterEnv(), "", id)), "conversation-"+id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("move a conversation to the trash: %w", err)
		}
		result.Trash = append(result.Trash, moved)
	}
	return nil
}

// talksOfOthers lists the sessions that other missions of the same agent have, or
// can go back to.
func (l *Local) talksOfOthers(m *loaded) (ids []string) {
	all, _ := l.allProjects()
	for _, p := range all {
		list, _ := l.missionsOf(p)
		for _, o := range list {
			if o.ID != m.ID && o.Agent == m.Agent {
				ids = append(append(ids, o.Sessions...), o.stored.Session)
			}
		}
	}
	return ids
}

// trashDirectory moves a directory of Umbra's home into the trash of a mission, under
// that name or, where something has it already, one with a number.
func (l *Local) trashDirectory(mission, dir, name string) (string, error) {
	if _, err := os.Lstat(dir); err != nil {
		return "", err
	}
	trash := l.home.path("trash", mission)
	if err := disk.MakeDirs(l.home.Dir, trash); err != nil {
		return "", err
	}
	to := filepath.Join(trash, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, os.Rename(dir, to)
		}
		to = filepath.Join(trash, fmt.Sprintf("%s-%d", name, n))
	}
}
