package remotes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Fetch brings the missions that a remote has, but for those of this home of which it has
// nothing more. What was fetched before goes forward or stays. Cut off at any point, the
// next fetch brings the rest.
func (c *Carrier) Fetch(ctx context.Context, r missions.FetchRequest) (missions.Transfer, error) {
	p, err := c.project(r.Caller)
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
		if err != nil {
			return err
		}
		result.Remote = one.Name
		f := &fetching{Carrier: c, project: p, remote: *one, saved: s, at: c.remote(*one, r.Caller), result: &result}
		if one.File {
			in, err := c.openFile(*one, r.Caller)
			if err != nil {
				return err
			}
			defer in.close()
			f.at = in.at
		}
		return f.fetch(ctx)
	})
	return result, err
}

// fetching is one fetch.
type fetching struct {
	*Carrier
	project *projects.Project
	remote  savedRemote
	saved   saved
	at      transfer.Remote
	sealed  *sealed      // nil: it is not encrypted
	note    func() error // notes the remote once what it has is here, before anything is published; nil: it is noted
	result  *missions.Transfer
}

// noteRemote notes the remote if it is not noted yet.
func (f *fetching) noteRemote() error {
	if f.note == nil {
		return nil
	}
	return f.note()
}

func (f *fetching) fetch(ctx context.Context) error {
	theirs, sealed, err := f.readProject(ctx, f.project, f.remote, f.at)
	if err != nil {
		return err
	}
	f.sealed = sealed
	f.result.Left = theirs.left
	if len(theirs.missions) == 0 && len(theirs.projects) > 0 {
		return missions.Errorf(missions.KindNotFound,
			addAgain(f.remote, theirs.projects),
			"the remote %s has no project %s, but %s", f.remote.Name, f.remote.Project, strings.Join(theirs.projects, ", "))
	}
	var refs []transfer.Ref
	wanted := map[string]theirMission{}
	for _, id := range slices.Sorted(maps.Keys(theirs.missions)) {
		m := theirs.missions[id]
		if m.agent.IsZero() || m.record.IsZero() {
			f.result.Left = append(f.result.Left, missions.LeftRef{Ref: refsAbove + f.remote.Project + "/*/" + id, Reason: "a push of it was cut off: half of it is there"})
			continue
		}
		if f.isOwn(id, m) {
			continue
		}
		if f.has(id, m) {
			f.listSame(id, m)
			continue
		}
		wanted[id] = m
		refs = append(refs, transfer.Ref{Name: remoteRef(f.remote.Project, gitstore.AgentRef(id))}, transfer.Ref{Name: remoteRef(f.remote.Project, gitstore.RecordRef(id))})
	}
	if len(refs) == 0 {
		return f.noteRemote()
	}
	return f.bring(ctx, wanted, refs)
}

// addAgain is what to type to have one of these projects of a remote instead.
func addAgain(r savedRemote, projects []string) string {
	options, which := "", "NAME, with one of these"
	if r.NoSessions {
		options = " --no-sessions"
	}
	if len(projects) == 1 {
		which = home.ShellQuote(projects[0])
	}
	return "umbra remote rm " + r.Name + " && umbra remote add " + r.Name + " " + home.ShellQuote(transfer.WithoutPassword(r.URL)) + options + " --project " + which
}

// isOwn reports whether this home has all that a remote has of a mission, or has pruned it.
func (f *fetching) isOwn(id string, m theirMission) bool {
	own, err := f.LoadMission(f.project, id)
	if err != nil || own.CheckMachine() != nil {
		return false
	}
	if link, is := f.remote.Links[id]; is && link.Has(m.agent, m.record) {
		return true
	}
	if _, sending := f.remote.Sending[id]; f.remote.NoSessions && sending {
		return true // a push was cut off: what is there is an excerpt of what is here
	}
	is, err := isBehind(f.project.Store, m.agent, own.Tip.ID)
	if err == nil && !is {
		is, err = f.saved.hasPruned(f.project.Store, id, m.agent, own.Tip.ID)
	}
	return err == nil && is
}

// has reports whether just that was fetched before.
func (f *fetching) has(id string, m theirMission) bool {
	agent, noAgent := f.project.Store.Ref(gitstore.FetchedAgentRef(f.remote.Name, id))
	record, noRecord := f.project.Store.Ref(gitstore.FetchedRecordRef(f.remote.Name, id))
	return noAgent == nil && noRecord == nil && agent == m.agent && record == m.record
}

// listSame adds a mission that is here already to the result. One that can't be read keeps no
// other from coming.
func (f *fetching) listSame(id string, m theirMission) {
	one := missions.TransferMission{Mission: f.remote.Name + "/" + id[:8], ID: id, State: missions.TransferSame}
	if read, err := f.project.ReadForeignMission(f.remote.Name, id, m.agent, m.record); err == nil {
		one.Mission = read.Name
	} else {
		one.State = missions.TransferRejected
		one.Reason = err.Error() + "; umbra remote rm " + f.remote.Name + ", then add it and fetch again, brings it anew"
	}
	f.result.Missions = append(f.result.Missions, one)
}

// bring has git fetch into a place of its own, and takes over what is good. What the remote
// has named otherwise meanwhile is taken as git has found it.
func (f *fetching) bring(ctx context.Context, wanted map[string]theirMission, refs []transfer.Ref) error {
	missions.Notify(ctx, missions.Notice{Text: "fetching from " + f.remote.Name})
	area, err := transfer.Open(f.project.Store)
	if err != nil {
		return err
	}
	defer area.Remove()
	whole, err := f.bringsLost(wanted)
	if err != nil {
		return err
	}
	got, err := f.bringInto(ctx, area, wanted, refs, whole)
	if err != nil {
		return err
	}
	if err := errors.Join(f.noteRemote(), f.noteBefore(wanted)); err != nil {
		return err
	}
	if _, _, err := area.Adopt(ctx); err != nil {
		return err
	}
	if err := errors.Join(f.project.Store.Regained(ctx), upkeep.ForgetFound(ctx, f.project.Store)); err != nil {
		return err
	}
	var known []gitstore.ID
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if known, err = f.publish(ctx, id, got[id], known); err != nil {
			return err
		}
	}
	return nil
}

// bringInto has git fetch into an area, and says what it has found there.
func (f *fetching) bringInto(ctx context.Context, area *transfer.Area, wanted map[string]theirMission, refs []transfer.Ref, whole bool) (map[string]theirMission, error) {
	if f.sealed != nil {
		return wanted, f.unsealInto(ctx, area, whole, whole)
	}
	if err := area.Fetch(ctx, f.at, refs, whole); err != nil {
		return nil, remoteError(f.remote, err)
	}
	brought, err := area.Refs(ctx)
	if err != nil {
		return nil, err
	}
	got := theirs{missions: map[string]theirMission{}}
	got.sort(brought, f.remote.Project)
	return got.missions, nil
}

// bringsLost reports whether what comes may have been lost here. Git takes what leads to a lost
// object for a sign that it is there, and leaves it out. A mission of which something was fetched
// before is not brought whole each time: doctor says to forget its remote first.
func (f *fetching) bringsLost(wanted map[string]theirMission) (bool, error) {
	known, err := upkeep.KnownLost(f.project.Store)
	if err != nil {
		return false, err
	}
	if hasLost, err := transfer.HasLost(f.project.Store); err != nil || !hasLost && len(known) == 0 {
		return false, err
	}
	for id := range wanted {
		if _, err := f.project.Store.Ref(gitstore.FetchedAgentRef(f.remote.Name, id)); errors.Is(err, gitstore.ErrRefNotFound) {
			return true, nil
		}
	}
	return false, nil
}

// noteBefore notes that missions are of another home before their snapshots are here, which
// stay where the fetch is cut off or refuses them. What this home has a ref of is its own.
func (f *fetching) noteBefore(wanted map[string]theirMission) error {
	theirs := map[string]bool{}
	for id := range wanted {
		if _, err := f.project.Store.Ref(gitstore.AgentRef(id)); errors.Is(err, gitstore.ErrRefNotFound) {
			theirs[id] = true
		} else if err != nil {
			return err
		}
	}
	return f.project.NoteFetched(theirs)
}

// publish moves the refs of a mission that was fetched: the records first, since the
// snapshots are what says that the mission is there.
func (f *fetching) publish(ctx context.Context, id string, m theirMission, known []gitstore.ID) ([]gitstore.ID, error) {
	one := missions.TransferMission{ID: id, Mission: f.remote.Name + "/" + id[:8], State: missions.TransferNew}
	defer func() { f.result.Missions = append(f.result.Missions, one) }()
	s := f.project.Store
	read, err := f.project.ReadForeignMission(f.remote.Name, id, m.agent, m.record)
	if err == nil {
		err = checkHistory(read)
	}
	if err != nil {
		one.State, one.Reason = missions.TransferRejected, err.Error()
		return known, nil
	}
	one.Mission = read.Name
	agent, record := gitstore.FetchedAgentRef(f.remote.Name, id), gitstore.FetchedRecordRef(f.remote.Name, id)
	old := map[gitstore.RefName]gitstore.ID{}
	for name, next := range map[gitstore.RefName]gitstore.ID{agent: m.agent, record: m.record} {
		have, err := s.Ref(name)
		if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return known, err
		}
		forward, err := isBehind(s, have, next)
		if err != nil {
			return known, err
		}
		if !forward {
			one.State = missions.TransferDiverged
			one.Reason = "what was fetched before is no longer there, and stays here: umbra remote rm " + f.remote.Name + " forgets it"
			return known, nil
		}
		if !have.IsZero() {
			one.State = missions.TransferUpdated
		}
		old[name] = have
	}
	if one.Objects, one.Bytes, known, err = f.count(ctx, m, old, known); err != nil {
		return known, err
	}
	if err := s.UpdateRef(ctx, record, old[record], m.record, gitstore.Durable); err != nil {
		return known, err
	}
	return known, s.UpdateRef(ctx, agent, old[agent], m.agent, gitstore.Durable)
}

// checkHistory proves that the records of a mission belong to its snapshots: that of the
// newest is among them.
func checkHistory(m *projects.Mission) error {
	is, err := m.Project.Store.IsAncestor(m.Tip.Record, m.Record)
	if err == nil && !is {
		err = missions.Errorf(missions.KindDamaged, "", "the record of its newest snapshot is not among its records: a push of it may be under way")
	}
	return err
}

// count counts what is new of a mission, beside what was fetched before and the missions
// that were counted already, and notes which missions its snapshots are of.
func (f *fetching) count(
	ctx context.Context, m theirMission, old map[gitstore.RefName]gitstore.ID, known []gitstore.ID,
) (objects int, bytes int64, all []gitstore.ID, err error) {
	before := slices.Clone(known)
	for _, id := range old {
		if !id.IsZero() {
			before = append(before, id)
		}
	}
	for _, kind := range []gitstore.RefKind{gitstore.RefAgent, gitstore.RefRecord} {
		list, err := f.project.Store.Refs(kind)
		if err != nil {
			return 0, 0, known, err
		}
		for _, ref := range list.Refs {
			before = append(before, ref.ID)
		}
	}
	tips, of := []gitstore.ID{m.agent, m.record}, map[string]bool{}
	err = transfer.EachNew(ctx, f.project.Store.Dir(), tips, before, func(o transfer.Object) error {
		size, err := transfer.Size(f.project.Store, o.ID)
		objects, bytes = objects+1, bytes+size
		if o.ID == o.Commit && err == nil {
			if s, err := f.project.Store.Snapshot(o.ID); err == nil {
				of[s.Mission] = true
			}
		}
		return err
	})
	if err == nil {
		err = f.project.NoteFetched(of)
	}
	return objects, bytes, append(known, tips...), err
}
