package missions

import (
	"context"
	"os"

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
)

// Observe takes what a watcher saw in the workspace at root, for each live
// mission that works there. It is for the process that watches; an error is one
// of taking a snapshot.
func (l *Local) Observe(ctx context.Context, root string, saw Observation) error {
	for _, m := range l.liveIn(root) {
		event, ok := l.interpret(m, saw)
		if !ok {
			continue
		}
		if _, err := l.submit(ctx, m.project, m.ID, &request{event: event}); err != nil {
			return err
		}
	}
	return nil
}

// liveIn lists the missions with an agent in a workspace.
func (l *Local) liveIn(root string) []*loaded {
	var list []*loaded
	all, _ := l.allProjects()
	for _, p := range all {
		missions, _ := l.missionsOf(p)
		for _, m := range missions {
			if m.bind.Workspace == root && HasAgent(m.life) {
				list = append(list, m)
			}
		}
	}
	return list
}

// interpret turns an observation into what it means for a mission. An agent
// with hooks says itself when its turn ends, but not on Esc, an API error or a
// kill: there the transcript tells, once all is quiet.
func (l *Local) interpret(m *loaded, saw Observation) (Event, bool) {
	hooked := m.live.Hooked && l.adapter(m.Agent) != nil
	switch {
	case saw == SawChange:
		return Stirred{}, !hooked
	case !hooked:
		return Quieted{}, true
	case !InTurn(m.life):
		return Quieted{}, true // a change by somebody else between turns
	}
	switch l.transcriptState(m) {
	case sessions.StateInterrupted:
		return TurnStopped{}, true
	case sessions.StateError:
		return TurnFailed{Message: "the agent's API refused"}, true
	}
	return nil, false
}

// transcriptState is what the session file's last event says.
func (l *Local) transcriptState(m *loaded) sessions.State {
	a := l.adapter(m.Agent)
	if a == nil || m.bind.Session == "" {
		return sessions.StateEmpty
	}
	f, err := os.Open(m.bind.Session)
	if err != nil {
		return sessions.StateEmpty
	}
	defer f.Close()
	c, err := a.Read(f)
	if err != nil {
		return sessions.StateEmpty
	}
	return c.State
}

// ReapLost closes the missions whose agent is gone without a word. It is called
// from time to time by the process that watches.
func (l *Local) ReapLost(ctx context.Context) error {
	all, _ := l.allProjects()
	for _, p := range all {
		missions, _ := l.missionsOf(p)
		for _, m := range missions {
			if m.lost() {
				if err := l.reap(ctx, m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// LiveWorkspaces are the workspaces in which an agent works now: what is worth
// watching.
func (l *Local) LiveWorkspaces() map[string]Place {
	found := map[string]Place{}
	all, _ := l.allProjects()
	for _, p := range all {
		missions, _ := l.missionsOf(p)
		for _, m := range missions {
			if HasAgent(m.life) && !m.lost() && m.bind.Workspace != "" {
				found[m.bind.Workspace] = m.bind.Place
			}
		}
	}
	return found
}
