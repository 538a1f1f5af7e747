package worktrees

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// beginnings are missions that are being begun, by place. One goes on when the hook that
// asked for it has no more time: a first snapshot may take longer.
type beginnings struct {
	mu      sync.Mutex
	byPlace map[string]*beginning
}

type beginning struct {
	done chan struct{} // closed when mission and err are known
	// mission is nil where the user has removed the one that was there.
	mission *projects.Mission
	err     error
}

// beginPatience bounds how long the first snapshot of a worktree takes.
const beginPatience = 10 * time.Minute

// Begin begins a mission of the worktree that holds a directory of a mission's workspace,
// where nobody asked Umbra for it: the mission's agent has gone to work there, and its own
// snapshots leave it out. One that works there already is taken. It waits as long as
// patience; pending says that this was not enough. It returns nil where the directory is in
// no such worktree, or nothing is to be kept of it. What has failed is tried again only where
// that is asked for.
func (s *Steward) Begin(ctx context.Context, c missions.Caller, m *projects.Mission, dir string, patience time.Duration, again bool) (f *projects.Mission, pending bool, err error) {
	if !snapshots.IsInOwnWorktree(m, dir) {
		return nil, false, nil
	}
	g, err := projects.InspectDirectory(dir)
	if err != nil || !s.CurrentConfig().Adopt.Adopts(g.Top) {
		return nil, false, err
	}
	b, err := s.beginning(g.Top, again, func(ctx context.Context) (*projects.Mission, error) { return s.begin(ctx, c, m, g) })
	if err != nil {
		return nil, false, err
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-b.done:
		return b.mission, false, b.err
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil, true, nil
}

// beginning is the one of a place: what one that has succeeded has made is asked for anew.
func (s *Steward) beginning(place string, again bool, begin func(context.Context) (*projects.Mission, error)) (*beginning, error) {
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	b := s.found.byPlace[place]
	if b != nil {
		select {
		case <-b.done:
			if b.err == nil || again {
				b = nil
			}
		default:
		}
	}
	if b != nil {
		return b, nil
	}
	if !s.StartWorker() {
		return nil, projects.ErrClosing
	}
	b = &beginning{done: make(chan struct{})}
	s.found.byPlace[place] = b
	go func() {
		defer s.Workers.Done()
		ctx, cancel := context.WithTimeout(s.Closing, beginPatience)
		defer cancel()
		defer close(b.done)
		if b.mission, b.err = begin(ctx); b.err != nil {
			s.Logger.Warn("begin a mission", "place", place, "error", b.err)
		}
	}()
	return b, nil
}

// begin takes the mission that works in a worktree, or makes one.
func (s *Steward) begin(ctx context.Context, c missions.Caller, m *projects.Mission, g projects.Directory) (*projects.Mission, error) {
	r := repositoryIn(g)
	held, err := r.holdName(ctx, s.Home, g.Top)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	place := Place{Name: g.Top, Dir: g.Top, At: s.Now()}
	f := s.workingAt(m, g.Top)
	if f == nil {
		if was, err := r.named(s.Home, g.Top); err != nil || was.Mission != "" {
			return nil, err // its user has removed it
		}
		if f, err = s.newMission(ctx, c, m.Project, m.Agent, g.Top); err != nil {
			return nil, fmt.Errorf("begin a mission in the worktree %s: %w", g.Top, err)
		}
		place.For = m.ID
	}
	place.Mission = f.ID
	return f, r.Note(ctx, s.Home, place)
}

// workingAt is a mission that works in a worktree, nil if none does.
func (s *Steward) workingAt(m *projects.Mission, top string) *projects.Mission {
	list, _ := s.ProjectMissions(m.Project)
	for _, f := range list {
		if f.CheckMachine() == nil && f.Remote == "" && f.Binding.Workspace != "" && disk.IsSameFile(f.Binding.Workspace, top) {
			return f
		}
	}
	return nil
}

// newMission is one of a work tree, with its directory's name and the agent that works there.
// p is nil where no project is known there yet.
func (s *Steward) newMission(ctx context.Context, c missions.Caller, p *projects.Project, agent, top string) (*projects.Mission, error) {
	name := missionName(filepath.Base(top))
	if p != nil {
		var err error
		if name, err = s.addresses.TakenNamesOf(p).FreeName(name); err != nil {
			return nil, err
		}
	}
	c.Cwd = top
	made, err := s.agents.NewMission(ctx, missions.NewMissionRequest{Caller: c, Name: name, NameMade: true, Agent: agent, Workspace: top})
	if err != nil {
		return nil, err
	}
	return s.MissionByID(made.ID)
}

// isUnknown says that no mission is known where a worktree is asked for.
func isUnknown(err error) bool {
	return err != nil && missions.AsError(err).Kind == missions.KindNotFound
}

// SourcePatience is how long an agent that asks for a worktree waits for a first snapshot of
// its repository: it has a plain worktree then, and the snapshot goes on where a daemon runs.
const SourcePatience = 30 * time.Second

// beginSource begins a mission of a repository in which none is known, so that the first
// worktree that an agent asks for there is a fork with what is not committed, too. What is
// no repository is not captured unasked, nor what the configuration leaves out, nor a
// worktree of which the user has removed the mission: then the error is unknown.
func (s *Steward) beginSource(ctx context.Context, c missions.Caller, agent string, a Asked, r Repository, unknown error) (*projects.Mission, error) {
	g, err := projects.InspectDirectory(a.Cwd)
	if err != nil {
		return nil, err
	}
	if adopt := s.CurrentConfig().Adopt; g.Repo == nil || !adopt.Adopts(g.Top) || !adopt.Adopts(g.Dir) {
		return nil, unknown
	}
	if was, err := r.named(s.Home, g.Top); err != nil || was.Mission != "" {
		return nil, cmp.Or(err, unknown)
	}
	if err := s.agents.Unadopted.BudgetRefusal(g.Top, s.Now()); err != nil {
		return nil, err
	}
	b, err := s.beginning("source of "+g.Top, true, func(ctx context.Context) (*projects.Mission, error) {
		if m, err := s.source(a, r, nil); !isUnknown(err) {
			return m, err // another worktree was asked for at the same time
		}
		p, err := s.FindProject(g)
		if err != nil {
			return nil, err
		}
		m, err := s.newMission(ctx, c, p, agent, g.Top)
		if agents.IsRefusal(err) {
			s.agents.Unadopted.NoteRefusal(g.Top, err, s.Now())
		}
		return m, err
	})
	if err != nil {
		return nil, err
	}
	limit := time.NewTimer(SourcePatience)
	defer limit.Stop()
	select {
	case <-b.done:
	case <-limit.C:
		return nil, missions.Errorf(missions.KindBusy, "ask again later", "the first snapshot of %s is still being taken", g.Top)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b.err != nil {
		return nil, b.err
	}
	return s.MissionByID(b.mission.ID) // b's is that of all who wait
}

// IsGone reports whether a mission's workspace was a worktree that nobody asked Umbra for,
// and is not there any more: whoever made it has removed it, and nothing is wrong.
func IsGone(h home.Home, m *projects.Mission) bool {
	if isDirectory(m.Binding.Workspace) || m.Binding.CommonDir == "" {
		return false
	}
	p, err := repositoryOf(m).named(h, m.Binding.Workspace)
	return err == nil && p.Mission == m.ID && p.For != ""
}
