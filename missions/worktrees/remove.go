package worktrees

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
)

// Remove parts with a worktree as its agent asks: a fork goes to the trash, after a last
// snapshot; a plain one goes if it has nothing of its own. What Umbra was not asked for
// stays, with an error: nobody else's directory is removed. asker is the agent's process.
func (s *Steward) Remove(ctx context.Context, c missions.Caller, a Asked, asker int) error {
	if !isDirectory(a.Remove) {
		return nil
	}
	list := AllPlaces(s.Home) // a fork that is a copy has a repository of its own
	i := slices.IndexFunc(list, func(p Place) bool { return disk.IsSameFile(p.Dir, a.Remove) })
	notAsked := missions.Errorf(missions.KindConflict, "remove it yourself", "%s is no worktree that an agent has asked Umbra for", a.Remove)
	if i < 0 {
		return notAsked
	}
	if list[i].Mission == "" {
		r, err := RepositoryAt(a.Remove)
		if err != nil {
			return err
		}
		if !r.isPlain(a.Remove) {
			return notAsked
		}
		return r.removePlain(ctx, c.Env, a.Remove)
	}
	m, err := s.MissionByID(list[i].Mission)
	if err != nil {
		return err
	}
	if !disk.IsSameFile(topOf(m), a.Remove) { // the mission has gone elsewhere
		return notAsked
	}
	if err := s.trash.RemoveLeaving(ctx, m, asker); err != nil {
		return err
	}
	if _, err := os.Lstat(a.Remove); err == nil {
		return fmt.Errorf("%s is still there", a.Remove)
	}
	return nil // its name leads there again if it is brought back
}
