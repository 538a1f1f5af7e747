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
}

// Ending is how a background fork has ended.
type Ending string

// The endings of background forks.
const (
	EndedByItself Ending = "exit"
	EndedTimeout  Ending = "timeout"
	EndedStopped  Ending = "stopped"   // with the command that had begun it
	EndedNotBegun Ending = "not_begun" // its prompt is kept
)

// isGood reports whether the agent has answered, and ended well.
func (o Outcome) isGood() bool {
	return o.Ended == EndedByItself && o.ExitCode != nil && *o.ExitCode == 0
}

// finish takes in the end of a fork's keeper, which has this exit code, and reports it.
func (r *run) finish(b *background, code int) {
	o, took := &b.outcome, r.c.Now().Sub(b.begun)
	switch {
	case b.begun.IsZero():
		o.Problem = strings.TrimPrefix(b.said, "umbra: ")
	case r.timeout > 0 && took >= r.timeout && code == missions.KindTimeout.ExitCode():
		o.Ended = EndedTimeout
	case r.stopped && code != 0:
		o.Ended = EndedStopped
	default:
		o.Ended, o.ExitCode = EndedByItself, &code
	}
	if !b.begun.IsZero() {
		o.Seconds = math.Round(took.Seconds()*10) / 10
		r.look(b)
	}
	if !r.c.JSON {
		r.c.EndProgress()
		writeOutcome(r.c.Out, *o, r.timeout)
		_ = r.c.Out.Flush() // the others go on
	}
}

// look gathers what the fork has done.
func (r *run) look(b *background) {
	ctx, o := context.WithoutCancel(r.c.Context), &b.outcome
	m, err := r.svc.Mission(ctx, missions.MissionRequest{Caller: r.caller, Name: b.mission.ID})
	if err == nil {
		o.Address, o.Output, o.Turns = m.HeadAddress, m.Output, m.Turn-b.mission.Turn
		var d missions.Difference
		if d, err = r.svc.Diff(ctx, missions.DiffRequest{Caller: r.caller, From: r.made.Source.ID, To: m.Head}); err == nil {
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

// lastAnswer is what the agent has said last.
func lastAnswer(lines []missions.ConversationLine) (answer string) {
	for _, line := range lines {
		if line.Role == "assistant" {
			answer = line.Text
		}
	}
	return answer
}

// writeOutcome is a line for a fork that has ended, and the beginning of its answer.
func writeOutcome(p *print.Printer, o Outcome, timeout time.Duration) {
	how := "has answered"
	switch {
	case o.Ended == EndedNotBegun:
		how = "has not begun"
	case o.Ended == EndedTimeout:
		how = "was ended after " + timeout.String()
	case o.Ended == EndedStopped:
		how = "was stopped"
	case !o.isGood():
		how = "ended with exit code " + missions.Itoa(*o.ExitCode)
	}
	line := print.Clean(o.Mission) + " " + how
	if o.Ended != EndedNotBegun {
		took := time.Duration(o.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
		line += ": " + print.Count(o.Turns, "turn") + ", " + took.String() + ", " + print.Count(o.Files, "file") + " changed"
	}
	p.Line("%s", line)
	first, _, _ := strings.Cut(strings.TrimSpace(o.Answer), "\n")
	for _, more := range []string{first, o.Problem} {
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
