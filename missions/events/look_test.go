package events

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// TestInterpretLook asks what it means that something or nothing changes.
func TestInterpretLook(t *testing.T) {
	t.Parallel()
	var (
		idle    = missions.Idle{Turn: 2}
		running = missions.Running{Turn: 2}
		ask     = missions.PermissionAsked{Permission: missions.Permission{Tool: "Bash"}}
		shows   = func(state sessions.State) turnEnding { return turnEnding{state: state} }
		nothing = shows(sessions.StateEmpty)
	)
	for _, tt := range []struct {
		name string
		look Look
		want missions.Event
	}{
		{"files change, without hooks", Look{Saw: missions.SawChange, Lifecycle: idle}, missions.FilesChanged{}},
		{"files change, with hooks", Look{Saw: missions.SawChange, HasHooks: true, Lifecycle: idle}, nil},
		{"quiet while the agent works", Look{Saw: missions.SawPause, Lifecycle: running}, missions.PausedWhileWorking{}},
		{"quiet, without hooks", Look{Saw: missions.SawQuiet, Lifecycle: running}, missions.BecameQuiet{}},
		{"quiet between turns", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: idle}, missions.BecameQuiet{}},
		{"quiet in a turn", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: nothing}, nil},
		{"Esc", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: shows(sessions.StateInterrupted)}, missions.TurnStopped{}},
		{"an error of the API", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: shows(sessions.StateError)}, missions.TurnFailed{Message: "the agent's API refused"}},
		{"Esc before an answer", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: nothing, Waits: true}, missions.TurnStopped{}},
		{"work after the end that came to nothing", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: missions.Running{Turn: 2, Continued: true}, Shown: nothing, Waits: true}, missions.TurnEnded{}},
		{"work in the background that has ended", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: missions.Running{Turn: 2, Background: true}, Shown: nothing, Waits: true}, missions.TurnEnded{}},
		{"an answer whose hook is lost, as the agent says", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: shows(sessions.StateIdle), Waits: true}, missions.TurnEnded{}},
		{"an answer whose hook is lost", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: shows(sessions.StateIdle), HookIsLost: true}, missions.TurnEnded{}},
		{"a question", Look{Saw: missions.SawQuiet, HasHooks: true, Lifecycle: running, Shown: nothing, Question: ask}, ask},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := InterpretLook(tt.look); got != tt.want {
				t.Errorf("it means %#v, want %#v", got, tt.want)
			}
		})
	}
}
