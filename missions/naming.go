package missions

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// naming is taken to give a name in a project, so that no two things have one.
// It is held for the writing of refs, never while a workspace is read or waited
// for: whoever needs both takes the workspace first.
func (l *Local) naming(ctx context.Context, p *project) (*lock.Lock, error) {
	held, err := lock.Wait(ctx, l.namesFile(p), lock.Exclusive, l.self)
	return held, busy(err)
}

func (l *Local) namesFile(p *project) string { return l.home.path("locks", "names-"+p.ID) }

// namingPatience is how long a snapshot that an agent waits for may be held up
// by its mission's name.
const namingPatience = 200 * time.Millisecond

// nameFirst chooses the name under which a mission is recorded with its first
// snapshot; claimName says whether it is its own.
func (l *Local) nameFirst(m *loaded, w *wanted) error {
	name, err := l.nameFor(m.project, *w.first)
	m.Name, w.What = name, "mission "+name+" begins"
	return err
}

// claimName takes the naming lock for the publishing of a mission, if its name is
// still free. Otherwise it reports that the mission is to be recorded once more,
// under another. Where an agent waits and the lock is not to be had that is one
// that needs no lock, after its id, until nameAsAsked gives it a better one.
func (l *Local) claimName(ctx context.Context, m *loaded, w *wanted) (held *lock.Lock, another bool, err error) {
	waits := ctx
	if w.first.adopted {
		var cancel context.CancelFunc
		waits, cancel = context.WithTimeout(ctx, namingPatience)
		defer cancel()
	}
	held, err = l.naming(waits, m.project)
	switch {
	case err != nil && w.first.adopted && ctx.Err() == nil:
		name := agentBase(m.program()) + "-" + m.ID[:8]
		m.live.Name, m.Unnamed = w.first.name, true
		m.Name, w.What = name, "mission "+name+" begins"
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	is, err := l.taken(m.project)(m.Name)
	if err == nil && !is {
		return held, false, nil
	}
	if err == nil {
		err = l.nameFirst(m, w)
	}
	if err != nil {
		return nil, false, errors.Join(err, held.Release())
	}
	return held, true, nil
}

// nameAsAsked names an adopted mission by its first prompt, unless somebody gives
// names just now: then the next event does. The caller holds the workspace.
func (l *Local) nameAsAsked(ctx context.Context, m *loaded) error {
	if !m.Unnamed || m.live.Name == "" || m.live.Provisional != "" {
		return nil
	}
	held, err := lock.Try(l.namesFile(m.project), lock.Exclusive, l.self)
	if errors.Is(err, lock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	name, err := l.taken(m.project).free(m.live.Name)
	if err != nil {
		return errors.Join(err, held.Release())
	}
	m.live.Name = ""
	return errors.Join(l.rename(ctx, m, name), held.Release())
}

// nameFor picks the mission's name. It is the mission's only as long as the
// caller holds the project's naming lock.
func (l *Local) nameFor(p *project, n newMission) (string, error) {
	taken := l.taken(p)
	switch {
	case n.name == "":
		return taken.numbered(agentBase(cmp.Or(n.tool, n.agent)))
	case n.named:
		return taken.given(n.name, "choose another name, or umbra mission resume "+n.name)
	}
	return taken.free(n.name)
}

// agentBase begins the names of missions that are called after their agent.
func agentBase(agent string) string {
	base := strings.Trim(unfitForName().ReplaceAllString(strings.ToLower(agent), "-"), "-._")
	if len(base) > 40 {
		base = base[:40]
	}
	if base == "" || !nameForm().MatchString(base) {
		return "mission"
	}
	return base
}

// taken tells which names a project's missions and pins have, those of forks
// that are being made among them.
func (l *Local) taken(p *project) takenNames {
	making := l.namesBeingMade(p)
	return func(name string) (bool, error) {
		if making[name] {
			return true, nil
		}
		_, head := p.store.Symbolic(gitstore.HeadRef(name))
		_, pin := p.store.Ref(gitstore.PinRef(name))
		for _, err := range []error{head, pin} {
			switch {
			case err == nil || errors.Is(err, gitstore.ErrRefBroken):
				return true, nil
			case !errors.Is(err, gitstore.ErrRefNotFound):
				return false, Errorf(KindFailed, "umbra doctor", "see which names there are: %w", err)
			}
		}
		return false, nil
	}
}

// namesBeingMade are the names of forks in flight.
func (l *Local) namesBeingMade(p *project) map[string]bool {
	names := map[string]bool{}
	entries, _, _ := l.journal.List()
	for _, entry := range entries {
		var doc forkDoc
		if entry.Kind() == forkKind && entry.Document(&doc) == nil && doc.Project == p.Dir && !doc.Again {
			names[doc.Name] = true
		}
	}
	return names
}
