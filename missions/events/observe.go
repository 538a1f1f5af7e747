package events

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// Observe takes what a watcher saw in the workspace at root, for each live
// mission that works there. It is for the process that watches; an error is one
// of taking a snapshot.
func (l *Listener) Observe(ctx context.Context, root string, saw missions.Observation) error {
	for _, m := range l.LiveMissionsIn(root) {
		if err := l.ObserveMission(ctx, m, saw); err != nil {
			return err
		}
	}
	if saw != missions.SawQuiet {
		return nil
	}
	return errors.Join(l.lookAfterTurns(ctx, root), l.presence.CompareSessionFiles(ctx, root))
}

// ObserveMission is Observe for one mission as it was a moment ago.
func (l *Listener) ObserveMission(ctx context.Context, m *projects.Mission, saw missions.Observation) error {
	saw = l.presence.PauseIfWorking(m, saw)
	event, ok := l.interpretObservation(m, saw)
	if !ok {
		return nil
	}
	// A prompt may come first: what was quiet between turns ends none.
	still := func(m *projects.Mission) (bool, error) {
		now, ok := l.interpretObservation(m, saw)
		return ok && now == event, nil
	}
	_, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: event, Prepare: still})
	return err
}

// interpretObservation turns an observation into what it means for a mission. An agent
// with hooks says itself when its turn ends, but not on Esc, an API error or a
// kill: there the transcript tells, once all is quiet and the agent does not say itself
// that it works.
func (l *Listener) interpretObservation(m *projects.Mission, saw missions.Observation) (missions.Event, bool) {
	hooked := m.Live.HasHooks && l.Adapter(m.Agent) != nil
	switch {
	case saw == missions.SawChange:
		return missions.FilesChanged{}, !hooked
	case saw == missions.SawPause:
		return missions.PausedWhileWorking{}, true
	case !hooked:
		return missions.BecameQuiet{}, true
	case !missions.InTurn(m.Lifecycle):
		return missions.BecameQuiet{}, true // a change by somebody else between turns
	}
	says := l.presence.AgentAttention(m)
	if !l.presence.TrustsBusy(m, says) {
		shown := l.shownEnding(m)
		switch shown.state {
		case sessions.StateInterrupted:
			return missions.TurnStopped{}, true
		case sessions.StateError:
			return shown.failedEvent(), true
		}
		if !says.Idle.IsZero() && l.IsSinceTurnBegan(m, says.Idle) {
			return unattendedTurnEnd(m, shown), true
		}
		if over, _ := l.presence.TurnOverWithoutHook(m, says); over {
			return missions.TurnEnded{}, true
		}
	}
	return l.questionEvent(m, says)
}

// unattendedTurnEnd is what it means that the agent waits for its user in its turn. Stopped
// before it has answered anything, Claude Code takes the prompt back and writes nothing
// of that; what goes on after a turn's end may come to nothing, and a hook be lost that
// was to tell of the end.
func unattendedTurnEnd(m *projects.Mission, shown turnEnding) missions.Event {
	if r, _ := m.Lifecycle.(missions.Running); r.Continued || r.Background || shown.state == sessions.StateIdle {
		return missions.TurnEnded{}
	}
	return missions.TurnStopped{}
}

// shownEnding is what the session file shows of the mission's turn that runs, and empty
// where it shows nothing of that.
func (l *Listener) shownEnding(m *projects.Mission) turnEnding {
	said, ok := l.conversations.NewestSessionTurn(m)
	if !ok || !l.presence.IsOfRunningTurn(m, said.Turn, said.ModTime) || said.State == sessions.StateRunning {
		return turnEnding{state: sessions.StateEmpty}
	}
	return turnEnding{said.State, said.Turn.Refusal}
}

// followedFiles are the files in which a mission's agent is followed.
func (l *Listener) followedFiles(m *projects.Mission) (files []string) {
	if m.Binding.SessionPath != "" {
		files = append(files, m.Binding.SessionPath)
	}
	if file := l.presence.AgentAttention(m).File; file != "" {
		files = append(files, file)
	}
	return files
}

// CloseLostMissions closes the missions whose agent is gone without a word. It is called
// from time to time by the process that watches.
func (l *Listener) CloseLostMissions(ctx context.Context) error {
	var errs []error
	for _, m := range l.LiveMissions() {
		if l.presence.IsAgentGone(m) {
			errs = append(errs, l.presence.CloseLostMission(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// LiveWorkspace is a workspace in which an agent works now.
type LiveWorkspace struct {
	Identity  home.FileIdentity
	Missions  []string           // ids
	InTurn    []string           // of these, the ones in a turn
	Waiting   bool               // an agent has asked its user: of some only a look tells of the answer
	Sessions  []string           // paths of their session files, and of what their agents say of themselves
	Processes []projects.Process // of all of them, as far as they are known
}

// LiveWorkspaces are the workspaces in which an agent works now, by their
// paths: what is worth watching.
func (l *Listener) LiveWorkspaces() map[string]LiveWorkspace {
	found := map[string]LiveWorkspace{}
	for _, m := range l.LiveMissions() {
		if m.Binding.Workspace == "" || l.presence.IsAgentGone(m) {
			continue
		}
		ws := found[m.Binding.Workspace]
		ws.Identity = m.Binding.Identity
		ws.Missions = append(ws.Missions, m.ID)
		ws.Processes = append(ws.Processes, m.Live.LivingProcesses()...)
		if h := m.Live.Handover; l.IsHandoverOwned(h) && h.Owner != l.Self {
			ws.Processes = append(ws.Processes, h.Owner) // what it does not end is taken up
		}
		if missions.InTurn(m.Lifecycle) {
			ws.InTurn = append(ws.InTurn, m.ID)
			ws.Waiting = ws.Waiting || missions.StateOf(m.Lifecycle) == missions.StateWaiting
		}
		ws.Sessions = append(ws.Sessions, l.followedFiles(m)...)
		found[m.Binding.Workspace] = ws
	}
	return found
}

// TellIgnoreRules tells the one that watches what is ignored in the workspace of a
// live mission, for which no capture has told it yet.
func (l *Listener) TellIgnoreRules(ctx context.Context, root string) error {
	list := l.LiveMissionsIn(root)
	if l.Watching == nil || len(list) == 0 {
		return nil
	}
	return l.WithWorkspaceLock(ctx, list[0], func(m *projects.Mission) error {
		ws, err := l.snapshots.RefreshWorkspace(ctx, m)
		if err != nil {
			return err
		}
		ws.TellRules()
		return nil
	})
}

// Sweep removes from the projects' repositories, and from those of agents'
// configurations, what processes that were killed left there. It takes its time: it belongs into the background.
func (l *Listener) Sweep(ctx context.Context) error {
	all, _ := l.AllProjects()
	var errs []error
	for _, p := range all {
		if _, err := p.Store.Sweep(ctx); err != nil {
			errs = append(errs, fmt.Errorf("project %s: %w", p.Name, err))
		}
	}
	errs = append(errs, l.agents.SweepConfigStores(ctx))
	return errors.Join(errs...)
}

// ObserveWorkingAgents is Observe of SawQuiet for the agents that were at work at the last
// look, and for no other.
func (l *Listener) ObserveWorkingAgents(ctx context.Context, root string) error {
	if err := l.lookAfterTurns(ctx, root); err != nil {
		return err
	}
	for _, m := range l.LiveMissionsIn(root) {
		if !l.presence.NeedsLook(m) {
			continue
		}
		if err := l.ObserveMission(ctx, m, missions.SawQuiet); err != nil {
			return err
		}
	}
	return nil
}

// ObserveWokenAgents is Observe of SawChange for the agents in a workspace that waited for
// their users and have been at work since it was last called, though nothing has
// changed there.
func (l *Listener) ObserveWokenAgents(ctx context.Context, root string) error {
	if err := l.lookAfterTurns(ctx, root); err != nil {
		return err
	}
	for _, m := range l.LiveMissionsIn(root) {
		now := l.Now()
		if missions.InTurn(m.Lifecycle) || !l.presence.ReportsNothing(m) || presence.IsRecent(now, l.presence.ProcessLooks.LastLook(m.ID).At, presence.MinLookInterval) {
			continue
		}
		this, before, ok := l.presence.ProcessLooks.LookAt(m, now)
		if !ok || this.CpuShare(before) < presence.MinWorkShare {
			continue
		}
		if err := l.ObserveMission(ctx, m, missions.SawChange); err != nil {
			return err
		}
	}
	return nil
}

// VerifyWorkspace walks over a workspace although its watcher says what has changed, and
// takes a snapshot if that was not all. While a mission there is in a turn the
// next snapshot walks. It is for the process that watches; why is for people.
func (l *Listener) VerifyWorkspace(ctx context.Context, root, why string) error {
	live := l.LiveMissionsIn(root)
	if len(live) == 0 {
		return nil
	}
	l.snapshots.RequestWalk(root, why)
	if slices.ContainsFunc(live, func(m *projects.Mission) bool { return missions.InTurn(m.Lifecycle) }) {
		return nil
	}
	defer l.snapshots.TakeWalkReason(root) // if nothing was captured after all
	return l.Observe(ctx, root, missions.SawQuiet)
}

// lookAfterTurns finds out, of the missions in a workspace, which agents go on after
// their turns' end, or after a question, and does what has waited for the others to come
// to rest.
func (l *Listener) lookAfterTurns(ctx context.Context, root string) error {
	for _, m := range l.LiveMissionsIn(root) {
		if err := errors.Join(l.presence.ContinueTurnIfWorking(ctx, m), l.noteAnsweredQuestion(ctx, m)); err != nil {
			return err
		}
		if l.handovers.HasUnattendedAction(m) {
			l.presence.WarnLookFailed(m, l.handovers.ResumeHandover(ctx, m)) // a busy workspace is looked at again
		}
	}
	return nil
}
