package missions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// agentConfigs checks the versions of agents' configurations. What is damaged
// there can't be read again from anywhere, but is begun anew when it is set aside.
func (d *examination) agentConfigs(ctx context.Context) error {
	dirs, err := filepath.Glob(d.l.home.AgentStore("*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		for _, why := range checkConfigs(ctx, dir) {
			agent := strings.TrimSuffix(filepath.Base(dir), ".git")
			d.found(Problem{
				Invariant: "I1", Message: fmt.Sprintf("the versions of the configuration of %s: %s", agent, why),
				Fix: "umbra doctor --fix sets them aside, and new ones are begun",
			}, func() error { return setAside(dir) })
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// checkConfigs says what is wrong in a repository of versions; the first thing is
// enough.
func checkConfigs(ctx context.Context, dir string) []string {
	store, err := gitstore.Open(dir)
	if err != nil {
		return []string{err.Error()}
	}
	defer store.Close()
	problems, err := store.Check(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return []string{err.Error()}
	}
	for _, p := range problems {
		if p.Ref == "" { // its refs are no missions
			return []string{p.Message}
		}
	}
	list, err := store.Refs(gitstore.RefAgent)
	if err != nil {
		return []string{err.Error()}
	}
	for _, bad := range list.Bad {
		return []string{bad.Error()}
	}
	for _, ref := range list.Refs {
		if _, err := store.Commit(ref.ID); err != nil {
			return []string{err.Error()}
		}
	}
	return nil
}

// setAside renames a repository to a name that is free.
func setAside(dir string) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.damaged-%d", dir, n)
		if _, err := os.Lstat(to); err != nil {
			return os.Rename(dir, to)
		}
	}
}
