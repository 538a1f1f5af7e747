package bisect

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/checks"
)

// try runs the command on a state, in a workspace that is made for it.
func (b *bisector) try(p point) (check missions.Check, last string, err error) {
	m, err := b.makeScratch(p)
	if err != nil {
		return check, "", err
	}
	output := b.home.CheckOutputFile(m.ID)
	check, err = b.runCheck(m, output)
	last = checks.LastLine(output)
	b.removeScratch(m.ID, false)
	if err == nil {
		err = b.c.Context.Err() // a command that was ended says nothing
	}
	return check, last, err
}

// runningName is what says that commands of a mission's search run.
func (b *bisector) runningName() string { return missions.SearchCheck(b.mission.ID) }

func (b *bisector) runCheck(m missions.Mission, output string) (check missions.Check, err error) {
	running, err := checks.Begin(b.c.Context, b.home, b.runningName())
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, running.End()) }()
	return checks.Command{
		Line: b.line, Workspace: m.Workspace, Output: output, Limit: b.limit, Environ: b.c.Environ(), More: []string{"UMBRA_MISSION=" + m.ID},
		Running: running,
	}.Run(b.c.Context)
}

// mostOfName is how much of a mission's name that of a workspace has, which may have 63 characters.
const mostOfName = 42

// makeScratch makes a workspace as the mission's was. Its name is noted before it is there,
// so that it goes even if this process is killed.
func (b *bisector) makeScratch(p point) (m missions.Mission, err error) {
	b.forking.Lock()
	defer b.forking.Unlock()
	if err := b.c.Context.Err(); err != nil {
		return m, err
	}
	name := b.mission.Name[:min(len(b.mission.Name), mostOfName)] + "-bisect-" + p.entry.ID[:12]
	if err := b.journal.add(event{Scratch: name}); err != nil {
		return m, err
	}
	// Another command than the agent's: the files alone are forked, and no conversation.
	made, err := b.svc.Fork(b.c.Context, missions.ForkRequest{
		Caller: b.caller, From: p.entry.ID, Name: name, Command: []string{"true"}, NoWait: true, Yes: true,
		Scratch: b.mission.ID,
	})
	if err != nil {
		return m, err
	}
	m = made.Missions[0]
	return m, b.journal.add(event{Scratch: m.ID}) // by which it is found from any project
}

// removeScratch removes a workspace, by its name or id, for good, whatever the command left in
// it. left is as in RemoveRequest. A mission that is no workspace of a search, or no more, stays.
func (b *bisector) removeScratch(name string, left bool) {
	b.forking.Lock()
	defer b.forking.Unlock()
	ctx := context.WithoutCancel(b.c.Context)
	removed, err := b.svc.Remove(ctx, missions.RemoveRequest{Caller: b.caller, Missions: []string{name}, Scratch: true, Left: left})
	for _, m := range removed.Missions {
		_ = os.Remove(b.home.CheckOutputFile(m.ID)) // what the last line was is said already
	}
	if err != nil && missions.AsError(err).Kind != missions.KindNotFound {
		b.say("note: a workspace of the search stays: %s; %s", missions.AsError(err).Message, cmp.Or(missions.AsError(err).Hint, "umbra doctor --fix"))
	}
}
