package snapshots

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// NotCompared says why git did not compare two trees.
func NotCompared(from, to gitstore.ID, err error) error {
	if errors.Is(err, gitstore.ErrNoGit) {
		return missions.Errorf(missions.KindFailed, "install git 2.38 or newer", "%w", err)
	}
	if _, ok := errors.AsType[*gitstore.GitError](err); ok {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "compare %s and %s: %w", from.Short(), to.Short(), err)
	}
	return err
}
