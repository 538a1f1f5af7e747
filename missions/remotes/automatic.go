package remotes

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// automatic is what is remembered of pushing to a remote by itself: all missions of the
// project, as the user has once asked for.
type automatic struct {
	Home    string            `json:"home"` // where that was: a copy of a home pushes nothing by itself
	Machine string            `json:"machine"`
	Env     map[string]string `json:"env"` // by which git finds its configuration and the way to the remote
	// Looked are the newest snapshots when a push came to its end, but for those that the
	// remote refused: what has diverged or looks like a secret is not looked through again.
	Looked  map[string]gitstore.ID `json:"looked"`
	At      time.Time              `json:"at,omitzero"`     // when that was
	Failed  time.Time              `json:"failed,omitzero"` // when a push came to no end, or something was refused
	Problem string                 `json:"problem,omitempty"`
	Fix     string                 `json:"fix,omitempty"`
}

func (a *automatic) isOf(h home.Home) bool { return a.Home == h.Dir && a.Machine == h.Machine }

func (a *automatic) view(p *projects.Project, remote string) *missions.AutomaticPush {
	return &missions.AutomaticPush{Project: p.Name, Path: p.Locations.Path, Remote: remote, At: a.At, Problem: a.Problem, Fix: a.Fix}
}

// setAutomatic does what a push of the user's asked for that has come to its end, and has the
// pushes by themselves that there are find git's configuration and credentials as it did.
func (r *savedRemote) setAutomatic(h home.Home, asked missions.PushRequest) {
	if asked.Auto == missions.AutomaticOn {
		r.Auto = &automatic{Home: h.Dir, Machine: h.Machine, Looked: map[string]gitstore.ID{}}
	}
	if r.Auto == nil || !r.Auto.isOf(h) {
		return
	}
	r.Auto.Env = map[string]string{}
	for _, name := range projects.GitVariables() {
		if value, ok := asked.Caller.Env[name]; ok {
			r.Auto.Env[name] = value
		}
	}
}

// noteLooked remembers what became of a push of all missions that came to its end. What the
// remote has not taken is tried again after a while. A mission that a push leaves out, since it
// can't be read or is another machine's, counts as looked at, and so does one that got a
// snapshot meanwhile only as it was.
func (c *Carrier) noteLooked(p *projects.Project, r *savedRemote, list []*projects.Mission, result missions.Transfer) {
	a := r.Auto
	if a == nil || !a.isOf(c.Home) {
		return
	}
	a.At, a.Failed, a.Problem, a.Fix = c.Now(), time.Time{}, "", ""
	if len(result.Findings) > 0 {
		a.Problem, a.Fix = "something in it looks like a secret: nothing has left", "umbra push "+result.Remote+" lists it"
	}
	refused := map[string]bool{}
	for _, m := range result.Missions {
		if m.State == missions.TransferDiverged || m.State == missions.TransferRejected {
			a.Problem, a.Fix = m.Mission+" was left: "+m.Reason, "umbra push "+result.Remote
		}
		if refused[m.ID] = m.State == missions.TransferRejected; refused[m.ID] {
			a.Failed = a.At
		}
	}
	looked := c.tipsOf(p)
	for _, m := range list {
		looked[m.ID] = m.Tip.ID
	}
	for id, tip := range looked {
		if !refused[id] {
			a.Looked[id] = tip
		}
	}
}

// tipsOf are the newest snapshots of the missions of a project, also of those that can't be
// read; none where the refs can't be read: doctor says so.
func (c *Carrier) tipsOf(p *projects.Project) map[string]gitstore.ID {
	refs, err := p.Store.Refs(gitstore.RefAgent)
	if err != nil {
		return map[string]gitstore.ID{}
	}
	tips := map[string]gitstore.ID{}
	for _, ref := range refs.Refs {
		tips[ref.Name.Mission()] = ref.ID
	}
	return tips
}

// isDue reports whether there is something that no push has looked at.
func (a *automatic) isDue(c *Carrier, p *projects.Project) bool {
	if !a.isOf(c.Home) || !a.Failed.IsZero() && c.Now().Sub(a.Failed).Abs() < RetryAfter {
		return false
	}
	for id, tip := range c.tipsOf(p) {
		if a.Looked[id] != tip {
			return true
		}
	}
	return false
}

// RetryAfter is how long after a push by itself that came to no end, as without a network, the
// next is tried.
const RetryAfter = 10 * time.Minute

// MostPushTime is how long a push by itself may take: it keeps others from the project's
// remotes and from its housekeeping, and a connection may hang for ever.
const MostPushTime = time.Hour

// IsPushDue reports whether a process is to be started that calls PushWhenDue. It is cheap
// enough for each idle point.
func (c *Carrier) IsPushDue(p *projects.Project) bool {
	s, err := readSaved(p)
	if err != nil {
		return false // umbra push says what is wrong
	}
	for _, r := range s.Remotes {
		if r.Auto != nil && r.Auto.isDue(c, p) {
			return true
		}
	}
	return false
}

// PushWhenDue pushes a project's missions to the remotes that the user has once asked for, as
// far as something is new. Pushes says what is wrong.
func (c *Carrier) PushWhenDue(ctx context.Context, p *projects.Project) error {
	if !c.IsPushDue(p) {
		return nil
	}
	return c.withProject(ctx, p, func() error {
		s, err := readSaved(p)
		if err != nil {
			return err
		}
		var failed error
		for i := range s.Remotes {
			r := &s.Remotes[i]
			if r.Auto == nil || !r.Auto.isDue(c, p) {
				continue
			}
			err := c.pushAlone(ctx, p, &s, r)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				said := missions.AsError(err)
				r.Auto.Failed, r.Auto.Problem, r.Auto.Fix = c.Now(), said.Message, "umbra push "+r.Name+" tries it at once"
				failed = errors.Join(failed, err)
			}
			if err := s.write(p); err != nil {
				return err
			}
		}
		return failed
	})
}

func (c *Carrier) pushAlone(ctx context.Context, p *projects.Project, s *saved, r *savedRemote) error {
	ctx, cancel := context.WithTimeout(ctx, c.PushTime)
	defer cancel()
	caller := missions.Caller{Cwd: p.Dir, Env: maps.Clone(r.Auto.Env)}
	delete(caller.Env, "SSH_ASKPASS") // nobody has begun anything that a window could ask about
	list, err := c.ownMissions(ctx, p, missions.PushRequest{Caller: caller})
	if err != nil {
		return err
	}
	result := missions.Transfer{Remote: r.Name, Missions: []missions.TransferMission{}}
	err = c.pushTo(ctx, p, s, r, caller, list, &result)
	if errors.Is(err, context.DeadlineExceeded) {
		return missions.Errorf(missions.KindTimeout, "", "the remote %s has not taken it within %s", r.Name, c.PushTime)
	}
	if err != nil {
		return err
	}
	c.noteLooked(p, r, list, result)
	return nil
}

// Pushes are the remotes that the projects of this home are pushed to by themselves.
func (c *Carrier) Pushes() (list []missions.AutomaticPush) {
	all, _ := c.AllProjects() // doctor says what is wrong
	for _, p := range all {
		s, err := readSaved(p)
		if err != nil {
			continue // umbra push says what is wrong
		}
		for _, r := range s.Remotes {
			if r.Auto != nil && r.Auto.isOf(c.Home) {
				list = append(list, *r.Auto.view(p, r.Name))
			}
		}
	}
	return list
}
