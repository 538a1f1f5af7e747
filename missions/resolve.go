package missions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// place is where a caller stands: the directory, and its project if it has one.
type place struct {
	ground
	project *project
}

// stand finds out where a caller stands. The place is told also where the
// project that it belongs to can't be opened.
func (l *Local) stand(c Caller) (place, error) {
	g, err := survey(c.Cwd)
	if err != nil {
		return place{}, err
	}
	p, err := l.projectOf(g)
	return place{ground: g, project: p}, err
}

// missionsOf loads a project's missions. A damaged one hides no other.
func (l *Local) missionsOf(p *project) ([]*loaded, []Problem) {
	found, problems, err := l.listMissions(p)
	if err != nil {
		return nil, []Problem{{Invariant: "I1", Project: p.Name, Message: err.Error(), Fix: "umbra doctor"}}
	}
	return found, problems
}

// listMissions is missionsOf where it matters whether there is none or they could
// not be listed.
func (l *Local) listMissions(p *project) (found []*loaded, problems []Problem, err error) {
	list, err := p.store.Refs(gitstore.RefAgent)
	if err != nil {
		return nil, nil, err
	}
	for _, bad := range list.Bad {
		problems = append(problems, Problem{Invariant: "I1", Project: p.Name, Message: bad.Error(), Fix: "umbra doctor --fix"})
	}
	for _, ref := range list.Refs {
		m, err := l.load(p, ref.Name.Mission())
		if err != nil {
			problems = append(problems, Problem{Invariant: "I3", Project: p.Name, Mission: ref.Name.Mission(), Message: err.Error(), Fix: "umbra doctor --fix"})
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b *loaded) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return found, problems, nil
}

// reach says where a name may be looked for.
type reach int

const (
	writing reach = iota // this project only
	reading              // then every other project
)

// findMission resolves a mission's name, id or unique prefix; "" is the
// default mission.
func (l *Local) findMission(ctx context.Context, c Caller, name string, r reach) (*loaded, error) {
	at, err := l.stand(c)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return l.defaultMission(ctx, c, at, r)
	}
	if !baseForm(name) {
		return nil, Errorf(KindNotFound, l.meant(at.project, name, r, false, asTyped, "umbra mission ls"), "%q names no mission", name)
	}
	if m, err := l.missionIn(at.project, name); m != nil || err != nil {
		return m, err
	}
	m, elsewhere, err := l.missionElsewhere(ctx, at.project, name)
	if err != nil {
		return nil, err
	}
	if m != nil && (r == reading || uuidForm().MatchString(name)) {
		return m, nil
	}
	if m != nil {
		return nil, Errorf(KindNotFound, "cd "+m.bind.Workspace, "no mission %q in this project; there is one in %s", name, elsewhere)
	}
	if m := l.removedCalled(at.project, name); m != nil {
		return nil, inTrash(m)
	}
	return nil, Errorf(KindNotFound, l.meant(at.project, name, r, false, asTyped, "umbra mission ls --all"), "no mission %q", name)
}

// removedCalled is a mission of a project that is in the trash under a name, nil if
// there is none that can be read.
func (l *Local) removedCalled(p *project, name string) *loaded {
	if p == nil {
		return nil
	}
	list, _ := l.removedFrom(p)
	for _, m := range list {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// missionIn finds a mission in a project: by name, else by id or its prefix.
func (l *Local) missionIn(p *project, name string) (*loaded, error) {
	if p == nil {
		return nil, nil
	}
	if uuidForm().MatchString(name) {
		return l.loadPublished(p, name)
	}
	all, _, listing := l.listMissions(p)
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	if nameForm().MatchString(name) {
		if m, err := l.missionNamed(p, name); m != nil || err != nil {
			return m, err
		}
	}
	if !idPrefix().MatchString(name) {
		return nil, listing
	}
	var found []*loaded
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
	return nil, ambiguous(name, found)
}

// missionNamed finds a mission by its good name: one that can't be read, or whose
// neighbours can't be listed, is not one that does not exist.
func (l *Local) missionNamed(p *project, name string) (*loaded, error) {
	ref, err := p.store.Symbolic(gitstore.HeadRef(name))
	switch {
	case errors.Is(err, gitstore.ErrRefNotFound), errors.Is(err, gitstore.ErrRefBroken):
		return nil, nil
	case err != nil:
		return nil, err
	case ref.Kind() != gitstore.RefAgent:
		return nil, nil
	}
	m, err := l.loadPublished(p, ref.Mission())
	if err != nil || m == nil || m.Name != name {
		return nil, err
	}
	return m, nil
}

// loadPublished loads the mission with an id, nil if the project has none.
func (l *Local) loadPublished(p *project, id string) (*loaded, error) {
	_, err := p.store.Ref(gitstore.AgentRef(id))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, refError(id, err)
	}
	return l.load(p, id)
}

func ambiguous(name string, found []*loaded) error {
	var list []string
	for _, m := range found {
		list = append(list, fmt.Sprintf("%s (%s)", m.Name, m.ID[:8]))
	}
	return Errorf(KindAmbiguous, "use one of the names, or more of the id", "%q could be %s", name, strings.Join(list, ", "))
}

func (l *Local) missionElsewhere(ctx context.Context, here *project, name string) (*loaded, string, error) {
	all, problems := l.allProjects()
	var found []*loaded
	for _, p := range all {
		if here != nil && p.ID == here.ID {
			continue
		}
		m, err := l.missionIn(p, name)
		if err != nil {
			return nil, "", err
		}
		if m != nil {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		notifyProblems(ctx, problems)
		return nil, "", nil
	case 1:
		return found[0], found[0].project.Name, nil
	}
	return nil, "", ambiguous(name, found)
}

// notifyProblems says what could not be looked at: what was asked for may be there.
func notifyProblems(ctx context.Context, problems []Problem) {
	for _, p := range problems {
		Notify(ctx, Notice{Text: p.Message + ": " + p.Fix})
	}
}

// defaultMission is the mission a command means that names none.
func (l *Local) defaultMission(ctx context.Context, c Caller, at place, r reach) (*loaded, error) {
	if c.Mission != "" {
		m, err := l.missionByID(c.Mission)
		if err != nil && AsError(err).Kind != KindNotFound {
			return nil, err
		}
		if err != nil {
			return nil, Errorf(KindNotFound, "unset UMBRA_MISSION, or name a mission", "$UMBRA_MISSION is %q: %w", c.Mission, err)
		}
		return m, nil
	}
	if at.project == nil {
		return nil, Errorf(KindNotFound, "umbra mission new, or umbra mission ls --all for those elsewhere", "no mission here: %s belongs to no project of Umbra's", at.Dir)
	}
	all, problems := l.missionsOf(at.project)
	var here, alive []*loaded
	for _, m := range all {
		if m.bind.Workspace == "" || !within(m.bind.Workspace, at.Dir) {
			continue
		}
		here = append(here, m)
		if HasAgent(m.life) || m.live.kept() {
			alive = append(alive, m)
		}
	}
	if len(alive) == 1 {
		return alive[0], nil
	}
	if len(alive) > 1 && r == writing {
		return nil, ambiguousHere(at.Dir, alive)
	}
	if len(alive) > 1 {
		here = alive
	}
	if len(here) == 0 && len(problems) > 0 {
		return nil, Errorf(KindDamaged, "umbra doctor", "no mission that can be read works in %s: %s", at.Dir, problems[0].Message)
	}
	if len(here) == 0 {
		return nil, Errorf(KindNotFound, "umbra mission new, or umbra mission ls", "no mission works in %s", at.Dir)
	}
	m := slices.MaxFunc(here, func(a, b *loaded) int { return a.used().Compare(b.used()) })
	if len(here) > 1 {
		Notify(ctx, Notice{Text: "no mission was named: this is " + m.Name + ", the most recently used here"})
	}
	return m, nil
}

func ambiguousHere(dir string, found []*loaded) error {
	var names []string
	for _, m := range found {
		names = append(names, m.Name)
	}
	return Errorf(KindAmbiguous, "name one of them", "%d live missions work in %s: %s", len(found), dir, strings.Join(names, ", "))
}

// missionByID finds a mission in any project, by its whole id.
func (l *Local) missionByID(id string) (*loaded, error) {
	if uuidForm().MatchString(id) {
		if m := l.rememberedMission(id); m != nil && m.live.Provisional == "" {
			return m, nil
		}
		all, _ := l.allProjects()
		for _, p := range all {
			if m, err := l.loadPublished(p, id); m != nil || err != nil {
				if m != nil {
					l.known.found(m)
				}
				return m, err
			}
		}
	}
	return nil, Errorf(KindNotFound, "umbra mission ls --all", "no mission %s", id)
}

// found is a resolved moment: a snapshot, and the mission it was named by.
type found struct {
	*loaded
	step step
}

// findMoment resolves the name of a moment; "" is the default mission's newest.
func (l *Local) findMoment(ctx context.Context, c Caller, text string, r reach) (found, error) {
	moment, err := ParseMoment(text)
	if text == "" {
		moment, err = Moment{}, nil
	}
	if err != nil {
		return found{}, err
	}
	m, direct, err := l.findBase(ctx, c, moment, r)
	if err != nil {
		return found{}, err
	}
	if !direct.IsZero() {
		if moment.At != Newest && moment.At != Back {
			return found{}, Errorf(KindNotFound, "name a mission before the @", "%q is a snapshot, which has no turns", moment.Base)
		}
		return m.stepBack(direct, moment.N)
	}
	return l.within(m, moment)
}

// findBase resolves what stands before the @ or ~: a mission, or a snapshot
// (by pin or id) with the mission it belongs to. Two matches are an error.
func (l *Local) findBase(ctx context.Context, c Caller, moment Moment, r reach) (*loaded, gitstore.ID, error) {
	if moment.Base == "" {
		m, err := l.findMission(ctx, c, "", r)
		return m, gitstore.ID{}, err
	}
	at, err := l.stand(c)
	if err != nil {
		return nil, gitstore.ID{}, err
	}
	m, err := l.missionIn(at.project, moment.Base)
	if err != nil {
		return nil, gitstore.ID{}, err
	}
	owner, snap, err := l.snapshotNamed(at.project, moment.Base)
	if err != nil {
		return nil, gitstore.ID{}, err
	}
	switch {
	case m != nil && owner != nil:
		return nil, gitstore.ID{}, Errorf(KindAmbiguous, "use a longer id, or the name from `umbra log`",
			"%q is both mission %s and snapshot %s", moment.Base, m.Name, snap.Short())
	case m != nil:
		return m, gitstore.ID{}, nil
	case owner != nil:
		return owner, snap, nil
	}
	if r == reading {
		if m, owner, snap, err := l.baseElsewhere(ctx, at.project, moment.Base); m != nil || owner != nil || err != nil {
			if owner != nil {
				m = owner
			}
			return m, snap, err
		}
	}
	if m := l.removedCalled(at.project, moment.Base); m != nil {
		return nil, gitstore.ID{}, inTrash(m)
	}
	typed := func(name string) string {
		like := moment
		like.Base = name
		return like.String()
	}
	hint := l.meant(at.project, moment.Base, r, true, typed, "umbra log, umbra mission ls or umbra pins list what there is")
	return nil, gitstore.ID{}, Errorf(KindNotFound, hint, "no mission, pin or snapshot %q", moment.Base)
}

func (l *Local) baseElsewhere(ctx context.Context, here *project, base string) (m, owner *loaded, snap gitstore.ID, err error) {
	if m, _, err = l.missionElsewhere(ctx, here, base); m != nil || err != nil {
		return m, nil, snap, err
	}
	all, _ := l.allProjects()
	for _, p := range all {
		if here != nil && p.ID == here.ID {
			continue
		}
		if owner, snap, err = l.snapshotNamed(p, base); owner != nil || err != nil {
			return nil, owner, snap, err
		}
	}
	return nil, nil, snap, nil
}

// snapshotNamed finds a snapshot by pin or id, and a mission whose history
// holds it: the one that took it, else any.
func (l *Local) snapshotNamed(p *project, name string) (*loaded, gitstore.ID, error) {
	if p == nil {
		return nil, gitstore.ID{}, nil
	}
	var ids []gitstore.ID
	if nameForm().MatchString(name) {
		id, err := p.store.Ref(gitstore.PinRef(name))
		if err == nil {
			ids = append(ids, id)
		} else if !errors.Is(err, gitstore.ErrRefNotFound) {
			return nil, gitstore.ID{}, Errorf(KindDamaged, "umbra doctor", "pin %s: %w", name, err)
		}
	}
	if len(name) >= 4 && hexForm().MatchString(name) {
		more, err := p.store.ResolvePrefix(name)
		if err != nil {
			return nil, gitstore.ID{}, Errorf(KindDamaged, "umbra doctor", "%w", err)
		}
		for _, id := range more {
			_, err := p.store.Snapshot(id)
			if err != nil && !errors.Is(err, gitstore.ErrNotSnapshot) {
				return nil, gitstore.ID{}, Errorf(KindDamaged, "umbra doctor", "%w", err)
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
		return nil, gitstore.ID{}, Errorf(KindAmbiguous, "type more of the id", "%q could be %s", name, strings.Join(short, ", "))
	}
	for _, id := range ids {
		m, err := l.holder(p, id)
		if m != nil || err != nil {
			return m, id, err
		}
	}
	return nil, gitstore.ID{}, nil
}

// holder is a mission whose history holds a snapshot: its own if that is still
// there, else the first fork that shares it, else its own in the trash. An
// unreachable snapshot has none.
func (l *Local) holder(p *project, id gitstore.ID) (*loaded, error) {
	snap, err := p.store.Snapshot(id)
	if err != nil {
		return nil, err
	}
	if m, err := l.load(p, snap.Mission); err == nil {
		if _, ok, err := p.locate(m.tip.ID, id); ok || err != nil {
			return m, err
		}
	}
	all, _ := l.missionsOf(p)
	for _, m := range all {
		if _, ok, err := p.locate(m.tip.ID, id); ok || err != nil {
			return m, err
		}
	}
	if m, err := l.loadRemoved(p, snap.Mission); err == nil {
		if _, ok, err := p.locate(m.tip.ID, id); ok || err != nil {
			return m, err
		}
	}
	return nil, nil
}
