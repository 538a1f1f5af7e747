package events

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
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
	event := InterpretLook(l.lookAt(m, saw))
	if event == nil {
		return nil
	}
	// A prompt may come first: what was quiet between turns ends none.
	still := func(m *projects.Mission) (bool, error) { return InterpretLook(l.lookAt(m, saw)) == event, nil }
	_, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: event, Prepare: still})
	return err
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
	Waiting   bool               // an agent has asked its user: for some agents only a look shows the answer
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
		ws.Identity = m.Binding.Identity.FileIdentity
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

// TellIgnoreRules tells the watcher what is ignored in the workspace of a live mission, if
// no capture has told it yet.
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

// Sweep removes what killed processes have left in the projects' repositories, and in those
// of agents' configurations. It takes long, and belongs into the background.
func (l *Listener) Sweep(ctx context.Context) error {
	all, _ := l.AllProjects()
	var errs []error
	for _, p := range all {
		if _, err := upkeep.Sweep(ctx, p.Store); err != nil {
			errs = append(errs, fmt.Errorf("project %s: %w", p.Name, err))
		}
	}
	errs = append(errs, l.agents.SweepConfigStores(ctx))
	return errors.Join(errs...)
}

// ObserveWorkingAgents is Observe of SawQuiet, only for the agents that worked at the last
// look.
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

// ObserveWokenAgents is Observe of SawChange, for the agents in a workspace that waited for
// their users at the last call and have worked since, although no file has changed.
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

// VerifyWorkspace walks over a workspace although a watcher reports its changes, and takes a
// snapshot if the watcher has missed one. While a mission there is in a turn, the next
// snapshot walks instead. It is for the process that watches; why is for people.
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

// lookAfterTurns finds which agents in a workspace continue after the end of their turns, or
// after a question, and does what has waited for the other agents to rest.
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
