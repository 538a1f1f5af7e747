package fixes

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/findings"
	"github.com/umbra-vcs/umbra/missions/fixes"
)

// result is what --json prints.
type result struct {
	Attempts []resultAttempt    `json:"attempts"`
	Left     []findings.Finding `json:"left"`
	Stopped  fixes.Stop         `json:"stopped"` // "" where it was cut off
}

type resultAttempt struct {
	Snapshot string             `json:"snapshot"` // taken before it
	Address  string             `json:"address"`
	Issues   []findings.Finding `json:"issues"` // that the agent was handed
}

func resultOf(f *fixes.Fix) result {
	r := result{Attempts: []resultAttempt{}, Left: call.Listed(f.Left), Stopped: f.Stopped}
	for _, a := range f.Attempts {
		r.Attempts = append(r.Attempts, resultAttempt{Snapshot: a.Snapshot, Address: a.Address, Issues: a.Issues})
	}
	return r
}

// tellFixed says that the check passes. Nothing waits any more.
func (w *world) tellFixed(f *fixes.Fix) error {
	if err := fixes.Remove(w.file()); err != nil {
		return err
	}
	return w.c.Print(resultOf(f), func(p *print.Printer) {
		good := print.Clean(w.mission.Name) + " passes its check"
		if f.Reviewer != "" {
			good = print.Clean(f.Reviewer) + " finds nothing wrong in " + print.Clean(w.mission.Name)
		}
		if len(f.Attempts) == 0 {
			p.Line("%s: there is nothing to fix", good)
			return
		}
		p.Line("%s after %s", good, print.Count(len(f.Attempts), "attempt"))
		writeAttempts(p, f)
		p.Line("to take it back: umbra restore %s", print.Clean(f.Attempts[0].Address))
	})
}

// writeAttempts lists the moments before the attempts.
func writeAttempts(p *print.Printer, f *fixes.Fix) {
	var t print.Table
	for i, a := range f.Attempts {
		what := print.Count(len(a.Issues), "finding") + " of severity " + string(a.Severity)
		if a.Problem != "" {
			what += "; the agent " + a.Problem
		}
		t.Row(print.Plain.Cell(fmt.Sprintf("attempt %d", i+1)), print.Plain.Cell("after "+print.Clean(a.Address)), print.Dim.Cell(print.Clean(what)))
	}
	t.Print(p, "  ")
}

// why says why the loop has stopped.
func why(f *fixes.Fix) string {
	severity, _ := findings.Worst(f.Left)
	switch f.Stopped {
	case fixes.StopLimit:
		if len(f.Attempts) >= f.Limits.Total {
			return fmt.Sprintf("there may be no more than %s (--max-total)", print.Count(f.Limits.Total, "attempt"))
		}
		return fmt.Sprintf("there may be no further attempt at what is %s (--max)", severity)
	case fixes.StopNoProgress:
		return "the last attempt has changed nothing of it"
	case fixes.StopFixed:
		return "nothing is found any more"
	case fixes.StopAgent:
		return "the agent " + f.Attempts[len(f.Attempts)-1].Problem
	}
	return "it was " + cutOff(f)
}

// cutOff says where a loop ended that did not stop.
func cutOff(f *fixes.Fix) string {
	if len(f.Attempts) == 0 {
		return "cut off in its first review"
	}
	return fmt.Sprintf("cut off in attempt %d", len(f.Attempts))
}

// writeWaiting says what was tried, and what is left.
func writeWaiting(p *print.Printer, m missions.Mission, f *fixes.Fix) {
	p.Line("%s: after %s %s left: %s", print.Clean(m.Name), print.Count(len(f.Attempts), "attempt"), areFindings(len(f.Left)), print.Clean(why(f)))
	writeAttempts(p, f)
	const most = 20
	var t print.Table
	for _, one := range f.Left[:min(len(f.Left), most)] {
		t.Row(print.Plain.Cell(string(one.Severity)), print.Plain.Cell(print.Clean(one.Place())), print.Dim.Cell(print.Clean(missions.PromptLine(one.Message))))
	}
	p.Line("left:")
	t.Print(p, "  ")
	if more := len(f.Left) - most; more > 0 {
		p.Line("  … and %d more", more)
	}
}

func areFindings(n int) string {
	if n == 1 {
		return "1 finding is"
	}
	return print.Count(n, "finding") + " are"
}

// The letters of the menu.
const (
	letterAccept = "a"
	letterReject = "r"
	letterView   = "v"
	letterMore   = "o"
	letterManual = "m"
)

// gaveUp says what is left, and asks what becomes of it. again says that its user allows one
// more attempt. Where nobody can be asked, it waits.
func (w *world) gaveUp(ctx context.Context, f *fixes.Fix) (again bool, err error) {
	if err := w.c.Print(resultOf(f), func(p *print.Printer) { writeWaiting(p, w.mission, f) }); err != nil {
		return false, err
	}
	name := w.mission.Name
	if !w.c.CanAsk() {
		if !w.c.JSON {
			w.c.Notice("umbra fix --continue %[1]s makes one more attempt, --abort leaves the files as they are, --reject puts them back", name)
		}
		return false, call.Partly
	}
	answers := []call.Answer{{letterAccept, "accept: leave the files as they are"}}
	if len(f.Attempts) > 0 {
		answers = append(answers, call.Answer{letterReject, "reject: put all back as it was before the first attempt"},
			call.Answer{letterView, "view what the attempts have changed"})
	}
	answers = append(answers, call.Answer{letterMore, "one more attempt"},
		call.Answer{letterManual, "manual: it waits for you to go on with umbra fix --continue " + print.Clean(name)})
	for {
		letter, err := w.c.Ask("What is to become of it?", answers...)
		switch {
		case err != nil:
			return false, err
		case letter == letterAccept || letter == letterReject:
			return false, w.end(ctx, f, letter == letterReject)
		case letter == letterMore:
			return true, nil
		case letter == letterManual:
			return false, call.Partly
		}
		if err := w.view(ctx, f); err != nil {
			return false, err
		}
	}
}

// view shows what the attempts have changed.
func (w *world) view(ctx context.Context, f *fixes.Fix) error {
	d, err := w.svc.Diff(ctx, missions.DiffRequest{Caller: w.caller, From: f.Attempts[0].Snapshot, Patch: true})
	if err != nil {
		return err
	}
	err = w.c.Paged("diff", func(p *print.Printer) { print.WritePatch(p, d.From, d.Files, d.Patch) })
	if err == nil { // a pager gives the Service back
		w.svc, err = w.c.Service()
	}
	return err
}

// end drops what waits; rejected puts the moment before the first attempt back.
func (w *world) end(ctx context.Context, f *fixes.Fix, rejected bool) error {
	name := print.Clean(w.mission.Name)
	if err := w.endReview(ctx, f); err != nil {
		return err
	}
	if n := len(f.Attempts); n > 0 && !f.Attempts[n-1].Ended {
		m, err := w.svc.Mission(ctx, missions.MissionRequest{Caller: w.caller, Name: f.FixerMission()})
		switch {
		case err == nil && !m.IsUnmanned():
			return missions.Errorf(missions.KindBusy, fmt.Sprintf("umbra mission stop %s ends it, umbra fix --continue %s waits for it", m.Name, w.mission.Name),
				"the agent of %s works at attempt %d", m.Name, n)
		case err != nil && missions.AsError(err).Kind != missions.KindNotFound:
			return err
		}
	}
	if !rejected || len(f.Attempts) == 0 || f.Attempts[0].Snapshot == "" {
		if err := fixes.Remove(w.file()); err != nil {
			return err
		}
		return w.c.TellDone(resultOf(f), func(p *print.Printer) { p.Line("umbra fix of %s is dropped; the files are as they are", name) })
	}
	first := f.Attempts[0]
	done, err := w.svc.Restore(ctx, missions.RestoreRequest{Caller: w.caller, Moment: first.Snapshot, Mission: w.mission.ID, All: true})
	if err != nil {
		e := *missions.AsError(err)
		e.Hint = fmt.Sprintf("umbra restore %s puts it back and asks, then umbra fix --abort %s", first.Address, w.mission.Name)
		return &e
	}
	if err := fixes.Remove(w.file()); err != nil {
		return err
	}
	err = w.c.TellDone(resultOf(f), func(p *print.Printer) {
		p.Line("%s is as it was before the first attempt; to take that back: umbra undo %s", name, name)
		print.WriteKept(p, "left as they are", done.Kept)
	})
	if err == nil && len(done.Kept)+len(done.Displaced) > 0 {
		return call.Partly
	}
	return err
}
