package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// Observation is what a watcher saw in a workspace.
type Observation string

// The observations.
const (
	// SawChange is a change of a file in the workspace.
	SawChange Observation = "change"
	// SawQuiet is a workspace and session file without change for the settle
	// period, or a writer that never pauses for the maximum wait.
	SawQuiet Observation = "quiet"
	// sawPause is SawQuiet of an agent that is seen to be at work.
	sawPause Observation = "pause"
)

// Observe takes what a watcher saw in the workspace at root, for each live
// mission that works there. It is for the process that watches; an error is one
// of taking a snapshot.
func (l *Local) Observe(ctx context.Context, root string, saw Observation) error {
	for _, m := range l.liveIn(root) {
		if err := l.observed(ctx, m, saw); err != nil {
			return err
		}
	}
	if saw != SawQuiet {
		return nil
	}
	return errors.Join(l.lookAfterTurns(ctx, root), l.compareTalks(ctx, root))
}

// observed is Observe for one mission as it was a moment ago.
func (l *Local) observed(ctx context.Context, m *loaded, saw Observation) error {
	saw = l.paused(m, saw)
	event, ok := l.interpret(m, saw)
	if !ok {
		return nil
	}
	// A prompt may come first: what was quiet between turns ends none.
	still := func(m *loaded) (bool, error) {
		now, ok := l.interpret(m, saw)
		return ok && now == event, nil
	}
	_, err := l.submit(ctx, m.project, m.ID, &request{event: event, heard: still})
	return err
}

// liveIn lists the missions with an agent in a workspace.
func (l *Local) liveIn(root string) []*loaded {
	return slices.DeleteFunc(l.liveMissions(), func(m *loaded) bool { return m.bind.Workspace != root })
}

// liveMissions lists the missions with an agent, which are not to be changed.
// Only those with a state in the journal can have one, and only what has changed
// since the last time is read.
func (l *Local) liveMissions() []*loaded {
	ids, err := l.journal.LiveMissions()
	if err != nil {
		l.log.Warn("list live missions", "error", err)
		return nil
	}
	var list []*loaded
	for _, id := range ids {
		if m := l.glance(id); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// mayLive reports whether a mission's state in the journal has an agent.
func (l *Local) mayLive(id string) bool {
	raw, err := l.journal.Live(id)
	var state live
	if err != nil || json.Unmarshal(raw, &state) != nil || state.Lifecycle == nil {
		return true // the record says it
	}
	life, err := unmarshalLifecycle(state.Lifecycle)
	return err != nil || HasAgent(life)
}

// interpret turns an observation into what it means for a mission. An agent
// with hooks says itself when its turn ends, but not on Esc, an API error or a
// kill: there the transcript tells, once all is quiet and the agent does not say itself
// that it works.
func (l *Local) interpret(m *loaded, saw Observation) (Event, bool) {
	hooked := m.live.Hooked && l.adapter(m.Agent) != nil
	switch {
	case saw == SawChange:
		return Stirred{}, !hooked
	case saw == sawPause:
		return Settled{}, true
	case !hooked:
		return Quieted{}, true
	case !InTurn(m.life):
		return Quieted{}, true // a change by somebody else between turns
	}
	says := l.attention(m)
	if !l.trusts(m, says) {
		shown := l.shown(m)
		switch shown.state {
		case sessions.StateInterrupted:
			return TurnStopped{}, true
		case sessions.StateError:
			return shown.failed(), true
		}
		if !says.Idle.IsZero() && l.sinceBegun(m, says.Idle) {
			return m.unattended(shown), true
		}
		if over, _ := l.overUnheard(m, says); over {
			return TurnEnded{}, true
		}
	}
	return l.question(m, says)
}

// unattended is what it means that the agent waits for its user in its turn. Stopped
// before it has answered anything, Claude Code takes the prompt back and writes nothing
// of that; what goes on after a turn's end may come to nothing, and a hook be lost that
// was to tell of the end.
func (m *loaded) unattended(shown ending) Event {
	if r, _ := m.life.(Running); r.Again || r.Background || shown.state == sessions.StateIdle {
		return TurnEnded{}
	}
	return TurnStopped{}
}

// shown is what the session file shows of the mission's turn that runs, and empty
// where it shows nothing of that.
func (l *Local) shown(m *loaded) ending {
	said, ok := l.shownTurn(m)
	if !ok || !l.runs(m, said.turn, said.written) || said.state == sessions.StateRunning {
		return ending{state: sessions.StateEmpty}
	}
	return ending{said.state, said.turn.Refusal}
}

// told are the files in which a mission's agent is followed.
func (l *Local) told(m *loaded) (files []string) {
	if m.bind.Session != "" {
		files = append(files, m.bind.Session)
	}
	if file := l.attention(m).File; file != "" {
		files = append(files, file)
	}
	return files
}

// runs reports whether a session file that was written to at that time, and its
// newest turn, tell of the turn that runs. That may not be written yet, and the one
// before it have been stopped too: what was said since the prompt counts or, where the
// agent does not tell its prompts' ids, what was written since.
func (l *Local) runs(m *loaded, turn sessions.Turn, written time.Time) bool {
	r, _ := m.life.(Running)
	switch {
	case m.LastPrompt == nil:
		return true
	case r.PromptID == "":
		return l.sincePrompt(m, written)
	}
	return l.sincePrompt(m, turn.End) // and not by its id, which a resumed session gives again
}

// ReapLost closes the missions whose agent is gone without a word. It is called
// from time to time by the process that watches.
func (l *Local) ReapLost(ctx context.Context) error {
	var errs []error
	for _, m := range l.liveMissions() {
		if l.gone(m) {
			errs = append(errs, l.reap(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// Process is an agent's process, or its keeper's. It is still told apart when its
// pid has been used again.
type Process = lock.Owner

// LiveWorkspace is a workspace in which an agent works now.
type LiveWorkspace struct {
	Place     Place
	Missions  []string  // ids
	InTurn    []string  // of these, the ones in a turn
	Waiting   bool      // an agent has asked its user: of some only a look tells of the answer
	Sessions  []string  // paths of their session files, and of what their agents say of themselves
	Processes []Process // of all of them, as far as they are known
}

// LiveWorkspaces are the workspaces in which an agent works now, by their
// paths: what is worth watching.
func (l *Local) LiveWorkspaces() map[string]LiveWorkspace {
	found := map[string]LiveWorkspace{}
	for _, m := range l.liveMissions() {
		if m.bind.Workspace == "" || l.gone(m) {
			continue
		}
		ws := found[m.bind.Workspace]
		ws.Place = m.bind.Place
		ws.Missions = append(ws.Missions, m.ID)
		ws.Processes = append(ws.Processes, m.live.processes()...)
		if h := m.live.Handover; l.owned(h) && h.Owner != l.self {
			ws.Processes = append(ws.Processes, h.Owner) // what it does not end is taken up
		}
		if InTurn(m.life) {
			ws.InTurn = append(ws.InTurn, m.ID)
			ws.Waiting = ws.Waiting || State(m.life) == StateWaiting
		}
		ws.Sessions = append(ws.Sessions, l.told(m)...)
		found[m.bind.Workspace] = ws
	}
	return found
}

// TellWatching tells the one that watches what is ignored in the workspace of a
// live mission, for which no capture has told it yet.
func (l *Local) TellWatching(ctx context.Context, root string) error {
	list := l.liveIn(root)
	if l.watching == nil || len(list) == 0 {
		return nil
	}
	return l.holding(ctx, list[0], func(m *loaded) error {
		ws, err := l.workspace(ctx, m)
		if err != nil {
			return err
		}
		ws.tellRules()
		return nil
	})
}

// Sweep removes from the projects' repositories, and from those of agents'
// configurations, what processes that were killed left there. It takes its time: it belongs into the background.
func (l *Local) Sweep(ctx context.Context) error {
	all, _ := l.allProjects()
	var errs []error
	for _, p := range all {
		if _, err := p.store.Sweep(ctx); err != nil {
			errs = append(errs, fmt.Errorf("project %s: %w", p.Name, err))
		}
	}
	errs = append(errs, l.sweepConfigs(ctx))
	return errors.Join(errs...)
}
