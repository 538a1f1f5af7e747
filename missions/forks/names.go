package forks

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// ReserveNames chooses the names and places of the forks and opens their journal
// entries, which keep the names from others while the workspaces are made. With an
// error it returns the jobs that are to be discarded.
func (f *Forker) ReserveNames(ctx context.Context, at addresses.ResolvedMoment, r missions.ForkRequest) ([]*forkJob, error) {
	config, err := f.CallerConfig(r.Caller)
	if err != nil {
		return nil, err
	}
	var choice agents.ConfigChoice
	if at.Remote == "" || r.Config != "" { // else the versions that it knows are on another machine
		if choice, err = f.agents.ChooseConfig(ctx, at.Mission, r.Config); err != nil {
			return nil, err
		}
	}
	f.recoverForks(ctx, at.Project)
	naming, err := f.addresses.LockNames(ctx, at.Project)
	if err != nil {
		return nil, err
	}
	defer naming.Release()
	single, err := f.singleRequests(at, r)
	if err != nil {
		return nil, err
	}
	var jobs []*forkJob
	for n, r := range single {
		job := &forkJob{forker: f, moment: forkPoint{ResolvedMoment: at}, request: r, configChoice: choice, copyLimit: config.Fork.CopyLimit, id: cmp.Or(r.ID, f.NewID())}
		if job.name, err = f.forkName(at, r, n); err != nil {
			return jobs, err
		}
		if job.directory, err = f.forkDirectory(at, r, config.Fork, job.name); err != nil {
			return jobs, err
		}
		if err := job.begin(ctx); err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// singleRequests are the requests of the single forks, each with its prompt, agent and
// model.
func (f *Forker) singleRequests(at addresses.ResolvedMoment, r missions.ForkRequest) (all []missions.ForkRequest, err error) {
	variants, prompts := r.AllVariants(), r.Prompts
	if len(prompts) == 0 {
		prompts = []string{r.Prompt}
	}
	if r.NumForks() > 1 && r.Count == 0 {
		r.Count = 1 // their names are numbered
	}
	for _, v := range variants {
		one := r
		one.Agent, one.Model = v.Agent, v.Model
		if v.Agent != "" && v.Agent != at.Agent {
			if one.Command, err = f.agents.AgentCommand(v.Agent); err != nil {
				return nil, err
			}
			if !agents.IsOnPath(r.Caller.Env["PATH"], v.Agent) {
				return nil, missions.Errorf(missions.KindFailed, "install it", "%s is not on PATH", v.Agent)
			}
		}
		for _, one.Prompt = range prompts {
			for range max(1, r.Count) {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// forkName is the fork's name: the requested name, with a number where several forks
// are made.
func (f *Forker) forkName(at addresses.ResolvedMoment, r missions.ForkRequest, n int) (string, error) {
	taken := f.addresses.TakenNamesOf(at.Project)
	switch {
	case r.Name != "" && r.Count > 0:
		name := r.Name + "-" + missions.Itoa(n+1)
		if err := missions.CheckName(name); err != nil {
			return "", err
		}
		return taken.CheckGivenName(name, "choose another name")
	case r.Name != "":
		return taken.CheckGivenName(r.Name, "choose another name")
	}
	if name := projects.NameFromPrompt(r.Prompt); name != "" {
		return taken.FreeName(name)
	}
	if _, name, fetched := missions.SplitFetched(at.Name); fetched {
		return taken.FreeName(name)
	}
	base := at.Name + "-fork"
	if len(base) > 56 {
		base = base[:56]
	}
	return taken.NumberedName(base)
}

// forkDirectory is where the fork's workspace goes: where its name leads, or beside that if a
// removed mission of that name has left something there, or in git's list of worktrees. A
// name that was given leads to files that are there all the same, for which the fork is
// refused: who gave it can give another. No name has a '+' in it.
func (f *Forker) forkDirectory(at addresses.ResolvedMoment, r missions.ForkRequest, config settings.Fork, name string) (string, error) {
	if r.Workspace != "" {
		return projects.AbsolutePath(r.Caller.Cwd, r.Workspace), nil
	}
	root := config.Root
	if rest, ok := strings.CutPrefix(root, "~/"); ok {
		home := r.Caller.Env["HOME"]
		if home == "" {
			return "", missions.Errorf(missions.KindUsage, "set fork.root in "+f.Home.ConfigFile()+", or give --workspace DIR",
				"HOME is not set, so there is no place for the fork")
		}
		root = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(root) {
		return "", missions.Errorf(missions.KindUsage, "mend "+f.Home.ConfigFile(), "fork.root %q is not absolute", root)
	}
	named := filepath.Join(root, filepath.Base(at.Project.Dir), name)
	common := cmp.Or(at.Binding.CommonDir, at.Project.Locations.CommonDir)
	for n, dir := 2, named; ; n++ {
		free, err := fork.IsFree(dir, common)
		if err != nil || free {
			return dir, err
		}
		if _, err := os.Lstat(dir); err == nil && dir == named && r.Name != "" {
			return dir, nil
		}
		dir = named + "+" + missions.Itoa(n)
	}
}
