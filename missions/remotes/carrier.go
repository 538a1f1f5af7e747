// Package remotes carries missions to other machines and brings those of others: it adds
// remotes, pushes to them and fetches from them. Nothing is overwritten on either side, and
// what was fetched changes no mission of this home.
package remotes

import (
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Carrier carries missions.
type Carrier struct {
	*projects.Desk
	// PushTime is how long a push by itself may take; MostPushTime.
	PushTime  time.Duration
	addresses *addresses.Finder
}

// New makes a Carrier.
func New(d *projects.Desk, a *addresses.Finder) *Carrier {
	return &Carrier{Desk: d, PushTime: MostPushTime, addresses: a}
}

// lockRemotes keeps all others away from the remotes of a project, and from what is being
// fetched into it.
func (c *Carrier) lockRemotes(ctx context.Context, p *projects.Project) (*lock.Lock, error) {
	held, err := lock.Wait(ctx, c.Home.Path("locks", "remotes-"+p.ID), lock.Exclusive, c.Self)
	return held, home.LockError(err)
}

// withProject runs fn while the project stays where it is and nobody else moves missions
// of it.
func (c *Carrier) withProject(ctx context.Context, p *projects.Project, fn func() error) error {
	whole, err := lock.Wait(ctx, lock.ProjectFile(c.Home.Dir, p.ID), lock.Shared, c.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer whole.Release()
	held, err := c.lockRemotes(ctx, p)
	if err != nil {
		return err
	}
	defer held.Release()
	return fn()
}

// project is the project of a caller that has remotes or missions.
func (c *Carrier) project(caller missions.Caller) (*projects.Project, error) {
	at, err := c.addresses.LocateCaller(caller)
	if err != nil {
		return nil, err
	}
	if at.Project == nil {
		return nil, missions.Errorf(missions.KindNotFound, "umbra mission new begins a mission, umbra remote add NAME URL brings those of others",
			"%s belongs to no project of Umbra's", at.Dir)
	}
	return at.Project, nil
}

// remote is where git finds a remote, with the configuration and credentials of a caller.
func (c *Carrier) remote(r savedRemote, caller missions.Caller) transfer.Remote {
	user := map[string]string{}
	for _, name := range projects.GitVariables() {
		if value, ok := caller.Env[name]; ok {
			user[name] = value
		}
	}
	return transfer.Remote{URL: r.URL, User: user}
}

// remoteError says what can be done about an error of git's.
func remoteError(r savedRemote, err error) error {
	var failed *transfer.Error
	switch {
	case errors.Is(err, git.ErrNotInstalled):
		return missions.Errorf(missions.KindFailed, "install git, 2.38 or newer", "%w", err)
	case errors.As(err, &failed):
		return missions.Errorf(missions.KindFailed, "git ls-remote "+home.ShellQuote(failed.URL)+" shows whether it is reached; nothing is lost, do it again then",
			"the remote %s can't be used: %w", r.Name, err)
	}
	return err
}

// foreignRef is a ref of a remote as Umbra names them: refs/umbra/<project>/agents/<id> and
// refs/umbra/<project>/records/<id>.
const refsAbove = "refs/umbra/"

func remoteRef(project string, name gitstore.RefName) string {
	kind := "agents/"
	if name.Kind() == gitstore.RefRecord {
		kind = "records/"
	}
	return refsAbove + project + "/" + kind + name.Mission()
}
