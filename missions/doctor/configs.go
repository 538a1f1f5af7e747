package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
)

// checkConfigs checks the versions of agents' configurations.
func (x *Examination) checkConfigs(ctx context.Context) error {
	dirs, err := x.Examiner.rooms.Agents.ConfigStoreDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if p, wrong := configProblem(ctx, dir); wrong {
			p.Message = fmt.Sprintf("the versions of the configuration of %s: %s", agents.AgentOfConfigStore(dir), p.Message)
			x.report(p, func() error { return mendConfigStore(ctx, dir) })
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return x.Examiner.rooms.Agents.WithUnfinishedConfigStores(ctx, func(left []string) error {
		x.report(missions.Problem{
			Invariant: "I6", Message: fmt.Sprintf("repositories for versions of a configuration that were never whole: %d, as %s", len(left), left[0]),
		}, func() error { return agents.RemoveDirs(left) })
		return nil
	})
}

// mendConfigStore removes leftovers of killed processes from a repository of versions, and
// stores intact objects again. A repository that is damaged after that is set aside, so
// that new versions can be stored.
func mendConfigStore(ctx context.Context, dir string) error {
	err := salvageConfigStore(ctx, dir)
	p, wrong := configProblem(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wrong && p.Invariant == "I1":
		return home.SetAside(dir)
	case wrong:
		return errors.Join(err, errors.New(p.Message))
	}
	return nil
}

func salvageConfigStore(ctx context.Context, dir string) error {
	store, err := shadow.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err := upkeep.Sweep(ctx, store); err != nil {
		return err
	}
	problems, err := upkeep.Check(ctx, store)
	for _, p := range problems {
		if len(p.Rotten) > 0 {
			_, e := upkeep.Salvage(ctx, store, p.Rotten, nil)
			err = errors.Join(err, e)
		}
	}
	return err
}

// configProblem says what is wrong in a repository of versions: what is damaged rather
// than what was left over, and the first thing is enough.
func configProblem(ctx context.Context, dir string) (problem missions.Problem, wrong bool) {
	damaged := func(err error) (missions.Problem, bool) {
		return missions.Problem{Invariant: "I1", Message: err.Error()}, ctx.Err() == nil
	}
	store, err := shadow.Open(dir)
	if err != nil {
		return damaged(err)
	}
	defer store.Close()
	problems, err := upkeep.Check(ctx, store)
	if err != nil {
		return damaged(err)
	}
	for _, p := range problems {
		switch left := p.Invariant == "I6" && p.Fix != ""; {
		case !left && p.Ref == "": // its refs are no missions
			return missions.Problem{Invariant: "I1", Message: p.Message}, true
		case left && !wrong:
			problem, wrong = missions.Problem{Invariant: "I6", Message: problemLine(p)}, true
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
