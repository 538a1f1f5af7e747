package events

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// interpretation is a row of the table: what Interpret makes of an event.
type interpretation struct {
	name  string
	known func(*Known)   // what differs from a mission that idles after turn 2, started by hand
	event sessions.Event // of session "s", unless it names another one
	rule  string
	want  missions.Event
	notes Notes // but for Rule
}

// interpretations are the table. The diagram is drawn from it too.
func interpretations() []interpretation {
	var (
		running = missions.Running{Turn: 2, PromptID: "p2"}
		closed  = missions.Closed{Turn: 2}
		edit    = sessions.Tool{ID: "t1", Name: "Edit", Target: "a.go"}
		edited  = missions.ToolUse{ID: "t1", Name: "Edit", Target: "a.go"}
		asked   = missions.PermissionAsked{Permission: missions.Permission{ID: "t1", Tool: "Edit", Target: "a.go"}}
		all     = Notes{Hearing: HearAll, WithdrawHandover: true}
		kept    = Notes{Hearing: HearAll} // the end of an agent with a keeper may be that of a handover
	)
	runs := func(k *Known) { k.Turn.Lifecycle = running }
	keeps := func(k *Known) { k.Process.HasKeeper, k.Process.HadKeeper, k.Process.LaunchedFor = true, true, true }
	both := func(fs ...func(*Known)) func(*Known) {
		return func(k *Known) {
			for _, f := range fs {
				f(k)
			}
		}
	}
	speaks := func(s Speaker) func(*Known) {
		return func(k *Known) { k.Process.Speaker, k.Process.SpeakerLiveness = s, lock.Alive }
	}
	left := func(k *Known) { k.Turn.Session = "s" } // the last prompt was in the session that the mission is in
	with := func(n Notes, step SessionStep) Notes { n.Step = step; return n }
	first := func(n Notes, e missions.Event) Notes { n.First = e; return n }
	shows := func(state sessions.State, refusal string) func(*Known) {
		return func(k *Known) { k.Turn.Shown = turnEnding{state, refusal} }
	}

	const (
		literally = "any other event"
		second    = "a second agent speaks"
		ended     = "its agent has ended"
		begins    = "a beginning in a session that was left"
		question  = "a question in a session that was left"
		leftEnd   = "the end of a session that was left"
		within    = "a session's start within a turn"
		queued    = "a prompt comes before a queued restore"
	)
	start := func(session, source string) sessions.Event {
		return sessions.Event{Kind: sessions.KindSessionStart, SessionID: session, Source: source}
	}
	of := func(kind sessions.Kind) sessions.Event { return sessions.Event{Kind: kind} }
	in := func(session string, kind sessions.Kind) sessions.Event {
		return sessions.Event{Kind: kind, SessionID: session}
	}
	prompt := sessions.Event{Kind: sessions.KindPrompt, Prompt: "go", PromptID: "p3"}
	submitted := missions.PromptSubmitted{Text: "go", ID: "p3"}
	formerly := func(e sessions.Event) sessions.Event { e.SessionID = "former"; return e }
	tool := sessions.Event{Kind: sessions.KindToolBefore, Tool: edit, Writes: true, PromptID: "p2"}
	reads := sessions.Event{Kind: sessions.KindToolBefore, Tool: edit}

	return []interpretation{
		{"a session starts", nil, start("s", "startup"), literally, missions.SessionBegan{}, Notes{Hearing: HearAll, WithdrawHandover: true}},
		{"a prompt", nil, prompt, literally, submitted, all},
		{"background work reports", nil, sessions.Event{Kind: sessions.KindGoesOn, PromptID: "p3"}, literally, missions.TurnContinued{ID: "p3"}, all},
		{"a tool", runs, tool, literally, missions.ToolStarting{Tool: edited, Writes: true}, all},
		{"a tool that is a question", runs, sessions.Event{Kind: sessions.KindToolBefore, Tool: edit, Asks: true}, literally, asked, all},
		{"a tool's end", runs, sessions.Event{Kind: sessions.KindToolAfter, Tool: edit}, literally, missions.ToolFinished{Tool: edited}, all},
		{"the end of tools", runs, of(sessions.KindToolBatch), literally, missions.ToolFinished{}, all},
		{"a question", runs, sessions.Event{Kind: sessions.KindPermission, Tool: edit}, literally, asked, all},
		{"an answer", runs, sessions.Event{Kind: sessions.KindAnswered, Tool: edit}, literally, missions.PermissionAnswered{ID: "t1"}, all},
		{"a turn's end", runs, of(sessions.KindStop), literally, missions.TurnEnded{}, all},
		{"a turn's end under a keeper", both(runs, keeps), of(sessions.KindStop), literally, missions.TurnEnded{}, kept},
		{"a turn stopped by its user, as the hook says", runs, sessions.Event{Kind: sessions.KindStop, Stopped: true}, literally, missions.TurnStopped{}, all},
		{"a turn stopped by its user, as the session shows", both(runs, shows(sessions.StateInterrupted, "")), of(sessions.KindStop), literally, missions.TurnStopped{}, all},
		{"a turn that the API refused, as the session shows", both(runs, shows(sessions.StateError, "")), of(sessions.KindStop), literally, missions.TurnFailed{Message: "the agent's API refused"}, all},
		{"a turn whose work goes on", both(runs, shows(sessions.StateError, "")), sessions.Event{Kind: sessions.KindStop, Background: true}, literally, missions.TurnEnded{Background: true}, all},
		{"a turn that failed", runs, sessions.Event{Kind: sessions.KindError, Message: "529"}, literally, missions.TurnFailed{Message: "529"}, all},
		{"a session's end", nil, of(sessions.KindSessionEnd), literally, missions.SessionEnded{}, all},
		{"a session left by /clear", nil, sessions.Event{Kind: sessions.KindSessionEnd, Reason: "clear"}, literally, nil, all},

		{"the agent itself", both(runs, speaks(SpeakerAgent)), tool, literally, missions.ToolStarting{Tool: edited, Writes: true}, all},
		{"another process's prompt", speaks(SpeakerOther), prompt, second, missions.HintReceived{What: "prompt of a second agent: go"}, Notes{SecondAgent: true, Speaks: true, Hearing: HearAll}},
		{"another process's tool that writes", speaks(SpeakerOther), tool, second, missions.HintReceived{What: "before Edit of a second agent: a.go"}, Notes{SecondAgent: true, Speaks: true, Hearing: HearAll}},
		{"another process's tool that reads", speaks(SpeakerOther), reads, second, nil, Notes{SecondAgent: true, Speaks: true, Hearing: HearAll}},
		{"another process's turn ends", speaks(SpeakerOther), of(sessions.KindStop), second, missions.HintReceived{What: "turn of a second agent ended"}, Notes{SecondAgent: true, Hearing: HearAll}},
		{"another process ends", speaks(SpeakerOther), of(sessions.KindSessionEnd), second, missions.HintReceived{What: "second agent ended"}, Notes{SecondAgent: true, Hearing: HearAll}},
		{"another process, heard before", both(speaks(SpeakerOther), func(k *Known) { k.Session.IsRepeat = true }), prompt, second, nil, Notes{SecondAgent: true}},
		{"another process once the mission is closed", both(speaks(SpeakerOther), func(k *Known) { k.Turn.Lifecycle = closed }), prompt, literally, submitted, all},
		{"under a keeper, a process that was not launched for the mission", both(keeps, speaks(SpeakerNew), func(k *Known) { k.Process.LaunchedFor = false }), prompt, second, missions.HintReceived{What: "prompt of a second agent: go"}, Notes{SecondAgent: true, Speaks: true, Hearing: HearAll}},
		{"under a keeper, another process than the named agent", both(keeps, speaks(SpeakerOther), func(k *Known) { k.Process.AgentNamed = true }), prompt, second, missions.HintReceived{What: "prompt of a second agent: go"}, Notes{SecondAgent: true, Speaks: true, Hearing: HearAll}},
		{"under a keeper, another process than its child", both(keeps, speaks(SpeakerOther)), prompt, literally, submitted, all},

		{"a late hook of an agent that has ended", func(k *Known) {
			k.Process.SpeakerEnded, k.Process.SpeakerLiveness, k.Process.Speaker = true, lock.Gone, SpeakerNew
		}, of(sessions.KindStop), ended, nil, Notes{Ended: true}},
		{"an agent with the pid of one that has ended", func(k *Known) {
			k.Process.SpeakerEnded, k.Process.SpeakerLiveness, k.Process.Speaker = true, lock.Alive, SpeakerNew
		}, prompt, literally, submitted, all},
		{"a late hook without an agent above it", func(k *Known) { k.Turn.Lifecycle, k.Process.LaunchedFor = closed, true }, of(sessions.KindStop), ended, nil, Notes{Ended: true}},
		{"the same of a tool that Umbra does not know", func(k *Known) { k.Turn.Lifecycle, k.Process.LaunchedFor, k.Session.Unknown = closed, true, true }, prompt, literally, submitted, all},
		{"the same of an agent started by hand", func(k *Known) { k.Turn.Lifecycle = closed }, prompt, literally, submitted, all},

		{"a prompt while a handover ends the agent", func(k *Known) { k.Waiting.EndingBlock = "wait" }, prompt, "Umbra is ending the agent", nil, Notes{Block: "wait"}},
		{"a prompt between turns, where a restore is queued", func(k *Known) { k.Waiting.Queued = "undo" }, prompt, queued, missions.TurnEnded{}, Notes{Block: "what was queued for the end of the turn before comes first (undo): type it again then"}},
		{"a prompt that shows the turn before to be over", both(runs, func(k *Known) { k.Waiting.Queued = "undo" }), prompt, queued, missions.TurnEnded{}, Notes{Block: "what was queued for the end of the turn before comes first (undo): type it again then"}},
		{"a prompt typed ahead, where a restore is queued", both(runs, func(k *Known) { k.Waiting.Queued = "undo" }), sessions.Event{Kind: sessions.KindPrompt, PromptID: "p2"}, literally, missions.PromptSubmitted{ID: "p2"}, all},
		{"a prompt of a closed mission, where a restore is queued", func(k *Known) { k.Turn.Lifecycle, k.Waiting.Queued = closed, "undo" }, prompt, literally, submitted, all},
		{"a tool, where a restore is queued", both(runs, func(k *Known) { k.Waiting.Queued = "undo" }), tool, literally, missions.ToolStarting{Tool: edited, Writes: true}, all},

		{"the end of a left session under a keeper", keeps, in("former", sessions.KindSessionEnd), leftEnd, nil, Notes{Step: StepAside}},
		{"the end of a session that a handover is about to leave", both(keeps, func(k *Known) { k.Waiting.HasHandover = true }), of(sessions.KindSessionEnd), leftEnd, nil, Notes{}},
		{"the end of a session under a keeper", keeps, of(sessions.KindSessionEnd), literally, missions.SessionEnded{}, kept},
		{"the end of a left session without a keeper", nil, in("former", sessions.KindSessionEnd), literally, missions.SessionEnded{}, with(all, StepAside)},
		{"the end of a turn in a left session", both(runs, left), in("former", sessions.KindStop), "the end of a turn that was left", nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"an error in a left session", both(runs, left), in("former", sessions.KindError), "the end of a turn that was left", nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"the end of a turn in a left session, prompted there", both(runs, func(k *Known) { k.Turn.Session = "former" }), in("former", sessions.KindStop), literally, missions.TurnEnded{}, with(all, StepAside)},
		{"the end of a turn in a left session between turns", left, in("former", sessions.KindStop), literally, missions.TurnEnded{}, with(all, StepAside)},
		{"a question in a left session", both(runs, left), in("former", sessions.KindPermission), question, nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"an answer in a left session", both(runs, left), in("former", sessions.KindAnswered), question, nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"a question of a turn, and there is none", nil, sessions.Event{Kind: sessions.KindPermission, Within: true}, question, nil, Notes{WithdrawHandover: true}},
		{"a question of the turn", runs, sessions.Event{Kind: sessions.KindPermission, Within: true, Tool: edit}, literally, asked, all},

		{"a start in a left session", nil, start("former", "startup"), begins, nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"a late prompt in a left session while an agent lives", func(k *Known) { k.Process.Lives = true }, formerly(prompt), begins, nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"a prompt in a left session of an agent that lives no more", speaksGone, formerly(prompt), begins, nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"a subagent's prompt in a left session", nil, sessions.Event{Kind: sessions.KindPrompt, SessionID: "former", Agent: "sub"}, begins, nil, Notes{WithdrawHandover: true, Step: StepAside}},
		{"a prompt in a left session", nil, formerly(prompt), literally, submitted, with(all, StepReturns)},
		{"a prompt in a left session of the agent", speaks(SpeakerAgent), formerly(prompt), literally, submitted, with(all, StepReturns)},
		{"a prompt in a left session under a keeper whose agent has spoken", both(keeps, func(k *Known) { k.Process.Lives, k.Process.HeardSinceLaunch = true, true }), formerly(prompt), literally, submitted, with(all, StepReturns)},
		{"a left session opened again", speaks(SpeakerAgent), start("former", "resume"), literally, missions.SessionBegan{}, with(all, StepReturns)},
		{"a left session opened again within a turn", both(runs, speaks(SpeakerAgent)), start("former", "resume"), literally, missions.SessionBegan{}, first(with(all, StepReturns), missions.SessionBegan{})},
		{"a tool in a left session", both(runs, speaks(SpeakerAgent)), in("former", sessions.KindToolBefore), literally, missions.ToolStarting{}, with(all, StepAside)},

		{"an end told by an agent without hooks", both(runs, func(k *Known) { k.Session.HasHooks = false }), sessions.Event{Kind: sessions.KindStop, Lone: true}, literally, missions.TurnEnded{}, all},
		{"an end told beside hooks", runs, sessions.Event{Kind: sessions.KindStop, Lone: true}, "a report beside hooks", nil, Notes{Hearing: HearSession, WithdrawHandover: true}},
		{"a hook heard twice", func(k *Known) { k.Session.IsRepeat = true }, prompt, "heard before", nil, Notes{Hearing: HearSign, WithdrawHandover: true}},

		{"a conversation summed up in a turn", runs, start("s", sessions.SourceCompact), within, nil, all},
		{"a start in a turn, as of an agent within the agent", runs, start("other", "startup"), within, nil, with(all, StepMoves)},
		{"a conversation summed up between turns", nil, start("s", sessions.SourceCompact), literally, missions.SessionBegan{}, all},
		{"/clear in a turn", runs, start("new", "clear"), literally, missions.SessionBegan{}, with(all, StepBegins)},
		{"/new under a keeper", both(keeps, speaks(SpeakerAgent)), start("new", "startup"), literally, missions.SessionBegan{}, with(kept, StepBegins)},
		{"/new under a keeper in a turn", both(keeps, runs, speaks(SpeakerAgent)), start("new", "startup"), literally, missions.SessionBegan{}, first(with(kept, StepBegins), missions.SessionBegan{})},
		{"a subagent's start under a keeper in a turn", both(keeps, runs, speaks(SpeakerAgent)), sessions.Event{Kind: sessions.KindSessionStart, Source: "startup", SessionID: "new", Agent: "sub"}, within, nil, with(kept, StepMoves)},
		{"a session resumed under another id", nil, start("new", "resume"), literally, missions.SessionBegan{}, with(all, StepMoves)},

		{"a tool at the prompt of the turn that has ended", both(left, func(k *Known) { k.Turn.PromptID = "p2" }), tool, literally, missions.ToolStarting{Tool: edited, Writes: true}, first(all, missions.TurnContinued{ID: "p2"})},
		{"a question at that prompt", both(left, func(k *Known) { k.Turn.PromptID = "p2" }), sessions.Event{Kind: sessions.KindPermission, PromptID: "p2", Tool: edit}, literally, asked, first(all, missions.TurnContinued{ID: "p2"})},
		{"a tool at another prompt", both(left, func(k *Known) { k.Turn.PromptID = "p1" }), tool, literally, missions.ToolStarting{Tool: edited, Writes: true}, all},
		{"a tool at that prompt once the mission is closed", both(left, func(k *Known) { k.Turn.PromptID, k.Turn.Lifecycle = "p2", closed }), tool, literally, missions.ToolStarting{Tool: edited, Writes: true}, all},

		{"an unknown tool's session ends under a keeper", both(keeps, func(k *Known) { k.Session.Unknown = true }), of(sessions.KindSessionEnd), "an unknown tool's session ends under a keeper", missions.TurnEnded{}, kept},
		{"an unknown tool's session ends", func(k *Known) { k.Session.Unknown = true }, of(sessions.KindSessionEnd), literally, missions.SessionEnded{}, all},
		{"a session in files ends under a keeper", both(keeps, func(k *Known) { k.Session.Segmented = true }), of(sessions.KindSessionEnd), "the user may go back in the conversation", nil, kept},
		{"a session in files ends in a turn", both(keeps, runs, func(k *Known) { k.Session.Segmented = true }), of(sessions.KindSessionEnd), literally, missions.SessionEnded{}, kept},
		{"a session in files ends without a keeper", func(k *Known) { k.Session.Segmented = true }, of(sessions.KindSessionEnd), literally, missions.SessionEnded{}, all},
	}
}

func speaksGone(k *Known) { k.Process.Speaker, k.Process.SpeakerLiveness = SpeakerNew, lock.Gone }

// situation is what the row says that is known, and its event.
func (i interpretation) situation() (Known, sessions.Event) {
	k := Known{
		Turn:    KnownTurn{Lifecycle: missions.Idle{Turn: 2}, Shown: turnEnding{state: sessions.StateEmpty}},
		Session: KnownSession{ID: "s", Former: []string{"former"}, HasHooks: true},
	}
	if i.known != nil {
		i.known(&k)
	}
	e := i.event
	if e.SessionID == "" {
		e.SessionID = "s"
	}
	return k, e
}

// TestInterpret asks what events mean, and that each rule has a row.
func TestInterpret(t *testing.T) {
	t.Parallel()
	decided := map[string]bool{}
	for _, i := range interpretations() {
		t.Run(i.name, func(t *testing.T) {
			event, notes := Interpret(i.situation())
			want := i.notes
			want.Rule = i.rule
			if !reflect.DeepEqual(event, i.want) || !reflect.DeepEqual(notes, want) {
				t.Errorf("it means %#v, %+v\nwant %#v, %+v", event, notes, i.want, want)
			}
			decided[notes.Rule] = true
		})
	}
	for _, r := range rules() {
		if !decided[r.name] {
			t.Errorf("no row is decided by %q", r.name)
		}
	}
}

// The diagram stands in docs/design.md between these lines.
const (
	designPage   = "../../docs/design.md"
	diagramBegin = "<!-- generated from events.Interpret: UMBRA_UPDATE_DOCS=1 go test ./missions/events -run TestDiagram -->\n"
	diagramEnd   = "<!-- end of what is generated from events.Interpret -->\n"
)

// TestDiagram holds the diagram of the documentation against Interpret.
func TestDiagram(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(designPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), diagramBegin)
	_, after, ok2 := strings.Cut(rest, diagramEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the diagram", designPage)
	}
	want := before + diagramBegin + diagram() + diagramEnd + after
	if want == string(page) {
		return
	}
	if os.Getenv("UMBRA_UPDATE_DOCS") == "" {
		t.Fatalf("%s shows other rules than Interpret has; UMBRA_UPDATE_DOCS=1 go test ./missions/events -run TestDiagram writes:\n%s", designPage, diagram())
	}
	if err := os.WriteFile(designPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// diagram draws the rules of Interpret in their order, each with what it makes of the events
// of the table.
func diagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n    event([an event of an agent]) --> r1\n")
	list := rules()
	for n, r := range list {
		var outcomes []string
		for _, i := range interpretations() {
			if event, notes := Interpret(i.situation()); notes.Rule == r.name {
				if text := outcome(i.event, event, notes, n == len(list)-1); !slices.Contains(outcomes, text) {
					outcomes = append(outcomes, text)
				}
			}
		}
		text := strings.Join(outcomes, "<br/>")
		if n == len(list)-1 {
			fmt.Fprintf(&b, "    r%d[\"%s\"]\n", n+1, text)
			break
		}
		fmt.Fprintf(&b, "    r%d{\"%s?\"} -- yes --> o%d[\"%s\"]\n    r%d -- no --> r%d\n", n+1, r.name, n+1, text, n+1, n+2)
	}
	b.WriteString("```\n")
	return b.String()
}

// outcome names what an event means, and where it means one thing for each kind, the kind.
func outcome(e sessions.Event, event missions.Event, n Notes, byKind bool) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", event), "missions.")
	if event == nil {
		name = "nothing"
	}
	switch {
	case byKind:
		return fmt.Sprintf("%s: %s", e.Kind, name)
	case n.Block != "":
		name += ", and the agent is blocked"
	case n.SecondAgent:
		return name
	}
	switch n.Hearing {
	case HearSession:
		name += "; its session is followed"
	case HearSign:
		name += "; that the agent reports is noted"
	case HearAll:
		name += "; the event is noted"
	}
	return name
}

// TestErrorWithSecret: what an agent quotes of its API's answer is kept without the key.
func TestErrorWithSecret(t *testing.T) {
	t.Parallel()
	key := "sk-ant-api03-" + strings.Repeat("a7Kq2Zx9", 5)
	event, _ := lifecycleEvent(sessions.Event{Kind: sessions.KindError, Message: "401 for " + key + ", in vain"})
	if want := (missions.TurnFailed{Message: "401 for [umbra-left-out:anthropic-key], in vain"}); event != want {
		t.Errorf("%+v", event)
	}
}
