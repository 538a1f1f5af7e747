package addresses

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// LockNames is taken to give a name in a project, so that no two things have one.
// It is held for the writing of refs, never while a workspace is read or waited
// for: whoever needs both takes the workspace first.
func (f *Finder) LockNames(ctx context.Context, p *projects.Project) (*lock.Lock, error) {
	held, err := lock.Wait(ctx, f.NamesLockFile(p), lock.Exclusive, f.Self)
	return held, home.LockError(err)
}

func (f *Finder) NamesLockFile(p *projects.Project) string {
	return f.Home.Path("locks", "names-"+p.ID)
}

// NamesLockPatience is how long a snapshot that an agent waits for may be held up
// by its mission's name.
const NamesLockPatience = 200 * time.Millisecond

// ChooseName picks the mission's name. It is the mission's only as long as the
// caller holds the project's naming lock.
func (f *Finder) ChooseName(p *projects.Project, n projects.MissionPlan) (string, error) {
	taken := f.TakenNamesOf(p)
	switch {
	case n.Name == "":
		return taken.NumberedName(AgentBaseName(cmp.Or(n.ToolName, n.Agent)))
	case n.NameGiven:
		return taken.CheckGivenName(n.Name, "choose another name, or umbra mission resume "+n.Name)
	}
	return taken.FreeName(n.Name)
}

// AgentBaseName begins the names of missions that are called after their agent.
func AgentBaseName(agent string) string {
	base := strings.Trim(projects.UnfitNameChars().ReplaceAllString(strings.ToLower(agent), "-"), "-._")
	if len(base) > 40 {
		base = base[:40]
	}
	if base == "" || !missions.NamePattern().MatchString(base) {
		return "mission"
	}
	return base
}

// TakenNamesOf tells which names a project's missions and pins have, those of forks
// that are being made among them.
func (f *Finder) TakenNamesOf(p *projects.Project) missions.TakenNames {
	making := f.forkNamesInProgress(p)
	nameless := sync.OnceValues(func() (map[string]bool, error) { return f.NamesOfNameless(p) })
	return func(name string) (bool, error) {
		if making[name] {
			return true, nil
		}
		_, head := p.Store.Symbolic(gitstore.HeadRef(name))
		_, pin := p.Store.Ref(gitstore.PinRef(name))
		for _, err := range []error{head, pin} {
			switch {
			case err == nil || errors.Is(err, gitstore.ErrRefBroken):
				return true, nil
			case !errors.Is(err, gitstore.ErrRefNotFound):
				return false, namesError(err)
			}
		}
		names, err := nameless()
		return names[name], err
	}
}

// NamesOfNameless are the names of missions to which no name leads: who published such a
// one died before that. umbra doctor --fix makes its name lead to it.
func (f *Finder) NamesOfNameless(p *projects.Project) (map[string]bool, error) {
	heads, err := p.Store.Refs(gitstore.RefHead)
	if err != nil {
		return nil, namesError(err)
	}
	all, err := p.Store.Refs(gitstore.RefAgent)
	if err != nil {
		return nil, namesError(err)
	}
	named, names := map[gitstore.RefName]bool{}, map[string]bool{}
	for _, head := range heads.Refs {
		named[head.Symbolic] = true
	}
	for _, ref := range all.Refs {
		if named[ref.Name] {
			continue
		}
		if m, err := f.LoadMission(p, ref.Name.Mission()); err == nil { // nobody knows what another is called
			names[m.Name] = true
		}
	}
	return names, nil
}

func namesError(err error) error {
	return missions.Errorf(missions.KindFailed, "umbra doctor", "see which names there are: %w", err)
}

// forkNamesInProgress are the names of forks in flight.
func (f *Finder) forkNamesInProgress(p *projects.Project) map[string]bool {
	names := map[string]bool{}
	entries, _, _ := f.Journal.List()
	for _, entry := range entries {
		var doc projects.ForkDoc
		if entry.Kind() == projects.ForkKind && entry.Document(&doc) == nil && doc.Project == p.Dir && !doc.Recreated {
			names[doc.Name] = true
		}
	}
	return names
}
