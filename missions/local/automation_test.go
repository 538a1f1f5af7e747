package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// TestAutomated: each change of state is told once, and nothing else is.
func TestAutomated(t *testing.T) {
	t.Parallel()
	running := missions.Running{Turn: 1, PromptID: "p1"}
	for _, tt := range []struct {
		from missions.Lifecycle
		e    missions.Event
		want string
	}{
		{missions.Initializing{}, missions.AgentLaunched{HasHooks: true}, missions.OnReady},
		{missions.Closed{}, missions.AgentLaunched{}, missions.OnReady},
		{running, missions.TurnEnded{}, missions.OnIdle},
		{running, missions.TurnStopped{}, missions.OnIdle},
		{running, missions.BecameQuiet{}, missions.OnIdle},
		{missions.Failed{Turn: 1}, missions.TurnEnded{}, missions.OnIdle},
		{missions.Running{Turn: 1, Launched: true}, missions.BecameQuiet{}, missions.OnIdle},
		{running, missions.SessionBegan{}, missions.OnIdle},
		{missions.Running{Launched: true}, missions.SessionBegan{}, ""},
		{missions.Running{Turn: 1, Launched: true}, missions.SessionBegan{}, ""},
		{missions.Failed{Turn: 1}, missions.SessionBegan{}, ""},
		{missions.Closed{Turn: 1, Reason: missions.CloseReasonExit}, missions.SessionBegan{}, ""},
		{missions.Idle{Turn: 1}, missions.TurnEnded{}, ""},
		{missions.Idle{Turn: 1}, missions.BecameQuiet{}, ""},
		{missions.Idle{Turn: 1}, missions.PromptSubmitted{}, ""},
		{running, missions.TurnEnded{Background: true}, ""},
		{running, missions.TurnFailed{Message: "529"}, missions.OnError},
		{missions.Failed{Turn: 1}, missions.TurnFailed{Message: "529"}, ""},
		{running, missions.AgentExited{Code: 1}, missions.OnClose},
		{missions.Idle{Turn: 1}, missions.SessionEnded{}, missions.OnClose},
		{missions.Closed{Turn: 1, Reason: missions.CloseReasonExit}, missions.AgentExited{Code: 1}, ""},
		{running, missions.AgentVanished{}, missions.OnClose},
		{running, missions.AgentVanished{LongAgo: true}, ""},
		{missions.Closed{Reason: missions.CloseReasonLost}, missions.AgentVanished{}, ""},
	} {
		_, effects := missions.Transition(tt.from, tt.e)
		var got []string
		for _, e := range effects {
			if a, ok := e.(missions.StartAutomations); ok {
				got = append(got, a.On)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%T on %T: %v, want %s", tt.e, tt.from, got, tt.want)
		}
	}
}

// automations gathers what is started instead of starting it.
type automations struct {
	mu  sync.Mutex
	all []agents.Automation
	err error
}

func (a *automations) start(x agents.Automation) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, x)
	return a.err
}

func (a *automations) on() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	for _, x := range a.all {
		list = append(list, x.On)
	}
	slices.Sort(list) // they start beside one another
	return list
}

// TestAutomationsRunOnce: with what they are told, once for each change of
// state, and not again in the process that comes after.
func TestAutomationsRunOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	started := &automations{err: errors.New("which is in the log")}
	config := settings.Default()
	config.Automations = settings.Automations{Ready: []string{"r"}, Idle: []string{"i", "j"}, Close: []string{"c"}, TimeLimit: 7}
	b.local.Config, b.local.StartAutomation = config, started.start
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("do it", "a.txt", "two\n")
	c.hook("Stop", map[string]any{"stop_hook_active": false, "prompt_id": "p1"}) // heard twice
	c.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
	home := b.local.Home
	if err := b.local.Close(); err != nil { // waits for those that start
		t.Fatal(err)
	}
	if got := started.on(); !slices.Equal(got, []string{missions.OnClose, missions.OnIdle, missions.OnIdle, missions.OnReady}) {
		t.Errorf("run: %v", got)
	}
	for _, a := range started.all {
		if a.Env["UMBRA_MISSION"] != a.Mission || a.Env["UMBRA_EVENT"] != a.On || a.Dir != b.dir || a.Limit != 7 || a.Log != agents.AutomationsLog(home) {
			t.Errorf("%+v", a)
		}
		if a.On == missions.OnIdle && (a.Env["UMBRA_PROMPT"] != "do it" || a.Env["UMBRA_TURN"] != "1" || a.Env["UMBRA_STATE"] != "idle" || len(a.Env["UMBRA_SNAPSHOT"]) != 40) {
			t.Errorf("%+v", a.Env)
		}
	}
	again := &automations{}
	next, err := New(Options{Home: home, Config: config, Adapters: projects.Agents(), Automate: again.start})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(next.Recover(context.Background()), next.CloseLostMissions(context.Background()), next.Close()); err != nil {
		t.Fatal(err)
	}
	if got := again.on(); len(got) > 0 {
		t.Errorf("run again: %v", got)
	}
	if b.local, err = New(Options{Home: home, Config: settings.Default(), Adapters: projects.Agents()}); err != nil {
		t.Fatal(err)
	}
}
