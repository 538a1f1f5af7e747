package missions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/missions/settings"
)

// TestAutomated: each change of state is told once, and nothing else is.
func TestAutomated(t *testing.T) {
	t.Parallel()
	running := Running{Turn: 1, PromptID: "p1"}
	for _, tt := range []struct {
		from Lifecycle
		e    Event
		want string
	}{
		{Initializing{}, Launched{Hooked: true}, OnReady},
		{Closed{}, Launched{}, OnReady},
		{running, TurnEnded{}, OnIdle},
		{running, TurnStopped{}, OnIdle},
		{running, Quieted{}, OnIdle},
		{Failed{Turn: 1}, TurnEnded{}, OnIdle},
		{Running{Turn: 1, Launched: true}, Quieted{}, OnIdle},
		{running, SessionBegan{}, OnIdle},
		{Running{Launched: true}, SessionBegan{}, ""},
		{Running{Turn: 1, Launched: true}, SessionBegan{}, ""},
		{Failed{Turn: 1}, SessionBegan{}, ""},
		{Closed{Turn: 1, How: HowExit}, SessionBegan{}, ""},
		{Idle{Turn: 1}, TurnEnded{}, ""},
		{Idle{Turn: 1}, Quieted{}, ""},
		{Idle{Turn: 1}, PromptSubmitted{}, ""},
		{running, TurnEnded{Background: true}, ""},
		{running, TurnFailed{Message: "529"}, OnError},
		{Failed{Turn: 1}, TurnFailed{Message: "529"}, ""},
		{running, Exited{Code: 1}, OnClose},
		{Idle{Turn: 1}, SessionEnded{}, OnClose},
		{Closed{Turn: 1, How: HowExit}, Exited{Code: 1}, ""},
		{running, Vanished{}, OnClose},
		{running, Vanished{LongAgo: true}, ""},
		{Closed{How: HowLost}, Vanished{}, ""},
	} {
		_, effects := Transition(tt.from, tt.e)
		var got []string
		for _, e := range effects {
			if a, ok := e.(Automate); ok {
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
	all []Automation
	err error
}

func (a *automations) start(x Automation) error {
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
	b.local.adapters = Agents()
	b.write("a.txt", "one\n")
	started := &automations{err: errors.New("which is in the log")}
	config := settings.Default()
	config.Automations = settings.Automations{Ready: []string{"r"}, Idle: []string{"i", "j"}, Close: []string{"c"}, TimeLimit: 7}
	b.local.config, b.local.startAutomation = config, started.start
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("do it", "a.txt", "two\n")
	c.hook("Stop", map[string]any{"stop_hook_active": false, "prompt_id": "p1"}) // heard twice
	c.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
	home := b.local.home
	if err := b.local.Close(); err != nil { // waits for those that start
		t.Fatal(err)
	}
	if got := started.on(); !slices.Equal(got, []string{OnClose, OnIdle, OnIdle, OnReady}) {
		t.Errorf("run: %v", got)
	}
	for _, a := range started.all {
		if a.Env["UMBRA_MISSION"] != a.Mission || a.Env["UMBRA_EVENT"] != a.On || a.Dir != b.dir || a.Limit != 7 || a.Log != home.AutomationsLog() {
			t.Errorf("%+v", a)
		}
		if a.On == OnIdle && (a.Env["UMBRA_PROMPT"] != "do it" || a.Env["UMBRA_TURN"] != "1" || a.Env["UMBRA_STATE"] != "idle" || len(a.Env["UMBRA_SNAPSHOT"]) != 40) {
			t.Errorf("%+v", a.Env)
		}
	}
	again := &automations{}
	next, err := NewLocal(Options{Home: home, Config: config, Adapters: Agents(), Automate: again.start})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(next.Recover(context.Background()), next.ReapLost(context.Background()), next.Close()); err != nil {
		t.Fatal(err)
	}
	if got := again.on(); len(got) > 0 {
		t.Errorf("run again: %v", got)
	}
	if b.local, err = NewLocal(Options{Home: home, Config: settings.Default(), Adapters: Agents()}); err != nil {
		t.Fatal(err)
	}
}
