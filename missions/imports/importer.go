// Package imports makes closed missions of the sessions that lie in the agents' own
// stores, before the agents delete them. It reads the stores and changes nothing there.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// Importer imports sessions.
type Importer struct {
	*projects.Desk
	agents    *agents.Launcher
	snapshots *snapshots.Taker
}

// New makes an Importer.
func New(d *projects.Desk, a *agents.Launcher, s *snapshots.Taker) *Importer {
	return &Importer{Desk: d, agents: a, snapshots: s}
}

// Import makes missions of the sessions that have none, oldest first: these are deleted
// first. A session that can't be imported is listed with the reason, and the next one is
// gone on with. Cut off at any point, what is imported is whole, and asked again it goes on.
// What was asked for so is done daily from then on.
func (im *Importer) Import(ctx context.Context, r missions.ImportRequest) (missions.ImportResult, error) {
	begun := im.Now()
	result, err := im.importSessions(ctx, r, time.Time{})
	if err != nil || r.Preview {
		return result, err
	}
	if err := im.remember(ctx, r, begun, result); err != nil { // what is imported is imported
		im.Logger.Warn("remember to import daily", "error", err)
		return result, nil
	}
	result.Daily = im.isWanted()
	return result, nil
}

// importSessions imports; until leaves out what was written last after it, zero nothing.
func (im *Importer) importSessions(ctx context.Context, r missions.ImportRequest, until time.Time) (missions.ImportResult, error) {
	result := missions.ImportResult{Preview: r.Preview, Sessions: []missions.ImportedSession{}}
	found, err := im.findSessions(r, until)
	if err != nil {
		return result, err
	}
	owners := im.sessionOwners()
	refusals := map[string]error{} // by workspace
	for i, f := range found {
		if err := ctx.Err(); err != nil {
			return result, fmt.Errorf("import: %w", err)
		}
		missions.Notify(ctx, missions.Notice{Text: "importing sessions", Done: int64(i), Total: int64(len(found)), Unit: "sessions"})
		if owner, owned := owners[f.key()]; owned {
			if !im.hasGrown(owner, f) {
				result.Kept++
				continue
			}
			result.Sessions = append(result.Sessions, im.goOnWith(ctx, r, owner, f))
			continue
		}
		one, err := im.importSession(ctx, r, f, refusals)
		if errors.Is(err, errNothingSaid) {
			continue
		}
		if err != nil && (ctx.Err() != nil || im.Space.CheckRoom() != nil || errors.Is(err, projects.ErrClosing)) {
			return result, err // the next ones would fail alike
		}
		if err != nil {
			leaveOut(&one, err)
		}
		result.Sessions = append(result.Sessions, one)
	}
	return result, nil
}

// leaveOut says that a session is left out, why, and what to do about it.
func leaveOut(one *missions.ImportedSession, err error) {
	why := missions.AsError(err)
	one.Outcome, one.Reason, one.Hint = missions.ImportLeftOut, why.Message, why.Hint
}

// importSession makes a mission of a session.
func (im *Importer) importSession(ctx context.Context, r missions.ImportRequest, f found, refusals map[string]error) (missions.ImportedSession, error) {
	one := f.describe()
	prompt, err := f.firstPrompt()
	if err != nil {
		return one, err
	}
	one.Prompt = listedPrompt(projects.RedactText(prompt))
	if f.Cwd == "" {
		return one, errors.New("its file does not say where its agent worked")
	}
	all, _ := im.AllProjects()
	plan, err := im.PlanAdoption(all, f.adapter, r.Caller, f.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return one, missions.Errorf(missions.KindNotFound, "mount its disk; or, if it is gone for good, mkdir -p "+home.ShellQuote(f.Cwd)+", empty or with its files; then umbra import",
			"the directory where its agent worked is gone: %w", err)
	}
	if err != nil {
		return one, fmt.Errorf("the directory where its agent worked can't be used: %w", err)
	}
	one.Directory = plan.Directory.Dir
	if !im.CurrentConfig().Adopt.Adopts(plan.Directory.Dir) {
		return one, errors.New("adopt.include and adopt.exclude of the configuration leave its directory out")
	}
	if err := refusals[plan.Workspace]; err != nil {
		return one, err
	}
	if err := im.agents.CheckRoot(plan.Workspace, plan.Env.Home, false); err != nil {
		return one, err
	}
	if registry, ok := f.adapter.(sessions.Registering); ok {
		if pid, isOpen := registry.Live(plan.Env, f.ID); isOpen {
			return one, fmt.Errorf("it is open in an agent (process %d); import it when that has ended", pid)
		}
	}
	one.Outcome = missions.ImportNew
	if r.Preview {
		return one, nil
	}
	plan.Name, plan.Lifecycle = projects.NameFromPrompt(prompt), missions.Closed{Reason: missions.CloseReasonImported}
	m, err := im.agents.CreateMission(ctx, plan)
	if agents.IsRefusal(err) {
		refusals[plan.Workspace] = err // a walk over the whole directory finds that out
	}
	if err == nil && m.Live.ProvisionalSnapshot != "" {
		err = errors.New("an agent without a terminal works in it, or was killed before it changed a file: umbra doctor --fix, then import again")
	}
	if err != nil {
		return one, err
	}
	one.Mission = m.Name
	return one, nil
}

// goOnWith takes in what was said in a session since its mission was closed.
func (im *Importer) goOnWith(ctx context.Context, r missions.ImportRequest, m *projects.Mission, f found) missions.ImportedSession {
	one := f.describe()
	one.Outcome, one.Mission = missions.ImportContinued, m.Name
	if m.LastPrompt != nil {
		one.Prompt = listedPrompt(m.LastPrompt.Text)
	}
	if r.Preview {
		return one
	}
	answer, err := im.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: &missions.TakeSnapshot{
		Trigger: missions.TriggerManual, Message: "the conversation has gone on", OnlyIfChanged: true, CompareWholeSession: true,
	}})
	if err != nil {
		leaveOut(&one, err)
	} else if answer.Mission != nil && answer.Mission.LastPrompt != nil {
		one.Prompt = listedPrompt(answer.Mission.LastPrompt.Text)
	}
	return one
}

// hasGrown reports whether a mission's session has more in its file than is recorded, and
// no agent of Umbra's or hook that would record it.
func (im *Importer) hasGrown(m *projects.Mission, f found) bool {
	if _, closed := m.Lifecycle.(missions.Closed); !closed || m.InTrash || m.Stored.Session != f.ID || m.CheckMachine() != nil || m.IsWorkspaceGone() {
		return false
	}
	return im.recordedLength(m) != f.Size
}

// sessionOwners are the missions that have, or had, each session, be they in the trash.
func (im *Importer) sessionOwners() map[sessionKey]*projects.Mission {
	owners := map[sessionKey]*projects.Mission{}
	all, _ := im.AllProjects()
	for _, p := range all {
		list, _ := im.ProjectMissions(p)
		removed, _ := im.RemovedMissionsIn(p)
		for _, m := range slices.Concat(list, removed) {
			for _, id := range append(slices.Clone(m.FormerSessions), m.Stored.Session) {
				key := sessionKey{m.Agent, id}
				if before := owners[key]; before == nil || m.Stored.Session == id && !m.InTrash {
					owners[key] = m
				}
			}
		}
	}
	return owners
}
