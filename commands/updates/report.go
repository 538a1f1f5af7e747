// Package updates has the verbs around what missions tell the agents of others: a fork's
// report, and the list of what waits.
package updates

import (
	"io"
	"strings"
	"unicode"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

// Report is the verb fork report.
func Report() *call.Verb {
	var stay bool
	return &call.Verb{
		Name: "report", Args: "[FORK] [TEXT]", Max: 2, Short: "tell the agent of a fork's parent what the fork has found",
		Long: `Queues TEXT for the mission that the fork was made from, whose agent is given it with
its next prompt, once, as another agent's words. Without TEXT it is the last answer
of the fork's agent; - reads it from stdin. A single argument without white space is
the fork; without one it is the mission of this directory or agent. A side fork is left
then, as by umbra fork exit; any other fork stays as it is. What is too long for a prompt
is cut there, and says where the whole of it is. Text that looks like a secret is left out.`,
		Flags: []flags.Flag{flags.Bool("stay", "stay in the side fork", &stay)},
		Run:   func(c *call.Call) error { return runReport(c, stay) },
	}
}

// reported is a report that was queued, and the side fork that is left then.
type reported struct {
	missions.ReportResult
	Left *missions.SideForkResult `json:"left,omitempty"`
}

func runReport(c *call.Call, stay bool) error {
	r, err := reportRequest(c)
	if err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r.Caller, r.ID = caller, missions.NewRequestID()
	done := reported{}
	done.ReportResult, err = svc.Report(ctx, r)
	if err != nil {
		e := missions.AsError(err)
		if e.Kind == missions.KindNotFound && r.Text == "" && r.Fork != "" {
			return missions.Errorf(e.Kind, e.Hint+"; if that is the text: umbra fork report FORK "+r.Fork, "%w", err)
		}
		return err
	}
	if m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: done.Update.FromID}); err == nil && m.SideForkOf != "" && !stay {
		left, err := svc.LeaveFork(ctx, missions.LeaveForkRequest{Caller: caller, Fork: m.ID})
		if err != nil {
			e := missions.AsError(err)
			c.Notice("it is reported; the side fork is not left: %s (%s)", e.Message, e.Hint)
		} else if done.Left = &left; left.Resume == "" && !left.Beside {
			done.State = missions.StateIdle // its agent is there again then
		}
	}
	return c.TellDone(done, func(p *print.Printer) {
		WriteReported(p, done.ReportResult)
		if done.Left != nil {
			wording.SideForkLeft(p, *done.Left)
		}
	})
}

// reportRequest reads the arguments: a fork, a text, or both.
func reportRequest(c *call.Call) (r missions.ReportRequest, err error) {
	r.Fork, r.Text = c.Arg(0), c.Arg(1)
	if len(c.Arguments) == 1 && (r.Fork == "-" || strings.ContainsFunc(r.Fork, unicode.IsSpace)) {
		r.Fork, r.Text = "", r.Fork
	}
	if r.Text == "-" {
		p, err := io.ReadAll(io.LimitReader(c.Stdin, missions.MaxUpdateBytes+1))
		if err != nil {
			return r, missions.Errorf(missions.KindFailed, "", "read the report from stdin: %w", err)
		}
		r.Text = string(p)
	} else if r.Text == "" {
		return r, nil
	}
	if strings.TrimSpace(r.Text) == "" {
		return r, missions.Errorf(missions.KindUsage, "leave it out to report the last answer of the fork's agent", "the report has no text")
	}
	return r, nil
}

// mostShown is how many lines of a report are shown to who reports it.
const mostShown = 8

// WriteReported prints what was reported, and when the parent's agent is told it.
func WriteReported(p *print.Printer, r missions.ReportResult) {
	u := r.Update
	p.Line("%s reports to %s:", print.Clean(u.From), print.Clean(u.Mission))
	writeText(p, u.Text, mostShown)
	to := print.Clean(u.Mission)
	switch {
	case r.Untold != "":
		p.Folded("it waits there: " + print.Clean(r.Untold) + "; umbra updates " + to + " shows it")
	case r.State == missions.StateClosed:
		p.Folded("it waits until " + to + " goes on: umbra mission resume " + to)
	default:
		p.Folded("its agent is given it with the next prompt; until then: umbra updates " + to)
	}
}

// writeText prints an update's text, or its first lines.
func writeText(p *print.Printer, text string, most int) {
	lines := strings.Split(print.CleanLines(text), "\n")
	for i, line := range lines {
		if most > 0 && i == most && len(lines) > most+1 {
			p.Line("  … and %s more", print.Count(len(lines)-most, "line"))
			return
		}
		p.Line("%s", strings.TrimRight("  "+line, " "))
	}
}
