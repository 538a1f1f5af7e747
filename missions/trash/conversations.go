package trash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// trashConversations moves a mission's copies of conversations to the trash: the copies
// that restores and forks made in Umbra's own store, for a tool that Umbra does not
// know. An agent's own store is left alone. If the mission comes back, a launch makes
// the copy again from the newest record.
func (b *Bin) trashConversations(m *projects.Mission, result *missions.RemoveResult) error {
	a := b.Adapter(m.Agent)
	if !projects.IsForeignAdapter(a) {
		return nil
	}
	others := b.sessionsOfOthers(m)
	for _, id := range append(slices.Clone(m.FormerSessions), m.Stored.Session) {
		if !missions.UUIDPattern().MatchString(id) || slices.Contains(others, id) { // a tool's own name for one is in no directory of Umbra's
			continue
		}
		moved, err := b.trashDirectory(m.ID, filepath.Dir(a.Path(m.AdapterEnv(), "", id)), "conversation-"+id)
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

// sessionsOfOthers lists the sessions that other missions of the same agent have, or
// can go back to.
func (b *Bin) sessionsOfOthers(m *projects.Mission) (ids []string) {
	all, _ := b.AllProjects()
	for _, p := range all {
		list, _ := b.ProjectMissions(p)
		for _, o := range list {
			if o.ID != m.ID && o.Agent == m.Agent {
				ids = append(append(ids, o.FormerSessions...), o.Stored.Session)
			}
		}
	}
	return ids
}

// trashDirectory moves a directory of Umbra's home into the trash of a mission. If the
// name is taken there, the directory gets a number.
func (b *Bin) trashDirectory(mission, dir, name string) (string, error) {
	if _, err := os.Lstat(dir); err != nil {
		return "", err
	}
	trash := b.Home.Path("trash", mission)
	if err := disk.MakeDirs(b.Home.Dir, trash); err != nil {
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
