package missions

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// Missions lists missions, the oldest first.
func (l *Local) Missions(ctx context.Context, r MissionsRequest) ([]Mission, error) {
	var projects []*project
	if r.All {
		var problems []Problem
		projects, problems = l.allProjects()
		notifyProblems(ctx, problems)
	} else {
		at, err := l.stand(r.Caller)
		if err != nil {
			return nil, err
		}
		if at.project != nil {
			projects = append(projects, at.project)
		}
	}
	list := []Mission{}
	for _, p := range projects {
		all, problems := l.missionsOf(p)
		notifyProblems(ctx, problems)
		for _, m := range all {
			m, err := l.fresh(ctx, m)
			if err != nil {
				return list, err
			}
			if r.Live && !HasAgent(m.life) {
				continue
			}
			list = append(list, l.view(m))
		}
	}
	return list, nil
}

// Mission shows one mission.
func (l *Local) Mission(ctx context.Context, r MissionRequest) (Mission, error) {
	m, err := l.findMission(ctx, r.Caller, r.Name, reading)
	if err != nil {
		return Mission{}, err
	}
	if m, err = l.fresh(ctx, m); err != nil {
		return Mission{}, err
	}
	return l.view(m), nil
}

// Rename gives a mission another name. Its id, ref and history stay.
func (l *Local) Rename(ctx context.Context, r RenameRequest) (Mission, error) {
	if err := CheckName(r.Name); err != nil {
		return Mission{}, err
	}
	m, err := l.findMission(ctx, r.Caller, r.Mission, writing)
	if err != nil {
		return Mission{}, err
	}
	err = l.metaLocked(ctx, m, func(m *loaded) error {
		if m.Name == r.Name {
			return nil
		}
		naming, err := l.naming(ctx, m.project)
		if err != nil {
			return err
		}
		defer naming.Release()
		return l.rename(ctx, m, r.Name)
	})
	if err != nil {
		return Mission{}, err
	}
	if m, err = l.load(m.project, m.ID); err != nil {
		return Mission{}, err
	}
	return l.view(m), nil
}

// rename makes the new name lead to the mission, records it, and drops the old.
func (l *Local) rename(ctx context.Context, m *loaded, name string) error {
	store, old := m.project.store, m.Name
	if _, err := store.Ref(gitstore.PinRef(name)); err == nil {
		return Errorf(KindConflict, "choose another", "a pin is named %s: a mission may not be", name)
	}
	err := store.SetSymbolic(ctx, gitstore.HeadRef(name), "", gitstore.AgentRef(m.ID), gitstore.Durable)
	if errors.Is(err, gitstore.ErrRefMoved) {
		// A renaming that was cut off has made it lead here already.
		if to, _ := store.Symbolic(gitstore.HeadRef(name)); to != gitstore.AgentRef(m.ID) {
			return Errorf(KindConflict, "choose another", "there is a mission %s in this project already", name)
		}
	} else if err != nil {
		return err
	}
	failpoint.Hit("rename.named")
	m.Name, m.Unnamed = name, false
	if err := l.writeMeta(ctx, m, "renamed "+old+" to "+name); err != nil {
		return errors.Join(err, store.DeleteSymbolic(ctx, gitstore.HeadRef(name), gitstore.AgentRef(m.ID)))
	}
	failpoint.Hit("rename.recorded")
	l.saveLive(m)
	return store.DeleteSymbolic(ctx, gitstore.HeadRef(old), gitstore.AgentRef(m.ID))
}

// metaLocked runs fn on a mission read afresh, for changes of its record alone.
// It takes the workspace if that is there; a mission whose workspace is gone
// can still be renamed and removed.
func (l *Local) metaLocked(ctx context.Context, m *loaded, fn func(*loaded) error) error {
	return l.metaHeld(ctx, m, l.locked, fn)
}

func (l *Local) metaHeld(ctx context.Context, m *loaded, hold holder, fn func(*loaded) error) error {
	if !m.workspaceGone() {
		return hold(ctx, m, fn)
	}
	held, err := lock.Wait(ctx, lock.ProjectFile(l.home.Dir, m.project.ID), lock.Shared, l.self)
	if err != nil {
		return busy(err)
	}
	defer held.Release()
	fresh, err := l.load(m.project, m.ID)
	if err != nil {
		return err
	}
	return fn(fresh)
}

// workspaceGone reports whether the workspace is not where the mission left it.
func (m *loaded) workspaceGone() bool {
	place, err := placeOf(m.bind.Workspace)
	return err != nil || place != m.bind.Place
}

// goneProblem says of a mission that its workspace is not where it was.
func (m *loaded) goneProblem() Problem {
	again := m.remaking()
	if m.replaced() {
		again = m.taking() + " to work in what is there now"
	}
	return Problem{
		Project: m.project.Name, Mission: m.Name, Message: "its workspace " + m.bind.Workspace + " was moved, replaced, mounted over or removed",
		Fix: "umbra project move " + shellQuote(m.bind.Workspace) + " NEW if it was moved, " + again + ", or umbra mission rm " + m.Name,
	}
}

// Projects lists the known projects.
func (l *Local) Projects(context.Context, ProjectsRequest) ([]Project, error) {
	list := []Project{}
	all, problems := l.allProjects()
	for _, p := range all {
		list = append(list, l.projectView(p))
	}
	for _, problem := range problems {
		list = append(list, Project{Name: problem.Project, Problems: []string{problem.Message}})
	}
	slices.SortFunc(list, func(a, b Project) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return list, nil
}

func (l *Local) projectView(p *project) Project {
	v := Project{ID: p.ID, Name: p.Name, Path: p.hints.Path, CommonDir: p.hints.CommonDir, ShadowRepo: p.shadow()}
	missions, problems := l.missionsOf(p)
	v.Missions = len(missions)
	for _, m := range missions {
		if HasAgent(m.life) && !l.gone(m) {
			v.Live++
		}
	}
	for _, problem := range problems {
		v.Problems = append(v.Problems, problem.Message)
	}
	if _, err := os.Stat(p.hints.Path); p.hints.Path != "" && err != nil {
		v.Problems = append(v.Problems, p.hints.Path+" is not there; if it was moved: umbra project move "+p.hints.Path+" NEW")
	}
	return v
}
