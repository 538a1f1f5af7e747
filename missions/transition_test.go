package missions

import (
	"reflect"
	"slices"
	"testing"
)

// TestTransition walks the lifecycle through the turns that agents really take.
func TestTransition(t *testing.T) {
	t.Parallel()
	type want struct {
		life     Lifecycle
		triggers []Trigger
	}
	prompt := PromptSubmitted{Text: "fix it", ID: "p1"}
	running := Running{Turn: 1, Prompt: "fix it", PromptID: "p1"}
	edit := ToolUse{Name: "Edit", Target: "a.go"}
	ask, other := Permission{ID: "c1", Tool: "Bash"}, Permission{ID: "c2", Tool: "Bash"}
	using := func(tool ToolUse, pending ...Permission) Running {
		return Running{Turn: 1, Prompt: "fix it", PromptID: "p1", Tool: &tool, Pending: slices.Clone(pending)}
	}
	asks := func(pending ...Permission) Running {
		r := using(edit, pending...)
		r.Tool = nil
		return r
	}
	tests := []struct {
		name string
		from Lifecycle
		e    Event
		want want
	}{
		{"launch with hooks", Initializing{}, AgentLaunched{HasHooks: true}, want{Idle{}, nil}},
		{"launch told of after the agent's prompt", running, AgentLaunched{HasHooks: true, HeardBefore: true}, want{running, nil}},
		{"launch after a turn whose end was not heard", running, AgentLaunched{HasHooks: true}, want{Idle{Turn: 1}, nil}},
		{"launch of any command", Initializing{}, AgentLaunched{}, want{Running{Launched: true}, nil}},
		{"launch of any command again", Closed{Turn: 2, Reason: CloseReasonExit}, AgentLaunched{}, want{Running{Turn: 2, Launched: true}, []Trigger{TriggerWatch}}},
		{"then it says that it waits", Running{Turn: 2, Launched: true}, SessionBegan{}, want{Idle{Turn: 2}, nil}},
		{"or says its first prompt", Running{Turn: 0, Launched: true}, prompt, want{running, []Trigger{TriggerPrompt}}},
		{"or its first after others", Running{Turn: 2, Launched: true}, prompt, want{Running{Turn: 3, Prompt: "fix it", PromptID: "p1"}, []Trigger{TriggerPrompt}}},
		{"or a tool", Running{Turn: 2, Launched: true}, ToolStarting{Tool: edit, Writes: true}, want{Running{Turn: 3, Tool: &edit}, []Trigger{TriggerTool}}},
		{"or that it goes on", Running{Turn: 2, Launched: true}, TurnContinued{ID: "p1"}, want{Running{Turn: 2, PromptID: "p1", Continued: true, Noted: true}, []Trigger{TriggerTool}}},
		{"or nothing", Running{Turn: 2, Launched: true}, BecameQuiet{}, want{Idle{Turn: 2}, []Trigger{TriggerIdle}}},
		{"a session begins", Initializing{}, SessionBegan{}, want{Idle{}, nil}},
		{"a session is resumed by hand", Closed{Turn: 2, Reason: CloseReasonExit}, SessionBegan{}, want{Idle{Turn: 2}, nil}},
		{"/clear after an error", Failed{Turn: 2, Message: "529"}, SessionBegan{}, want{Idle{Turn: 2}, nil}},
		{"/clear in a turn", running, SessionBegan{}, want{Idle{Turn: 1}, []Trigger{TriggerIdle}}},
		{"a prompt begins a turn", Idle{}, prompt, want{running, []Trigger{TriggerPrompt}}},
		{"the same prompt heard twice", running, prompt, want{running, nil}},
		{"a prompt typed while it works", running, PromptSubmitted{Text: "go on", ID: "p1"},
			want{running, []Trigger{TriggerTool}}},
		{"a prompt whose turn's end was not heard", Running{Turn: 1, PromptID: "p0"}, prompt,
			want{Running{Turn: 2, Prompt: "fix it", PromptID: "p1"}, []Trigger{TriggerIdle, TriggerPrompt}}},
		{"turns go on after a restore", Closed{Turn: 7}, prompt, want{Running{Turn: 8, Prompt: "fix it", PromptID: "p1"}, []Trigger{TriggerPrompt}}},
		{"a tool that writes", running, ToolStarting{Tool: edit, Writes: true},
			want{Running{Turn: 1, Prompt: "fix it", PromptID: "p1", Tool: &edit}, []Trigger{TriggerTool}}},
		{"a tool that reads", running, ToolStarting{Tool: edit}, want{Running{Turn: 1, Prompt: "fix it", PromptID: "p1", Tool: &edit}, nil}},
		{"a tool without a prompt heard", Idle{Turn: 2}, ToolStarting{Tool: edit, Writes: true}, want{Running{Turn: 3, Tool: &edit}, []Trigger{TriggerTool}}},
		{"a question", running, PermissionAsked{ask}, want{asks(ask), nil}},
		{"a question heard twice", asks(ask), PermissionAsked{ask}, want{asks(ask), nil}},
		{"a question heard without its call", asks(ask), PermissionAsked{Permission{Tool: "Bash"}}, want{asks(ask), nil}},
		{"another question", asks(ask), PermissionAsked{other}, want{asks(ask, other), nil}},
		{"the end of a tool beside", asks(ask), ToolFinished{Tool: ToolUse{ID: "c2", Name: "Bash"}}, want{asks(ask), nil}},
		{"the end of the tool", asks(ask, other), ToolFinished{Tool: ToolUse{ID: "c1", Name: "Bash"}}, want{asks(other), nil}},
		{"a tool that begins beside", asks(ask), ToolStarting{Tool: edit}, want{using(edit, ask), nil}},
		{"a tool that begins once it is allowed", asks(Permission{Tool: "write_file", Target: "a.go"}), ToolStarting{Tool: edit}, want{using(edit), nil}},
		{"an answer", asks(ask, other), PermissionAnswered{ID: "c2"}, want{asks(ask), nil}},
		{"an answer to all", asks(ask, other), PermissionAnswered{}, want{asks(), nil}},
		{"an answer between turns", Idle{Turn: 1}, PermissionAnswered{ID: "c1"}, want{Idle{Turn: 1}, nil}},
		{"a tool's end answers questions", Running{Turn: 1, Pending: []Permission{{Tool: "Bash"}}}, ToolFinished{}, want{Running{Turn: 1}, nil}},
		{"a turn's end", running, TurnEnded{}, want{Idle{Turn: 1}, []Trigger{TriggerIdle}}},
		{"an end heard twice", Idle{Turn: 1}, TurnEnded{}, want{Idle{Turn: 1}, []Trigger{TriggerIdle}}},
		{"an end of what was given up", Closed{Turn: 1, Reason: CloseReasonLost}, TurnEnded{}, want{Idle{Turn: 1}, []Trigger{TriggerIdle}}},
		{"an end after the end", Closed{Turn: 1, Reason: CloseReasonExit}, TurnEnded{}, want{Closed{Turn: 1, Reason: CloseReasonExit}, nil}},
		{"work in the background", running, TurnEnded{Background: true}, want{Running{Turn: 1, Prompt: "fix it", PromptID: "p1", Background: true}, []Trigger{TriggerTool}}},
		{"a report from the background", Running{Turn: 1, PromptID: "p1", Background: true}, TurnContinued{ID: "p2"},
			want{Running{Turn: 1, PromptID: "p2", Background: true}, []Trigger{TriggerTool}}},
		{"work after the end", Idle{Turn: 1}, TurnContinued{ID: "p1"}, want{Running{Turn: 1, PromptID: "p1", Continued: true, Noted: true}, []Trigger{TriggerTool}}},
		{"work that is seen after the end", Idle{Turn: 1}, TurnContinued{ID: "p1", Seen: true}, want{Running{Turn: 1, PromptID: "p1", Continued: true}, []Trigger{TriggerTool}}},
		{"a tool that reads after the end", Running{Turn: 1, Continued: true}, ToolStarting{Tool: edit}, want{Running{Turn: 1, Continued: true, Noted: true, Tool: &edit}, []Trigger{TriggerTool}}},
		{"the end after the end", Running{Turn: 1, Continued: true}, TurnEnded{}, want{Idle{Turn: 1}, []Trigger{TriggerIdle}}},
		{"an error", running, TurnFailed{Message: "529"}, want{Failed{Turn: 1, Message: "529"}, []Trigger{TriggerError}}},
		{"Esc", running, TurnStopped{}, want{Idle{Turn: 1}, []Trigger{TriggerIdle}}},
		{"files change", Idle{Turn: 1}, FilesChanged{}, want{Running{Turn: 1}, nil}},
		{"quiet", Running{}, BecameQuiet{}, want{Idle{}, []Trigger{TriggerIdle}}},
		{"quiet again", Idle{}, BecameQuiet{}, want{Idle{}, []Trigger{TriggerWatch}}},
		{"saved in a turn", Running{Turn: 2}, HintReceived{What: "saved a"}, want{Running{Turn: 2}, []Trigger{TriggerWatch}}},
		{"saved after the end", Closed{Turn: 2, Reason: CloseReasonExit}, HintReceived{What: "saved a"}, want{Closed{Turn: 2, Reason: CloseReasonExit}, []Trigger{TriggerWatch}}},
		{"the session ends", Idle{Turn: 1}, SessionEnded{}, want{Closed{Turn: 1, Reason: CloseReasonExit}, []Trigger{TriggerClose}}},
		{"then the process", Closed{Turn: 1, Reason: CloseReasonExit}, AgentExited{Code: 3}, want{Closed{Turn: 1, Reason: CloseReasonExit, ExitCode: 3}, nil}},
		{"a crash in a turn", running, AgentExited{Code: 137}, want{Closed{Turn: 1, Reason: CloseReasonExit, ExitCode: 137}, []Trigger{TriggerClose}}},
		{"gone", running, AgentVanished{}, want{Closed{Turn: 1, Reason: CloseReasonLost}, []Trigger{TriggerClose}}},
		{"parked", Idle{Turn: 1}, TerminalPassed{CloseReasonParked}, want{Closed{Turn: 1, Reason: CloseReasonParked}, []Trigger{TriggerClose}}},
		{"left, and ended before", Closed{Turn: 1, Reason: CloseReasonExit}, TerminalPassed{CloseReasonDiscarded}, want{Closed{Turn: 1, Reason: CloseReasonDiscarded}, nil}},
		{"stopped", running, AgentStopped{}, want{Closed{Turn: 1, Reason: CloseReasonExit}, []Trigger{TriggerClose}}},
		{"stopped, and seen to be gone", Closed{Turn: 1, Reason: CloseReasonLost}, AgentStopped{}, want{Closed{Turn: 1, Reason: CloseReasonExit}, nil}},
		{"stopped as it ended", Closed{Turn: 1, Reason: CloseReasonExit, ExitCode: 3}, AgentStopped{}, want{Closed{Turn: 1, Reason: CloseReasonExit, ExitCode: 3}, nil}},
		{"gone twice", Closed{Reason: CloseReasonLost}, AgentVanished{}, want{Closed{Reason: CloseReasonLost}, nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			life, effects := Transition(tt.from, tt.e)
			if !alike(life, tt.want.life) {
				t.Errorf("lifecycle %#v, want %#v", life, tt.want.life)
			}
			var triggers []Trigger
			for _, e := range effects {
				if take, ok := e.(TakeSnapshot); ok {
					triggers = append(triggers, take.Trigger)
				}
			}
			if !reflect.DeepEqual(triggers, tt.want.triggers) {
				t.Errorf("snapshots %v, want %v", triggers, tt.want.triggers)
			}
		})
	}
}

// TestTurnBegunUnheardIsNoted: a turn that shows by what its agent does, without a
// prompt, begins with a snapshot, whether or not a file has changed.
func TestTurnBegunUnheardIsNoted(t *testing.T) {
	t.Parallel()
	for i, e := range []Event{
		ToolStarting{Tool: ToolUse{Name: "Read"}}, ToolStarting{Tool: ToolUse{Name: "Write"}, Writes: true},
		PermissionAsked{Permission{Tool: "Write"}}, TurnEnded{Background: true},
		ToolStarting{Tool: ToolUse{Name: "Read"}}, PermissionAsked{Permission{Tool: "Write"}},
	} {
		from := Lifecycle(Idle{Turn: 2})
		if i > 3 {
			from = Running{Turn: 2, Launched: true}
		}
		next, effects := Transition(from, e)
		if len(effects) != 1 || effects[0].(TakeSnapshot).OnlyIfChanged || !reflect.DeepEqual(effects[0].(TakeSnapshot).Lifecycle, next) {
			t.Errorf("%#v on %#v asks for %#v", e, from, effects)
			continue
		}
		_, effects = Transition(next, ToolStarting{Tool: ToolUse{Name: "Write"}, Writes: true})
		if len(effects) != 1 || !effects[0].(TakeSnapshot).OnlyIfChanged {
			t.Errorf("after %#v the next tool asks for %#v", e, effects)
		}
	}
}

// TestTypedWhileItWorks: what is typed while the agent works is a moment of its own, whatever
// changed, with all that was typed.
func TestTypedWhileItWorks(t *testing.T) {
	text := "mind the giraffe\n\nand its stripes"
	_, effects := Transition(Running{Turn: 1, PromptID: "p1"}, PromptSubmitted{Text: text, ID: "p1"})
	if len(effects) != 1 {
		t.Fatalf("asks for %#v", effects)
	}
	if take := effects[0].(TakeSnapshot); take.OnlyIfChanged || take.Typed != text || take.Message != "prompt while it works: mind the giraffe ⏎ and its stripes" {
		t.Errorf("asks for %#v", take)
	}
}

// alike reports whether two lifecycles are the same, where no question is open too.
func alike(a, b Lifecycle) bool {
	for _, l := range []*Lifecycle{&a, &b} {
		if r, ok := (*l).(Running); ok && len(r.Pending) == 0 {
			r.Pending = nil
			*l = r
		}
	}
	return reflect.DeepEqual(a, b)
}

// TestTurnsNeverGoBack tries every event on every lifecycle.
func TestTurnsNeverGoBack(t *testing.T) {
	t.Parallel()
	lives := []Lifecycle{Initializing{3}, Running{Turn: 3}, Idle{3}, Failed{Turn: 3}, Closed{Turn: 3}}
	events := []Event{
		SessionBegan{}, AgentLaunched{}, AgentLaunched{HasHooks: true}, AgentLaunched{HasHooks: true, HeardBefore: true}, PromptSubmitted{}, ToolStarting{Writes: true}, ToolFinished{}, PermissionAsked{}, PermissionAnswered{},
		TurnEnded{}, TurnEnded{Background: true}, TurnFailed{}, TurnStopped{}, TurnContinued{}, TurnsCounted{2}, TurnsCounted{4}, FilesChanged{}, BecameQuiet{}, PausedWhileWorking{}, HintReceived{}, SessionEnded{}, AgentExited{}, AgentStopped{}, AgentVanished{}, TerminalPassed{CloseReasonParked},
	}
	for _, l := range lives {
		for _, e := range events {
			next, effects := Transition(l, e)
			if next.LastTurn() < 3 {
				t.Errorf("%T on %T: turn %d", e, l, next.LastTurn())
			}
			raw, err := MarshalLifecycle(next)
			if err != nil {
				t.Fatal(err)
			}
			back, err := UnmarshalLifecycle(raw)
			if err != nil || !reflect.DeepEqual(back, next) {
				t.Errorf("%s: %#v, %v", raw, back, err)
			}
			for _, effect := range effects {
				if take, ok := effect.(TakeSnapshot); ok && take.Lifecycle == nil {
					t.Errorf("%T on %T: a snapshot of nothing", e, l)
				}
			}
		}
	}
}
