package remotes

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Push sends missions of this home to a remote. A ref that is there goes forward or stays:
// where both sides have snapshots that the other has not, the mission is left, and a fork
// of it goes on. Nothing is sent while something in it looks like a secret that was not
// allowed. Cut off at any point, the next push sends the rest.
func (c *Carrier) Push(ctx context.Context, r missions.PushRequest) (missions.Transfer, error) {
	if err := checkAllowed(r.Allow); err != nil {
		return missions.Transfer{}, err
	}
	p, err := c.project(r.Caller)
	if err != nil {
		return missions.Transfer{}, err
	}
	list, err := c.ownMissions(ctx, p, r)
	if err != nil {
		return missions.Transfer{}, err
	}
	result := missions.Transfer{Missions: []missions.TransferMission{}}
	err = c.withProject(ctx, p, func() error {
		s, err := readSaved(p)
		if err != nil {
			return err
		}
		one, err := s.findRepository(r.Remote)
		if err == nil && one.File {
			err = missions.Errorf(missions.KindUsage, "umbra export MOMENT… -o FILE writes a file", "%s is a file that was imported: nothing is pushed to it", one.Name)
		}
		if err == nil {
			err = s.allow(p, r.Allow)
		}
		if err != nil {
			return err
		}
		result.Remote, result.NoSessions = one.Name, one.NoSessions
		if r.Auto == missions.AutomaticOff {
			one.Auto = nil
			return s.write(p)
		}
		if err := c.pushTo(ctx, p, &s, one, r.Caller, list, &result); err != nil {
			return err // and what it noted leaves pushing by itself as it was
		}
		one.setAutomatic(c.Home, r)
		if len(r.Missions) == 0 {
			c.noteLooked(p, one, list, result)
		}
		return s.write(p)
	})
	return result, err
}

// pushTo sends missions to one remote, and notes in s what it has then.
func (c *Carrier) pushTo(
	ctx context.Context, p *projects.Project, s *saved, to *savedRemote, caller missions.Caller, list []*projects.Mission, result *missions.Transfer,
) error {
	look, err := c.newSearch(p, caller, s.Allowed, list)
	if err != nil {
		return err
	}
	sent := &pushing{Carrier: c, project: p, remote: to, saved: s, at: c.remote(*to, caller), search: look, result: result}
	return sent.push(ctx, list)
}

// ownMissions are those that are named, or all of the project that belong to this machine.
func (c *Carrier) ownMissions(ctx context.Context, p *projects.Project, r missions.PushRequest) (list []*projects.Mission, err error) {
	if len(r.Missions) == 0 {
		all, problems := c.ProjectMissions(p)
		for _, m := range all {
			if m.CheckMachine() == nil {
				list = append(list, m)
			}
		}
		for _, problem := range problems {
			missions.Notify(ctx, missions.Notice{Text: "not pushed: " + problem.Message + ": " + problem.Fix})
		}
		return list, nil
	}
	if list, err = c.addresses.FindMissions(ctx, r.Caller, r.Missions); err != nil {
		return nil, err
	}
	for _, m := range list {
		if err := m.CheckMachine(); err != nil {
			return nil, err
		}
		if m.Project.ID != p.ID {
			return nil, missions.Errorf(missions.KindNotFound, "cd "+m.Binding.Workspace, "mission %s is of another project", m.Name)
		}
	}
	return list, nil
}

// pushing is one push.
type pushing struct {
	*Carrier
	project *projects.Project
	remote  *savedRemote
	saved   *saved
	at      transfer.Remote
	theirs  theirs        // by the commits here that it is of
	known   []gitstore.ID // what the remote has, as far as it is here too
	search  *search
	leaving *leaving
	sealed  *sealed             // nil: it is not encrypted
	had     []gitstore.ID       // known, before what is sent now
	sending []*projects.Mission // whose refs are to go forward
	result  *missions.Transfer
}

func (u *pushing) push(ctx context.Context, list []*projects.Mission) (err error) {
	if u.theirs, u.sealed, err = u.readProject(ctx, u.project, *u.remote, u.at); err != nil {
		return err
	}
	u.result.Left = u.theirs.left
	// What was pruned is gone for the git that is asked below, though open packs have it.
	if err := u.project.Store.Rescan(); err != nil {
		return err
	}
	if err := u.openExcerpts(ctx, list); err != nil {
		return err
	}
	defer u.leaving.close()
	u.search.of(u.leaving)
	var refs []transfer.Ref
	for _, m := range list {
		tips := u.leaving.copiesOf([]gitstore.ID{m.Tip.ID, m.Record})
		one, err := u.compare(m)
		if err == nil {
			err = u.leaving.failed[m.ID]
		}
		isNew := one.State == missions.TransferNew || one.State == missions.TransferUpdated
		if err == nil && isNew && u.sealed != nil {
			err = u.leaving.area.CheckWhole(ctx, tips, u.had)
		}
		if err == nil && isNew {
			one.Objects, one.Bytes, err = u.search.look(ctx, m, tips, u.known)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, transfer.ErrCut):
			one.State = missions.TransferRejected
			one.Reason = "older snapshots of it were pruned, so that nobody could read it encrypted; a remote with --no-sessions takes it"
		case err != nil: // the others are sent
			one.State, one.Reason = missions.TransferRejected, "it can't be read (umbra doctor): "+err.Error()
		case isNew:
			u.known, u.sending = append(u.known, tips...), append(u.sending, m)
			refs = append(refs,
				transfer.Ref{Name: remoteRef(u.remote.Project, gitstore.AgentRef(m.ID)), ID: tips[0]},
				transfer.Ref{Name: remoteRef(u.remote.Project, gitstore.RecordRef(m.ID)), ID: tips[1]})
		}
		u.result.Missions = append(u.result.Missions, one)
	}
	if u.result.Findings = u.search.findings(list); len(u.result.Findings) > 0 {
		u.result.Missions = []missions.TransferMission{}
		return nil
	}
	return u.send(ctx, list, refs)
}

// compare says what is to be done with a mission.
func (u *pushing) compare(m *projects.Mission) (missions.TransferMission, error) {
	one := missions.TransferMission{Mission: m.Name, ID: m.ID, State: missions.TransferUpdated}
	there, has := u.theirs.missions[m.ID]
	if !has {
		one.State = missions.TransferNew
		return one, nil
	}
	snapshots, err := isBehind(u.project.Store, there.agent, m.Tip.ID)
	if err != nil {
		return one, err
	}
	records, err := isBehind(u.project.Store, there.record, m.Record)
	if err != nil {
		return one, err
	}
	switch {
	case there.agent == m.Tip.ID && there.record == m.Record:
		one.State = missions.TransferSame
	case !snapshots || !records:
		one.State = missions.TransferDiverged
		if pruned, err := u.saved.hasPruned(u.project.Store, m.ID, there.agent, m.Tip.ID); err != nil || pruned {
			one.Reason = "what the remote has of it was pruned here, so that git can't send what came after that; a mission that is begun anew can be pushed (umbra mission new)"
			return one, err
		}
		one.Reason = "the remote has something of it that is not here: umbra fetch " + u.remote.Name +
			" brings that; a fork of either, umbra fork " + m.Name + " or umbra fork " + u.remote.Name + "/" + m.Name + ", goes on and can be pushed"
	}
	return one, nil
}

// isBehind reports whether a commit of a remote is before a tip of this home, or the tip,
// or there is none. One that is not here is not before it.
func isBehind(s *shadow.Store, theirs, tip gitstore.ID) (bool, error) {
	if theirs.IsZero() {
		return true, nil
	}
	if _, err := s.Commit(theirs); errors.Is(err, gitstore.ErrMissing) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return s.IsAncestor(theirs, tip)
}

// noteSending notes what is about to be sent, and what is known by now of earlier pushes that
// were cut off: a remote may take what nobody is left to note.
func (u *pushing) noteSending() error {
	for id, there := range u.theirs.missions {
		if sending, is := u.remote.Sending[id]; is && sending == there.agent {
			u.remote.Pushed[id] = sending
			delete(u.remote.Sending, id)
		}
	}
	for _, m := range u.sending {
		u.remote.Sending[m.ID] = m.Tip.ID
	}
	return u.saved.write(u.project)
}

// send has git push, and takes note of what the remote has then.
func (u *pushing) send(ctx context.Context, list []*projects.Mission, refs []transfer.Ref) error {
	for _, noted := range []*map[string]gitstore.ID{&u.remote.Pushed, &u.remote.Sending} {
		if *noted == nil {
			*noted = map[string]gitstore.ID{}
		}
	}
	var refused map[string]string
	if len(refs) > 0 {
		if err := u.noteSending(); err != nil {
			return err
		}
		missions.Notify(ctx, missions.Notice{Text: "pushing to " + u.remote.Name})
		var err error
		if refused, err = u.sendRefs(ctx, refs); err != nil {
			return remoteError(*u.remote, err)
		}
	}
	for i, m := range list {
		one := &u.result.Missions[i]
		for _, name := range []gitstore.RefName{gitstore.AgentRef(m.ID), gitstore.RecordRef(m.ID)} {
			if why := refused[remoteRef(u.remote.Project, name)]; why != "" {
				one.State, one.Reason = missions.TransferRejected, "the remote did not take it: "+why
			}
		}
		if one.State != missions.TransferRejected && one.State != missions.TransferDiverged {
			u.remote.Pushed[m.ID] = m.Tip.ID
			if err := u.noteLink(m); err != nil {
				return err
			}
		}
		if u.remote.Pushed[m.ID] == m.Tip.ID { // of what was refused, git may not know either
			delete(u.remote.Sending, m.ID)
		}
	}
	return nil
}
