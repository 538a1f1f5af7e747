package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
)

// agentConfigs checks the versions of agents' configurations.
func (d *Examination) agentConfigs(ctx context.Context) error {
	dirs, err := d.L.agents.ConfigStoreDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if p, wrong := checkConfigs(ctx, dir); wrong {
			p.Message = fmt.Sprintf("the versions of the configuration of %s: %s", agents.AgentOfConfigStore(dir), p.Message)
			d.found(p, func() error { return mendConfigs(ctx, dir) })
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return d.L.agents.WithUnfinishedConfigStores(ctx, func(left []string) error {
		d.found(missions.Problem{
			Invariant: "I6", Message: fmt.Sprintf("repositories for versions of a configuration that were never whole: %d, as %s", len(left), left[0]),
		}, func() error { return agents.RemoveDirs(left) })
		return nil
	})
}

// mendConfigs removes what killed processes left in a repository of versions, and
// stores again what is intact. Only one in which versions are damaged then is set
// aside: they can't be read again from anywhere, but new ones can be begun.
func mendConfigs(ctx context.Context, dir string) error {
	err := salvageConfigs(ctx, dir)
	p, wrong := checkConfigs(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wrong && p.Invariant == "I1":
		return setAside(dir)
	case wrong:
		return errors.Join(err, errors.New(p.Message))
	}
	return nil
}

func salvageConfigs(ctx context.Context, dir string) error {
	store, err := gitstore.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err := store.Sweep(ctx); err != nil {
		return err
	}
	problems, err := store.Check(ctx)
	for _, p := range problems {
		if len(p.Rotten) > 0 {
			_, e := store.Salvage(ctx, p.Rotten, nil)
			err = errors.Join(err, e)
		}
	}
	return err
}

// checkConfigs says what is wrong in a repository of versions: what is damaged rather
// than what was left over, and the first thing is enough.
func checkConfigs(ctx context.Context, dir string) (problem missions.Problem, wrong bool) {
	damaged := func(err error) (missions.Problem, bool) {
		return missions.Problem{Invariant: "I1", Message: err.Error()}, ctx.Err() == nil
	}
	store, err := gitstore.Open(dir)
	if err != nil {
		return damaged(err)
	}
	defer store.Close()
	problems, err := store.Check(ctx)
	if err != nil {
		return damaged(err)
	}
	for _, p := range problems {
		switch left := p.Invariant == "I6" && p.Fix != ""; {
		case !left && p.Ref == "": // its refs are no missions
			return missions.Problem{Invariant: "I1", Message: p.Message}, true
		case left && !wrong:
			problem, wrong = missions.Problem{Invariant: "I6", Message: messageOf(p)}, true
		}
	}
	list, err := store.Refs(gitstore.RefAgent)
	if err != nil {
		return damaged(err)
	}
	if len(list.Bad) > 0 {
		return damaged(&list.Bad[0])
	}
	for _, ref := range list.Refs {
		if _, err := store.Commit(ref.ID); err != nil {
			return damaged(err)
		}
	}
	return problem, wrong
}

// noteSetAside renames what is damaged to a name that is free.
func setAside(dir string) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s%s%d", dir, home.AsideSuffix, n)
		if _, err := os.Lstat(to); err != nil {
			return os.Rename(dir, to)
		}
	}
}
