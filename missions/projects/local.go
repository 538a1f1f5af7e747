package projects

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// EndWorkers ends what is being carried out; none begins any more.
func (d *Desk) EndWorkers() {
	d.mu.Lock()
	d.End()
	d.mu.Unlock()
	d.Workers.Wait()
}

// CloseProjects closes the repositories that are open.
func (d *Desk) CloseProjects() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for dir, open := range d.ProjectStores {
		errs = append(errs, open.close())
		delete(d.ProjectStores, dir)
	}
	return errors.Join(errs...)
}

// ErrClosing answers requests that come, or are met, by the end of the Service.
var ErrClosing = missions.Errorf(missions.KindInterrupted, "", "umbra is ending")

// StartWorker counts a worker in, unless the Service is ending.
func (d *Desk) StartWorker() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Closing.Err() != nil {
		return false
	}
	d.Workers.Add(1)
	return true
}

func (d *Desk) Now() time.Time { return d.Clock() }

func (d *Desk) NewID() string { return missions.NewRequestID() }

// NewSession makes the id of a conversation that an agent is to go on in.
func (d *Desk) NewSession(a sessions.Adapter) string { return a.NewID(d.NewID(), d.Now()) }

// AdoptedID is the id of the mission for a session started by hand: the same
// from whichever hook asks, so that two at once make one mission. The id of a
// mission that was removed is not used again, but for that of back if it is given:
// then it is the id as it will be when that mission is back.
func (d *Desk) AdoptedID(all []*Project, agent, session, back string) string {
	for n := 0; ; n++ {
		name := "umbra:" + d.Home.Machine + ":" + agent + ":" + session
		if n > 0 {
			name += ":" + missions.Itoa(n)
		}
		id := missions.NamedID(name)
		removed := slices.ContainsFunc(all, func(p *Project) bool {
			_, err := p.Store.Ref(gitstore.TrashAgentRef(id))
			return !errors.Is(err, gitstore.ErrRefNotFound)
		})
		if !removed || id == back {
			return id
		}
	}
}

// Adapter returns the agent's adapter, or nil for any other command.
func (d *Desk) Adapter(agent string) sessions.Adapter {
	for _, a := range d.Adapters {
		if a.Name() == agent {
			return a
		}
	}
	return d.foreignAdapter(agent)
}

// AgentOf names the agent that a command line starts: an adapter's name, or
// the program's own.
func (d *Desk) AgentOf(argv []string) string {
	for _, a := range d.Adapters {
		if a.Runs(argv) {
			return a.Name()
		}
	}
	return filepath.Base(argv[0])
}
