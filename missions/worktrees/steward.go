package worktrees

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/trash"
)

// Steward makes, finds, keeps and removes the forks that agents have for worktrees, and
// begins missions in worktrees that were made otherwise.
type Steward struct {
	*projects.Desk
	addresses *addresses.Finder
	snapshots *snapshots.Taker
	forks     *forks.Forker
	trash     *trash.Bin
	agents    *agents.Launcher
	found     beginnings
}

// New makes a Steward.
func New(d *projects.Desk, a *addresses.Finder, s *snapshots.Taker, f *forks.Forker, b *trash.Bin, l *agents.Launcher) *Steward {
	return &Steward{Desk: d, addresses: a, snapshots: s, forks: f, trash: b, agents: l, found: beginnings{byPlace: map[string]*beginning{}}}
}

// Make is the worktree of a name: the one that is there, or a fork of what the mission has
// now. It does not wait for the end of a turn, since the agent asks in its turn. own is the
// mission that asks, nil if that is not known: then it is the newest one of that workspace,
// and where there is none one is begun, for the agent that asks.
func (s *Steward) Make(ctx context.Context, c missions.Caller, agent string, own *projects.Mission, a Asked) (Place, error) {
	r, err := RepositoryAt(a.Cwd)
	if err != nil {
		return Place{}, err
	}
	if err := s.Space.CheckRoom(); err != nil {
		return Place{}, err
	}
	held, err := r.holdName(ctx, s.Home, a.Name)
	if err != nil {
		return Place{}, err
	}
	defer held.Release()
	if place, ok, err := s.standing(ctx, r, a.Name); ok || err != nil {
		return place, err
	}
	source, err := s.source(a, r, own)
	if isUnknown(err) {
		source, err = s.beginSource(ctx, c, agent, a, r, err)
	}
	if err != nil {
		return Place{}, err
	}
	fork, why, err := s.fork(ctx, c, source, a.Name)
	if err != nil {
		return Place{}, err
	}
	m, err := s.MissionByID(fork.ID)
	if err != nil {
		return Place{}, err
	}
	place := Place{Name: a.Name, Dir: topOf(m), Mission: fork.ID, Why: why, At: s.Now()}
	if err := r.Note(ctx, s.Home, place); err != nil {
		return Place{}, fmt.Errorf("note the worktree %s, which is the fork %s: %w", a.Name, fork.Name, err)
	}
	return place, nil
}

// standing is the worktree of a name that is there: a fork only while its mission is, and
// works there.
func (s *Steward) standing(ctx context.Context, r Repository, name string) (Place, bool, error) {
	p, err := r.named(s.Home, name)
	if err != nil || p.Mission == "" { // a record that can't be read is set aside with the next one
		return p, err == nil && p.Dir != "" && r.isPlain(p.Dir), nil
	}
	m, err := s.MissionByID(p.Mission)
	switch {
	case err != nil && missions.AsError(err).Kind == missions.KindNotFound:
		return Place{}, false, nil
	case err != nil:
		return Place{}, false, err
	case m.CheckMachine() != nil || m.IsWorkspaceGone() || !disk.IsSameFile(topOf(m), p.Dir):
		return Place{}, false, nil
	case m.Binding.CommonDir == r.Common && !r.leadsHere(p.Dir):
		return Place{}, false, nil
	case p.isSelf():
		return p, true, nil
	}
	return p, true, r.Note(ctx, s.Home, p) // it was made again
}

// source is the mission to fork: the one that asks, or the newest one whose workspace is
// the work tree that the agent asks from. A repository within a workspace is no mission's:
// a fork would have another top than the agent expects.
func (s *Steward) source(a Asked, r Repository, own *projects.Mission) (*projects.Mission, error) {
	g, err := projects.InspectDirectory(a.Cwd)
	if err != nil {
		return nil, err
	}
	p, err := s.FindProject(g)
	if err != nil {
		return nil, err
	}
	var list []*projects.Mission
	if p != nil {
		list, _ = s.ProjectMissions(p)
	}
	if own != nil && !slices.ContainsFunc(list, func(m *projects.Mission) bool { return m.ID == own.ID }) {
		list = append(list, own) // it is not published yet
	}
	var best *projects.Mission
	for _, m := range list {
		if s.worksAt(m, g, r) && (best == nil || isCloser(m, best, own)) {
			best = m
		}
	}
	if best == nil {
		return nil, missions.Errorf(missions.KindNotFound, "umbra mission new --no-launch begins one", "no mission is known of %s", r.Top)
	}
	return best, nil
}

// worksAt reports whether a directory is in a mission's workspace, and both in one work tree.
func (s *Steward) worksAt(m *projects.Mission, g projects.Directory, r Repository) bool {
	if m.CheckMachine() != nil || m.Remote != "" || m.Binding.Workspace == "" || !home.IsWithin(m.Binding.Workspace, g.Dir) || m.IsWorkspaceGone() {
		return false
	}
	of, err := projects.InspectDirectory(m.Binding.Workspace)
	return err == nil && (of.Top == r.Top || r.Common == "" && of.Repo == nil)
}

// isCloser reports whether a mission is rather meant than another one.
func isCloser(m, than, own *projects.Mission) bool {
	if a, b := len(m.Binding.Workspace), len(than.Binding.Workspace); a != b {
		return a > b
	}
	if own != nil && (m.ID == own.ID || than.ID == own.ID) {
		return m.ID == own.ID
	}
	return m.Tip.At.After(than.Tip.At)
}

// fork forks a mission as it is now. why says what the fork lacks.
func (s *Steward) fork(ctx context.Context, c missions.Caller, m *projects.Mission, name string) (fork missions.Mission, why string, err error) {
	r := missions.ForkRequest{Caller: c, FilesAlone: true}
	if r.Name, err = s.addresses.TakenNamesOf(m.Project).FreeName(missionName(name)); err != nil {
		return missions.Mission{}, "", err
	}
	for {
		result, err := s.forks.ForkAtRest(ctx, m, gitstore.ID{}, r)
		switch {
		case err == nil && len(result.Missions) == 1:
			return result.Missions[0], why, nil
		case err == nil:
			return missions.Mission{}, "", fmt.Errorf("%d forks were made", len(result.Missions))
		case missions.AsError(err).Kind != missions.KindConflict || ctx.Err() != nil:
			return missions.Mission{}, "", err
		case len(missions.AsError(err).Details) > 0 && r.Ignored == "": // too much to be copied unasked
			r.Ignored, why = "skip", missions.AsError(err).Message+", and were left behind"
		case r.Name != "": // somebody else has it, or its place
			r.Name = ""
		default:
			return missions.Mission{}, "", err
		}
	}
}

// missionName is the name of a worktree as a mission's.
func missionName(worktree string) string {
	name := strings.Trim(projects.UnfitNameChars().ReplaceAllString(strings.ToLower(worktree), "-"), "-._")
	if len(name) > 56 { // room for a number
		name = strings.TrimRight(name[:56], "-._")
	}
	if missions.CheckName(name) == nil {
		return name
	}
	return "worktree-" + cmp.Or(strings.ReplaceAll(name, "..", "-"), "1")
}

// At is the mission whose workspace holds a directory, where that is a worktree which an
// agent of the mission's repository has asked for, or was found in; nil if there is none, or
// it is the mission itself, or its snapshots leave the directory out.
func (s *Steward) At(m *projects.Mission, dir string) *projects.Mission {
	if dir == "" || dir == m.Binding.Workspace {
		return nil
	}
	if f := s.in(repositoryOf(m), dir); f != nil && f.ID != m.ID && snapshots.UnkeptReason(f, dir) == "" {
		return f
	}
	return nil
}

// Unspoken is the fork whose workspace holds a directory, and in which no agent has a
// session yet: the first one there is that of the agent which asked for it.
func (s *Steward) Unspoken(agent, dir string) *projects.Mission {
	r, err := RepositoryAt(dir)
	if err != nil {
		return nil
	}
	m := s.in(r, dir)
	if m == nil || m.Agent != agent || m.Stored.Session != "" || missions.HasAgent(m.Lifecycle) {
		return nil
	}
	return m
}

// in is the fork of a repository whose workspace holds a directory.
func (s *Steward) in(r Repository, dir string) *projects.Mission {
	list, err := r.Places(s.Home)
	if err != nil || len(list) == 0 {
		return nil
	}
	dir = projects.ResolveLinks(dir)
	var best Place
	for _, p := range list {
		if p.Mission != "" && home.IsWithin(p.Dir, dir) && len(p.Dir) > len(best.Dir) {
			best = p
		}
	}
	if best.Mission == "" {
		return nil
	}
	m, err := s.MissionByID(best.Mission)
	if err != nil {
		return nil
	}
	return m
}

// Keep takes a snapshot of such a fork, if anything has changed there.
func (s *Steward) Keep(ctx context.Context, fork *projects.Mission, what string) error {
	take := missions.TakeSnapshot{Trigger: missions.TriggerWatch, Lifecycle: fork.Lifecycle, Message: what, OnlyIfChanged: true}
	_, err := s.snapshots.SubmitRequest(ctx, fork.Project, fork.ID, &snapshots.Request{Take: &take})
	return err
}

// closePatience bounds how long the last snapshots of one mission's worktrees take.
const closePatience = 5 * time.Minute

// CloseLeft closes, with a last snapshot, the forks that the agent of a mission had for
// worktrees, when it has ended: it tells of the end of two in six. They stay, as any fork
// does. It does not wait for that.
func (s *Steward) CloseLeft(m *projects.Mission) {
	if _, closed := m.Lifecycle.(missions.Closed); !closed {
		return
	}
	list, err := repositoryOf(m).Places(s.Home)
	if err != nil || len(list) == 0 || !s.StartWorker() {
		return
	}
	go func() {
		defer s.Workers.Done()
		ctx, cancel := context.WithTimeout(s.Closing, closePatience)
		defer cancel()
		for _, p := range list {
			if err := s.closeOne(ctx, m, p); err != nil {
				s.Logger.Warn("close a worktree that was left", "mission", m.ID, "worktree", p.Dir, "error", err)
			}
		}
	}()
}

// closeOne closes a fork in which no agent has a session of its own.
func (s *Steward) closeOne(ctx context.Context, m *projects.Mission, p Place) error {
	if p.Mission == "" || p.Mission == m.ID {
		return nil
	}
	f, err := s.MissionByID(p.Mission)
	isOf := err == nil && (p.For == m.ID || f.Parent != nil && f.Parent.Mission == m.ID)
	if !isOf || f.Stored.Session != "" {
		return nil // it was removed, is another's, or its own agent ends it
	}
	if _, alive := f.Live.LivingProcess(); alive {
		return nil
	}
	_, err = s.snapshots.SubmitRequest(ctx, f.Project, f.ID, &snapshots.Request{Event: missions.SessionEnded{}})
	return err
}

// Problems say which worktrees of a directory's repository are not what was asked for.
func Problems(h home.Home, at projects.Directory) (problems []missions.Problem) {
	r := repositoryIn(at)
	list, _ := r.Places(h) // the next one that is asked for sets it aside
	for _, p := range list {
		switch {
		case p.Why == "" || p.Mission == "" && !r.isPlain(p.Dir) || p.Mission != "" && !p.isSelf():
		case p.Mission == "":
			problems = append(problems, missions.Problem{
				Message: fmt.Sprintf("the worktree %s in %s is a plain one of Git, without what was not committed: %s", p.Name, p.Dir, p.Why),
				Fix:     "git worktree remove " + home.ShellQuote(p.Dir) + " when it is done with",
			})
		default:
			problems = append(problems, missions.Problem{
				Message: fmt.Sprintf("the worktree %s in %s has no ignored files: %s", p.Name, p.Dir, p.Why),
				Fix:     "copy what is needed there, or raise fork.copy_limit",
			})
		}
	}
	return problems
}
