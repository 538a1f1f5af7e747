package forks

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// forkMessage forks the moment of a message in an agent's own session.
func (f *Forker) forkMessage(ctx context.Context, r missions.ForkRequest) (missions.ForkResult, error) {
	at, session, err := f.messageMoment(ctx, r)
	if err != nil {
		return missions.ForkResult{}, err
	}
	result, err := f.forkMoment(ctx, forkPoint{ResolvedMoment: at.ResolvedMoment, plan: at.Plan}, r)
	if err == nil && at.IsOld {
		result.Notes = append(result.Notes, fmt.Sprintf("the message is older than what Umbra knows of %s: the files are those of %s",
			session, at.Snapshot.At.Local().Format(time.DateTime)))
	}
	return result, err
}

// messageMoment finds the moment of a message. One that is in no snapshot yet gets one.
func (f *Forker) messageMoment(ctx context.Context, r missions.ForkRequest) (at *conversations.MessageMoment, session string, err error) {
	owners, session, err := f.sessionOwners(r)
	if err != nil {
		return nil, session, err
	}
	in := conversations.Messages{Library: f.conversations}
	for _, m := range owners {
		if at, err := in.Find(m, session, r.Message); at != nil || err != nil {
			return at, session, err
		}
	}
	for _, m := range owners {
		if m.Stored.Session != session || !in.FileHas(m, r.Message) {
			continue
		}
		now, err := f.takeSourceSnapshot(ctx, m, false)
		if err != nil {
			return nil, session, err
		}
		if at, err := in.Find(now.Mission, session, r.Message); at != nil || err != nil {
			return at, session, err
		}
	}
	if _, ok := f.Adapter(owners[0].Agent).(sessions.Addressed); !ok {
		return nil, session, missions.Errorf(missions.KindNotFound, "umbra log "+owners[0].Name+", then umbra fork "+owners[0].Name+"@TURN",
			"Umbra knows no ids of messages of %s", owners[0].AgentName())
	}
	return nil, session, missions.Errorf(missions.KindNotFound, "give the id that the message has in the file, or umbra fork "+owners[0].Name+"@TURN",
		"session %s of %s has no message %q", session, owners[0].Name, r.Message)
}

// sessionOwners are the missions that have, or had, a session, which is named by its file
// or its id: those that are in it now come first.
func (f *Forker) sessionOwners(r missions.ForkRequest) (owners []*projects.Mission, session string, err error) {
	file := r.Session
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Caller.Cwd, file)
	}
	ids := map[string]string{} // by agents
	for _, a := range f.Adapters {
		s, err := a.Open(file)
		if !projects.IsForeignAdapter(a) && err == nil && s.ID != "" {
			ids[a.Name()] = s.ID
		}
	}
	var removed *projects.Mission
	all, _ := f.AllProjects()
	for _, p := range all {
		list, _ := f.ProjectMissions(p)
		gone, _ := f.RemovedMissionsIn(p)
		for _, m := range slices.Concat(list, gone) {
			id := sessionNamed(m, ids, file)
			switch {
			case id == "":
			case m.InTrash:
				removed = m
			case m.Stored.Session == id:
				owners, session = slices.Insert(owners, 0, m), id
			default:
				owners, session = append(owners, m), id
			}
		}
	}
	switch {
	case len(owners) > 0:
		return owners, session, nil
	case removed != nil:
		return nil, "", projects.InTrashError(removed)
	}
	for _, a := range f.Adapters {
		if id := ids[a.Name()]; id != "" {
			return nil, id, missions.Errorf(missions.KindNotFound,
				"umbra import agents --agent "+a.Name()+" keeps it, with the files as they are now; then again",
				"session %s of %s is no mission's: no files of its moments are kept", id, a.Name())
		}
	}
	return nil, "", missions.Errorf(missions.KindNotFound, "give an agent's own session file, or the id of its session", "%s is no session that is known", r.Session)
}

// sessionNamed is the session of a mission that a file is of, "" if it is of none: as the
// file says, or where it is gone, as its name does.
func sessionNamed(m *projects.Mission, ids map[string]string, file string) string {
	for _, id := range append([]string{m.Stored.Session}, m.FormerSessions...) {
		if id != "" && (ids[m.Agent] == id || len(ids) == 0 && strings.Contains(filepath.Base(file), id)) {
			return id
		}
	}
	return ""
}
