package forks

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Background is forks whose agents answer in the background, and how they are waited for.
type Background struct {
	Missions []missions.Mission
	Timeout  time.Duration // of each agent; 0: none
	// Prompt is sent to the agents, in place of those that are kept for them: missions that
	// have ended begin another time. No parent is told.
	Prompt string
	// Watch is shown the forks after each change and each second, instead of lines that
	// say what becomes of them.
	Watch func([]Standing)
	// Check is called when a fork's agent has ended, for several forks at the same time;
	// its fork has ended once it returns. What it returns is said behind the fork's name.
	// nil: there is nothing to check.
	Check func(context.Context, missions.Mission) (said string)
}

// Standing is the state of a background fork.
type Standing struct {
	Mission string
	Checks  bool // its agent has ended, and the check runs
	Ended   bool
	Begun   time.Time // its agent; zero if it has not
	Said    string    // how it ended, else what it waits for
}

// Await has the agents of forks answer the prompts that are kept for them, and waits for
// the ends of all. An agent that works already, under a keeper that another command has
// started, is waited for too. stopped says that the user has interrupted that.
func Await(c *call.Call, svc missions.Service, caller missions.Caller, b Background) (outcomes []Outcome, stopped bool) {
	r := &run{
		c: c, svc: svc, caller: caller, keepers: keepers{c: c, timeout: b.Timeout, prompt: b.Prompt}, timeout: b.Timeout,
		watch: b.Watch, check: b.Check, lines: c.Err, heard: newMailbox(),
	}
	r.all(b.Missions)
	for _, f := range r.forks {
		outcomes = append(outcomes, f.outcome)
	}
	return outcomes, r.stopped
}

// IsGood reports whether the agent has answered, and ended well.
func (o Outcome) IsGood() bool { return o.isGood() }

// run is background forks that one command waits for.
type run struct {
	c       *call.Call
	svc     missions.Service
	caller  missions.Caller
	keepers keepers
	timeout time.Duration
	watch   func([]Standing)
	check   func(context.Context, missions.Mission) string
	heard   *mailbox
	lines   *print.Printer // for what has become of a fork; nil for nowhere

	forks   []*background // in their order
	started int
	stopped bool // by the user
}

// background is one fork of a run.
type background struct {
	mission missions.Mission // as it was made
	cmd     *exec.Cmd        // its keeper, nil before it was started
	said    string           // by its keeper: why it ends, else the last line
	begun   time.Time        // its agent; zero if it has not
	ended   bool
	outcome Outcome

	isFollowed bool   // another command has started its keeper
	isChecked  bool   // its agent has ended, and the check has not
	verdict    string // what the check has said
}

// all starts the keepers in their order, each when the one before has launched its agent
// or has ended, and reports each end. So one alone waits for its turn.
func (r *run) all(list []missions.Mission) {
	for _, m := range list {
		o := Outcome{Mission: m.Name, ID: m.ID, Workspace: m.Workspace, Ended: EndedNotBegun, PromptKept: r.keepers.prompt == ""}
		r.forks = append(r.forks, &background{mission: m, outcome: o})
	}
	interrupted := r.c.Context.Done()
	var impatient, tick <-chan time.Time // nil before the user has interrupted; where nobody watches
	if r.watch != nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		r.startNext()
		r.show()
		if !r.living() && (r.stopped || r.started == len(r.forks)) {
			return
		}
		select {
		case <-tick:
		case <-r.heard.more:
			for _, e := range r.heard.takeAll() {
				r.take(e)
			}
		case <-interrupted:
			interrupted, impatient, r.stopped = nil, time.After(stopPatience), true
			r.terminate()
		case <-impatient:
			r.stop()
		}
	}
}

// show shows how the forks stand to whoever watches.
func (r *run) show() {
	if r.watch == nil {
		return
	}
	list := []Standing{}
	for _, b := range r.forks {
		list = append(list, Standing{Mission: b.mission.Name, Checks: b.isChecked, Ended: b.ended, Begun: b.begun, Said: r.standing(b)})
	}
	r.watch(list)
}

// standing is what is to be said of a fork now.
func (r *run) standing(b *background) string {
	switch {
	case !b.ended:
		return b.said
	case b.verdict != "":
		return b.outcome.How(r.timeout) + ", " + b.verdict
	}
	return b.outcome.How(r.timeout)
}

// say says what becomes of forks, unless somebody watches.
func (r *run) say(format string, args ...any) {
	if r.watch == nil {
		r.c.Notice(format, args...)
	}
}

// startNext starts the next keeper if none waits for its agent's launch.
func (r *run) startNext() {
	for !r.stopped && r.started < len(r.forks) {
		if r.started > 0 {
			if last := r.forks[r.started-1]; last.begun.IsZero() && !last.ended {
				return
			}
		}
		b := r.forks[r.started]
		r.started++
		if r.follows(b) {
			continue
		}
		var err error
		if b.cmd, err = r.keepers.start(b.mission, r.heard); err == nil {
			return
		}
		b.ended, b.said = true, err.Error()
		r.finish(b, call.CodeBeforeAgent, r.c.Now())
		r.startCheck(b)
	}
}

// follows reports whether a fork is not to be started: its agent has ended, or it works
// and its end is waited for.
func (r *run) follows(b *background) bool {
	switch {
	case b.mission.PromptKept || r.keepers.prompt != "":
		return false
	case b.mission.State == missions.StateClosed:
		b.ended, b.begun, b.isFollowed = true, b.mission.StateSince, true
		b.outcome.follow(b.mission)
		r.look(b)
		r.startCheck(b)
		return true
	}
	b.begun, b.isFollowed = b.mission.StateSince, true
	ctx := context.WithoutCancel(r.c.Context)
	go func() {
		_, err := r.svc.Wait(ctx, missions.WaitRequest{Caller: r.caller, Missions: []string{b.mission.ID}, States: []missions.StateName{missions.StateClosed}})
		e := keeperEvent{mission: b.mission.ID, at: r.c.Now(), ended: true}
		if err != nil {
			e.code, e.line = missions.AsError(err).Kind.ExitCode(), errorPrefix+missions.AsError(err).Message
		}
		r.heard.put(e)
	}()
	return true
}

// startCheck has a fork checked whose agent has ended, beside the other forks.
func (r *run) startCheck(b *background) {
	if r.check == nil || r.stopped {
		return
	}
	b.isChecked = true
	go func() {
		said := r.check(r.c.Context, b.mission)
		r.heard.put(keeperEvent{mission: b.mission.ID, at: r.c.Now(), line: said, checked: true})
	}()
}

// follow takes over how the agent of a mission has ended.
func (o *Outcome) follow(m missions.Mission) {
	if o.Ended, o.PromptKept, o.ExitCode = EndedKilled, m.PromptKept, m.ExitCode; m.ExitCode != nil {
		o.Ended = EndedByItself
	}
}

// living reports whether a keeper, or the check of a fork, has not ended.
func (r *run) living() bool {
	for _, b := range r.forks[:r.started] {
		if !b.ended || b.isChecked {
			return true
		}
	}
	return false
}

// errorPrefix begins the line in which a command of Umbra's says why it ends.
const errorPrefix = "umbra: "

// take takes in what a keeper says. Its first words of its mission's id say that it has
// launched the agent, which prints elsewhere.
func (r *run) take(e keeperEvent) {
	for _, b := range r.forks {
		switch {
		case b.mission.ID != e.mission:
		case e.checked:
			if b.isChecked, b.verdict = false, e.line; e.line != "" {
				r.say("%s %s", b.mission.Name, e.line)
			}
		case e.ended:
			if b.ended = true; e.line != "" {
				b.hear(e.line)
			}
			r.finish(b, e.code, e.at)
			r.startCheck(b)
		case b.begun.IsZero() && strings.HasPrefix(e.line, b.mission.ID+" "):
			b.begun, b.said = e.at, ""
			r.say("%s has begun", b.mission.Name)
		default:
			b.hear(e.line)
			if b.begun.IsZero() {
				r.say("%s %s%s", b.mission.Name, e.line, r.afterThis())
			} else if note, isNote := strings.CutPrefix(e.line, "note: "); isNote {
				b.outcome.Notes = append(b.outcome.Notes, note)
				r.say("%s: %s", b.mission.Name, e.line)
			}
		}
	}
}

// hear remembers a line of the keeper. A hint comes after the error that counts.
func (b *background) hear(line string) {
	if !strings.HasPrefix(b.said, errorPrefix) {
		b.said = line
	}
}

// afterThis counts the forks that have not been started yet.
func (r *run) afterThis() string {
	switch n := len(r.forks) - r.started; n {
	case 0:
		return ""
	case 1:
		return "; 1 more comes after it"
	default:
		return "; " + missions.Itoa(n) + " more come after it"
	}
}

// stopPatience is how long agents have to end after Ctrl-C.
const stopPatience = 5 * time.Second

// terminate ends the keepers that wait for their turn, and the agents of the others,
// which their keepers pass it on to. What another command has started goes on: it may be
// an agent that its user types to.
func (r *run) terminate() {
	for _, b := range r.forks[:r.started] {
		switch {
		case b.ended:
		case b.isFollowed:
			b.ended, b.outcome.Ended = true, EndedGoesOn
			r.say("%s goes on", b.mission.Name)
		default:
			_ = b.cmd.Process.Signal(syscall.SIGTERM) // one that has ended since is heard of
		}
	}
}

// stop ends the agents that are still there, as umbra mission stop does.
func (r *run) stop() {
	ctx := context.WithoutCancel(r.c.Context)
	for _, b := range r.forks[:r.started] {
		if b.ended {
			continue
		}
		_, err := r.svc.Stop(ctx, missions.StopRequest{Caller: r.caller, Missions: []string{b.mission.ID}})
		if err != nil {
			r.c.Notice("note: the agent of %s could not be ended: %s", b.mission.Name, missions.AsError(err).Message)
		}
	}
}
