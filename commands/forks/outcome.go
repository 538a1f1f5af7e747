package forks

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Outcome is what became of one background fork, as --json prints it.
type Outcome struct {
	Mission   string  `json:"mission"`
	ID        string  `json:"id"`
	Address   string  `json:"address,omitempty"` // of its newest snapshot
	Workspace string  `json:"workspace"`
	Ended     Ending  `json:"ended"`
	ExitCode  *int    `json:"exit_code,omitempty"` // the agent's
	Turns     int     `json:"turns"`
	Seconds   float64 `json:"seconds"`
	Files     int     `json:"files"` // that differ from the moment of the fork
	Answer    string  `json:"answer,omitempty"`
	Output    string  `json:"output,omitempty"` // the file that the agent has printed to
	Problem   string  `json:"problem,omitempty"`
	// Notes are what its keeper could not do beside, as to tell the parent's agent.
	Notes []string `json:"notes,omitempty"`

	PromptKept bool `json:"prompt_kept,omitempty"` // no agent has taken it

	unanswered bool // no agent has taken the prompt, which is not kept
}

// Ending is how a background fork has ended.
type Ending string

// The endings of background forks.
const (
	EndedByItself Ending = "exit"
	EndedTimeout  Ending = "timeout"
	EndedStopped  Ending = "stopped"   // with the command that had begun it
	EndedNotBegun Ending = "not_begun" // it was not started
	EndedKilled   Ending = "killed"    // its keeper was, and nobody knows how its agent ended
	EndedGoesOn   Ending = "goes_on"   // it has not: the command alone that waited for it
)

// isGood reports whether the agent has answered, and ended well.
func (o Outcome) isGood() bool { return o.isWell() && !o.PromptKept && !o.unanswered }

// isWell reports whether the agent calls its own end a good one.
func (o Outcome) isWell() bool {
	return o.Ended == EndedByItself && o.ExitCode != nil && *o.ExitCode == 0
}

// finish takes in the end of a fork's keeper, which has this exit code, and reports it. A
// keeper that says why it ends has the exit code of that, and none of its agent.
func (r *run) finish(b *background, code int, at time.Time) {
	o, begun := &b.outcome, !b.begun.IsZero()
	problem, fails := strings.CutPrefix(b.said, errorPrefix)
	switch {
	case begun && fails && code == missions.KindTimeout.ExitCode():
		o.Ended = EndedTimeout
	case begun && r.stopped && code != 0:
		o.Ended = EndedStopped
	case code < 0 && !r.stopped:
		if o.Problem = "its keeper was killed"; begun {
			o.Ended = EndedKilled
		}
	case !begun || fails:
		o.Problem = problem
	case b.isFollowed:
		r.lookFollowed(b)
	default:
		o.Ended, o.ExitCode = EndedByItself, &code
	}
	if o.Ended != EndedNotBegun {
		o.Seconds = math.Round(at.Sub(b.begun).Seconds()*10) / 10
		r.look(b)
	}
	if r.lines != nil && r.watch == nil {
		r.c.EndProgress()
		WriteOutcome(r.lines, *o, r.timeout)
		_ = r.lines.Flush() // the others go on
	}
}

// lookFollowed finds out how an agent has ended whose keeper another command has started.
func (r *run) lookFollowed(b *background) {
	m, err := r.svc.Mission(context.WithoutCancel(r.c.Context), missions.MissionRequest{Caller: r.caller, Name: b.mission.ID})
	if b.outcome.follow(m); err != nil {
		b.outcome.Problem = missions.AsError(err).Message
	}
}

// look gathers what the fork has done.
func (r *run) look(b *background) {
	ctx, o := context.WithoutCancel(r.c.Context), &b.outcome
	m, err := r.svc.Mission(ctx, missions.MissionRequest{Caller: r.caller, Name: b.mission.ID})
	if err == nil {
		o.Address, o.Output, o.Turns, o.PromptKept = m.HeadAddress, m.Output, m.Turn-r.turnBefore(ctx, b), m.PromptKept
		o.unanswered = r.keepers.prompt != "" && o.Turns <= 0
		var d missions.Difference
		if d, err = r.svc.Diff(ctx, missions.DiffRequest{Caller: r.caller, From: r.beginOf(b.mission), To: m.Head}); err == nil {
			o.Files = len(d.Files)
		}
	}
	if err == nil && o.Turns > 0 {
		var shown missions.ShowResult
		if shown, err = r.svc.Show(ctx, missions.ShowRequest{Caller: r.caller, Moment: m.Head, Brief: true}); err == nil {
			o.Answer = lastAnswer(shown.Conversation)
		}
	}
	if err != nil {
		o.Problem = missions.AsError(err).Message
	}
}

// turnBefore is the turn of a fork that its own turns are counted from. One that another
// command has begun has had some already.
func (r *run) turnBefore(ctx context.Context, b *background) int {
	if b.isFollowed && b.mission.Parent != nil {
		at, err := r.svc.Show(ctx, missions.ShowRequest{Caller: r.caller, Moment: b.mission.Parent.Snapshot, Brief: true})
		if err == nil {
			return at.Entry.Turn
		}
	}
	return b.mission.Turn
}

// beginOf is the snapshot that a mission's work is counted from.
func (r *run) beginOf(m missions.Mission) string {
	if m.Parent == nil || r.keepers.prompt != "" {
		return m.Head
	}
	return m.Parent.Snapshot
}

// lastAnswer is what the agent has said last.
func lastAnswer(lines []missions.ConversationLine) (answer string) {
	for _, line := range lines {
		if line.Role == "assistant" {
			answer = line.Text
		}
	}
	return answer
}

// How says how the fork has ended; timeout is that of its agent.
func (o Outcome) How(timeout time.Duration) string {
	switch {
	case o.Ended == EndedNotBegun:
		return "has not begun"
	case o.Ended == EndedTimeout:
		return "was ended after " + timeout.String()
	case o.Ended == EndedStopped:
		return "was stopped"
	case o.Ended == EndedGoesOn:
		return "goes on"
	case o.Ended == EndedKilled:
		return "is not kept any more"
	case !o.isWell():
		return "ended with exit code " + missions.Itoa(*o.ExitCode)
	case !o.isGood():
		return "ended without an answer"
	}
	return "has answered"
}

// WriteOutcome is a line for a fork that has ended, and the beginning of its answer.
func WriteOutcome(p *print.Printer, o Outcome, timeout time.Duration) {
	line := print.Clean(o.Mission) + " " + o.How(timeout)
	if o.Ended != EndedNotBegun && o.Ended != EndedGoesOn {
		line += ": " + print.Count(o.Turns, "turn") + ", "
		if o.Seconds > 0 { // else another command has seen its end
			line += time.Duration(o.Seconds*float64(time.Second)).Round(100*time.Millisecond).String() + ", "
		}
		line += print.Count(o.Files, "file") + " changed"
	}
	p.Line("%s", line)
	first, _, _ := strings.Cut(strings.TrimSpace(o.Answer), "\n")
	resume := ""
	if o.PromptKept {
		resume = "to send its prompt: umbra mission resume " + o.Mission
	}
	for _, more := range []string{first, o.Problem, resume} {
		if more != "" {
			p.Line("  %s", print.Clean(more))
		}
	}
}

// report says how all have ended.
func (r *run) report() error {
	outcomes, left, good := []Outcome{}, []string{}, 0
	for _, b := range r.forks {
		outcomes = append(outcomes, b.outcome)
		switch {
		case b.outcome.isGood():
			good++
		case b.outcome.Ended == EndedNotBegun && b.cmd == nil && r.stopped:
			left = append(left, b.mission.Name)
		}
	}
	if r.c.JSON {
		if err := r.c.PrintJSON(outcomes); err != nil {
			return err
		}
	}
	switch {
	case r.stopped:
		hint := "umbra mission ls shows them, umbra mission resume goes on with one"
		if len(left) > 0 {
			hint = "not begun, and their prompts are kept: " + strings.Join(left, ", ") + "\n" + hint
		}
		return missions.Errorf(missions.KindInterrupted, hint, "interrupted: %d of %s ended well", good, print.Count(len(outcomes), "fork"))
	case good < len(outcomes):
		return call.Partly
	}
	return nil
}
