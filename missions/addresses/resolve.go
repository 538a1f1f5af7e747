package addresses

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// FindMissions resolves several names; none is the default mission.
func (f *Finder) FindMissions(ctx context.Context, c missions.Caller, names []string) ([]*projects.Mission, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	var list []*projects.Mission
	for _, name := range names {
		m, err := f.FindMission(ctx, c, name, InProject)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(o *projects.Mission) bool { return o.ID == m.ID }) {
			list = append(list, m)
		}
	}
	return list, nil
}

// CallerDirectory is where a caller stands: the directory, and its project if it has one.
type CallerDirectory struct {
	projects.Directory
	Project *projects.Project
}

// LocateCaller finds out where a caller stands. The place is told also where the
// project that it belongs to can't be opened.
func (f *Finder) LocateCaller(c missions.Caller) (CallerDirectory, error) {
	g, err := projects.InspectDirectory(c.Cwd)
	if err != nil {
		return CallerDirectory{}, err
	}
	p, err := f.FindProject(g)
	return CallerDirectory{Directory: g, Project: p}, err
}

// SearchScope says where a name may be looked for.
type SearchScope int

const (
	InProject    SearchScope = iota // this project only
	InAnyProject                    // then every other project
)

// FindMission resolves a mission's name, id or unique prefix; "" is the
// default mission.
func (f *Finder) FindMission(ctx context.Context, c missions.Caller, name string, r SearchScope) (*projects.Mission, error) {
	at, err := f.LocateCaller(c)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return f.defaultMission(ctx, c, at, r)
	}
	if !missions.IsMomentBase(name) {
		return nil, missions.Errorf(missions.KindNotFound, f.suggestName(at.Project, name, r, false, nameAsTyped, "umbra mission ls"), "%q names no mission", name)
	}
	if _, _, fetched := missions.SplitFetched(name); fetched {
		return f.findFetched(at.Project, name, r)
	}
	if m, err := f.FindMissionIn(at.Project, name); m != nil || err != nil {
		return m, err
	}
	m, elsewhere, err := f.findMissionElsewhere(ctx, at.Project, name)
	if err != nil {
		return nil, err
	}
	if m != nil && (r == InAnyProject || missions.UUIDPattern().MatchString(name)) {
		return m, nil
	}
	if m != nil {
		hint := "cd " + m.Binding.Workspace
		if m.IsWorkspaceGone() {
			hint = "its id names it everywhere: " + m.ID
		}
		return nil, missions.Errorf(missions.KindNotFound, hint, "no mission %q in this project; there is one in %s", name, elsewhere)
	}
	if m := f.removedMissionNamed(at.Project, name); m != nil {
		return nil, projects.InTrashError(m)
	}
	return nil, missions.Errorf(missions.KindNotFound, f.suggestName(at.Project, name, r, false, nameAsTyped, "umbra mission ls --all"), "no mission %q", name)
}

// removedMissionNamed is a mission of a project that is in the trash under a name, nil if
// there is none that can be read.
func (f *Finder) removedMissionNamed(p *projects.Project, name string) *projects.Mission {
	if p == nil {
		return nil
	}
	list, _ := f.RemovedMissionsIn(p)
	for _, m := range list {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// FindMissionIn finds a mission in a project: by name, else by id or its prefix.
func (f *Finder) FindMissionIn(p *projects.Project, name string) (*projects.Mission, error) {
	if p == nil {
		return nil, nil
	}
	if missions.UUIDPattern().MatchString(name) {
		return f.LoadPublishedMission(p, name)
	}
	all, _, listing := f.ListMissions(p)
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	if missions.NamePattern().MatchString(name) {
		if m, err := f.missionNamed(p, name); m != nil || err != nil {
			return m, err
		}
	}
	if !missions.IDPrefixPattern().MatchString(name) {
		return nil, listing
	}
	var found []*projects.Mission
	for _, m := range all {
		if strings.HasPrefix(m.ID, name) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return nil, listing // what could not be looked for is not known to be missing
	case 1:
		return found[0], nil
	}
	return nil, ambiguousNameError(name, found)
}

// missionNamed finds a mission by its good name: one that can't be read, or whose
// neighbours can't be listed, is not one that does not exist.
func (f *Finder) missionNamed(p *projects.Project, name string) (*projects.Mission, error) {
	ref, err := p.Store.Symbolic(gitstore.HeadRef(name))
	switch {
	case errors.Is(err, gitstore.ErrRefNotFound), errors.Is(err, gitstore.ErrRefBroken):
		return nil, nil
	case err != nil:
		return nil, err
	case ref.Kind() != gitstore.RefAgent:
		return nil, nil
	}
	m, err := f.LoadPublishedMission(p, ref.Mission())
	if err != nil || m == nil || m.Name != name {
		return nil, err
	}
	return m, nil
}

func ambiguousNameError(name string, found []*projects.Mission) error {
	var list []string
	for _, m := range found {
		list = append(list, fmt.Sprintf("%s (%s)", m.Name, m.ID[:8]))
	}
	return missions.Errorf(missions.KindAmbiguous, "use one of the names, or more of the id", "%q could be %s", name, strings.Join(list, ", "))
}

func (f *Finder) findMissionElsewhere(ctx context.Context, here *projects.Project, name string) (*projects.Mission, string, error) {
	all, problems := f.AllProjects()
	var found []*projects.Mission
	for _, p := range all {
		if here != nil && p.ID == here.ID {
			continue
		}
		m, err := f.FindMissionIn(p, name)
		if err != nil {
			return nil, "", err
		}
		if m != nil {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		NotifyProblems(ctx, problems)
		return nil, "", nil
	case 1:
		return found[0], found[0].Project.Name, nil
	}
	return nil, "", ambiguousNameError(name, found)
}

// NotifyProblems says what could not be looked at: what was asked for may be there.
func NotifyProblems(ctx context.Context, problems []missions.Problem) {
	for _, p := range problems {
		missions.Notify(ctx, missions.Notice{Text: p.Message + ": " + p.Fix})
	}
}

// defaultMission is the mission a command means that names none.
func (f *Finder) defaultMission(ctx context.Context, c missions.Caller, at CallerDirectory, r SearchScope) (*projects.Mission, error) {
	if c.Mission != "" {
		m, err := f.MissionByID(c.Mission)
		if err != nil && missions.AsError(err).Kind != missions.KindNotFound {
			return nil, err
		}
		if err != nil {
			return nil, missions.Errorf(missions.KindNotFound, "unset UMBRA_MISSION, or name a mission", "$UMBRA_MISSION is %q: %w", c.Mission, err)
		}
		return m, nil
	}
	if at.Project == nil {
		return nil, missions.Errorf(missions.KindNotFound, "umbra mission new, or umbra mission ls --all for those elsewhere",
			"no mission here: %s belongs to no project of Umbra's", at.Dir)
	}
	all, problems := f.ProjectMissions(at.Project)
	var here, alive []*projects.Mission
	for _, m := range all {
		if m.Binding.Workspace == "" || !home.IsWithin(m.Binding.Workspace, at.Dir) {
			continue
		}
		here = append(here, m)
		if missions.HasAgent(m.Lifecycle) || m.Live.HasKeeper() {
			alive = append(alive, m)
		}
	}
	if len(alive) == 1 {
		return alive[0], nil
	}
	if len(alive) > 1 && r == InProject {
		return nil, ambiguousMissionError(at.Dir, alive)
	}
	if len(alive) > 1 {
		here = alive
	}
	if len(here) == 0 {
		for _, m := range all {
			if moved := m.MovedTo(at.Dir); moved != "" {
				return nil, missions.Errorf(missions.KindNotFound, m.MoveCommand(moved), "%w", m.MovedError(moved))
			}
		}
	}
	if len(here) == 0 {
		removed, _ := f.RemovedMissionsIn(at.Project) // what can't be read is for doctor to say
		for _, m := range removed {
			if slices.Contains(strings.Split(at.Dir, "/"), m.ID) { // its workspace is in a directory of that name
				return nil, projects.InTrashError(m)
			}
		}
	}
	if len(here) == 0 && len(problems) > 0 {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "no mission that can be read works in %s: %s", at.Dir, problems[0].Message)
	}
	if len(here) == 0 {
		return nil, missions.Errorf(missions.KindNotFound, "umbra mission new, or umbra mission ls", "no mission works in %s", at.Dir)
	}
	m := slices.MaxFunc(here, func(a, b *projects.Mission) int { return a.LastUsed().Compare(b.LastUsed()) })
	if len(here) > 1 {
		missions.Notify(ctx, missions.Notice{Text: "no mission was named: this is " + m.Name + ", the most recently used here"})
	}
	return m, nil
}

func ambiguousMissionError(dir string, found []*projects.Mission) error {
	var names []string
	for _, m := range found {
		names = append(names, m.Name)
	}
	return missions.Errorf(missions.KindAmbiguous, "name one of them", "%d live missions work in %s: %s", len(found), dir, strings.Join(names, ", "))
}

// ResolvedMoment is a resolved moment: a snapshot, and the mission it was named by.
type ResolvedMoment struct {
	*projects.Mission
	Snapshot projects.NumberedSnapshot
}

// FindMoment resolves the name of a moment; "" is the default mission's newest.
func (f *Finder) FindMoment(ctx context.Context, c missions.Caller, text string, r SearchScope) (ResolvedMoment, error) {
	moment, err := missions.ParseMoment(text)
	if text == "" {
		moment, err = missions.Moment{}, nil
	}
	if err != nil {
		return ResolvedMoment{}, err
	}
	m, direct, err := f.FindMomentBase(ctx, c, moment, r)
	if err != nil {
		return ResolvedMoment{}, err
	}
	if !direct.IsZero() {
		if moment.Form != missions.MomentNewest && moment.Form != missions.MomentBack {
			return ResolvedMoment{}, missions.Errorf(missions.KindNotFound, "name a mission before the @", "%q is a snapshot, which has no turns", moment.Base)
		}
		return MomentBack(m, direct, moment.N)
	}
	return f.resolveInMission(m, moment)
}

// FindMomentBase resolves what stands before the @ or ~: a mission, or a snapshot
// (by pin or id) with the mission it belongs to. Two matches are an error.
func (f *Finder) FindMomentBase(ctx context.Context, c missions.Caller, moment missions.Moment, r SearchScope) (*projects.Mission, gitstore.ID, error) {
	if moment.Base == "" {
		m, err := f.FindMission(ctx, c, "", r)
		return m, gitstore.ID{}, err
	}
	at, err := f.LocateCaller(c)
	if err != nil {
		return nil, gitstore.ID{}, err
	}
	if _, _, fetched := missions.SplitFetched(moment.Base); fetched {
		m, err := f.findFetched(at.Project, moment.Base, r)
		return m, gitstore.ID{}, err
	}
	m, err := f.FindMissionIn(at.Project, moment.Base)
	if err != nil {
		return nil, gitstore.ID{}, err
	}
	owner, snap, err := f.findSnapshotNamed(at.Project, moment.Base)
	if err != nil {
		return nil, gitstore.ID{}, err
	}
	switch {
	case m != nil && owner != nil:
		return nil, gitstore.ID{}, missions.Errorf(missions.KindAmbiguous, "use a longer id, or the name from `umbra log`",
			"%q is both mission %s and snapshot %s", moment.Base, m.Name, snap.Short())
	case m != nil:
		return m, gitstore.ID{}, nil
	case owner != nil:
		return owner, snap, nil
	}
	if r == InAnyProject {
		if m, owner, snap, err := f.findBaseElsewhere(ctx, at.Project, moment.Base); m != nil || owner != nil || err != nil {
			if owner != nil {
				m = owner
			}
			return m, snap, err
		}
	}
	if m := f.removedMissionNamed(at.Project, moment.Base); m != nil {
		return nil, gitstore.ID{}, projects.InTrashError(m)
	}
	typed := func(name string) string {
		like := moment
		like.Base = name
		return like.String()
	}
	hint := f.suggestName(at.Project, moment.Base, r, true, typed, "umbra log, umbra mission ls or umbra pins list what there is")
	if at.Project != nil && len(moment.Base) >= 4 && missions.HexPattern().MatchString(moment.Base) {
		if pruned, err := shadow.LastPruned(at.Project.Store); err == nil && !pruned.IsZero() {
			hint = "it may be one of the older snapshots that were pruned, last on " + pruned.Local().Format(time.DateOnly) + "; " + hint
		}
	}
	return nil, gitstore.ID{}, missions.Errorf(missions.KindNotFound, hint, "no mission, pin or snapshot %q", moment.Base)
}

func (f *Finder) findBaseElsewhere(ctx context.Context, here *projects.Project, base string) (m, owner *projects.Mission, snap gitstore.ID, err error) {
	if m, _, err = f.findMissionElsewhere(ctx, here, base); m != nil || err != nil {
		return m, nil, snap, err
	}
	all, _ := f.AllProjects()
	for _, p := range all {
		if here != nil && p.ID == here.ID {
			continue
		}
		if owner, snap, err = f.findSnapshotNamed(p, base); owner != nil || err != nil {
			return nil, owner, snap, err
		}
	}
	return nil, nil, snap, nil
}

// findSnapshotNamed finds a snapshot by pin or id, and a mission whose history
// holds it: the one that took it, else any.
func (f *Finder) findSnapshotNamed(p *projects.Project, name string) (*projects.Mission, gitstore.ID, error) {
	if p == nil {
		return nil, gitstore.ID{}, nil
	}
	var ids []gitstore.ID
	if missions.NamePattern().MatchString(name) {
		id, err := p.Store.Ref(gitstore.PinRef(name))
		if err == nil {
			ids = append(ids, id)
		} else if !errors.Is(err, gitstore.ErrRefNotFound) {
			return nil, gitstore.ID{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "pin %s: %w", name, err)
		}
	}
	if len(name) >= 4 && missions.HexPattern().MatchString(name) {
		more, err := p.Store.ResolvePrefix(name)
		if err != nil {
			return nil, gitstore.ID{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "%w", err)
		}
		for _, id := range more {
			_, err := p.Store.Snapshot(id)
			if err != nil && !errors.Is(err, gitstore.ErrNotSnapshot) {
				return nil, gitstore.ID{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "%w", err)
			}
			if err == nil && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) > 1 {
		var short []string
		for _, id := range ids {
			short = append(short, id.Short())
		}
		return nil, gitstore.ID{}, missions.Errorf(missions.KindAmbiguous, "type more of the id", "%q could be %s", name, strings.Join(short, ", "))
	}
	for _, id := range ids {
		m, err := f.missionHolding(p, id)
		if m != nil || err != nil {
			return m, id, err
		}
	}
	return nil, gitstore.ID{}, nil
}

// missionHolding is a mission whose history holds a snapshot: its own if that is still
// there, else the first fork that shares it, else its own in the trash. An
// unreachable snapshot has none.
func (f *Finder) missionHolding(p *projects.Project, id gitstore.ID) (*projects.Mission, error) {
	snap, err := p.Store.Snapshot(id)
	if err != nil {
		return nil, err
	}
	if m, err := f.LoadMission(p, snap.Mission); err == nil {
		if _, ok, err := p.FindInHistory(m.Tip.ID, id); ok || err != nil {
			return m, err
		}
	}
	all, _ := f.ProjectMissions(p)
	for _, m := range all {
		if _, ok, err := p.FindInHistory(m.Tip.ID, id); ok || err != nil {
			return m, err
		}
	}
	if m, err := f.LoadRemovedMission(p, snap.Mission); err == nil {
		if _, ok, err := p.FindInHistory(m.Tip.ID, id); ok || err != nil {
			return m, err
		}
	}
	return nil, nil
}
