// Package fixes is the verb that has an agent mend what a check finds. The check runs in this
// process, the agent under a keeper of its own, and missions/fixes says what comes next.
package fixes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/checks"
	"github.com/umbra-vcs/umbra/missions/fixes"
	"github.com/umbra-vcs/umbra/missions/home"
)

type fixOptions struct {
	check, reviewer  string
	fixer, most      string
	total            int
	backoff, timeout time.Duration
	goesOn, status   bool
	abort, reject    bool
}

// defaultBackoff is the pause before the second attempt.
const defaultBackoff = time.Second

// Fix is `umbra fix`.
func Fix() *call.Verb {
	o := fixOptions{backoff: defaultBackoff}
	return &call.Verb{
		Name: "fix", Args: "[MISSION]", Max: 1, Short: "have an agent mend what a check or a reviewer finds, in attempts that can be taken back",
		Long: `Runs the check in the mission's workspace and, while it does not pass, hands the
mission's agent what it found, without a terminal. What was found is read from SARIF, from
a list of {"severity", "message", "file", "line", "suggestion"}, or from the lines of
compilers and linters; else the end of the output is. With --reviewer an agent looks at what
the mission has changed, in a copy of the workspace, instead of a check, and again after
each attempt. The worst findings come first. Each attempt begins with a snapshot. It ends
when nothing is found any more, after so many attempts, when an attempt has changed nothing
of what was found, or when the agent fails. Then it asks, or off a terminal says what is
left (exit code 3); --continue makes one more attempt, --abort leaves the files as they are,
--reject puts all back as it was before.`,
		Flags: []flags.Flag{
			flags.String("check", "run `COMMAND` in the workspace: is it good?", &o.check),
			flags.String("reviewer", "instead, have an `AGENT` review what was changed: "+missions.AgentNames, &o.reviewer),
			flags.String("max", "attempts at findings of a severity: `LIST` (low=5,medium=3,high=1,critical=0)", &o.most),
			flags.Int("max-total", "`N` attempts in all (10)", &o.total),
			flags.Duration("backoff", "wait `DURATION` before the second attempt, twice as long before each further one", &o.backoff),
			flags.String("fixer", "another `AGENT`, in a mission of its own in the same workspace: "+missions.AgentNames, &o.fixer),
			flags.Duration("timeout", "end the agent, or the reviewer, `DURATION` after its start", &o.timeout),
			flags.Bool("continue", "go on with what was interrupted or killed, or make one more attempt", &o.goesOn),
			flags.Bool("status", "show what waits", &o.status),
			flags.Bool("abort", "drop what waits; the files stay as they are", &o.abort),
			flags.Bool("reject", "drop what waits, and restore the moment before the first attempt", &o.reject),
		},
		Run: func(c *call.Call) error { return runFix(c, o) },
	}
}

// verify refuses what contradicts itself, and reads the limits.
func (o fixOptions) verify() (limits fixes.Limits, err error) {
	usage := func(hint, format string, args ...any) error {
		return missions.Errorf(missions.KindUsage, hint, format, args...)
	}
	waits := 0
	for _, is := range []bool{o.goesOn, o.status, o.abort, o.reject} {
		if is {
			waits++
		}
	}
	said := o.check != "" || o.reviewer != "" || o.fixer != "" || o.most != "" || o.total != 0 || o.backoff != defaultBackoff || o.timeout != 0
	limits = fixes.DefaultLimits()
	switch {
	case waits > 1:
		return limits, usage("choose one", "--continue, --status, --abort and --reject contradict each other")
	case waits == 1 && said:
		return limits, usage("leave out what was said then", "what waits goes on, or ends, as it was begun")
	case waits == 1:
		return limits, nil
	case o.check == "" && o.reviewer == "":
		return limits, usage(`umbra fix --check "go vet ./..."; or --reviewer claude`, "umbra fix needs a check or a reviewer, which says what is wrong")
	case o.check != "" && o.reviewer != "":
		return limits, usage("one after the other: first the check, then the reviewer", "--check and --reviewer contradict each other")
	case o.total < 0:
		return limits, usage("give a number of attempts", "--max-total is %d", o.total)
	case o.backoff < 0:
		return limits, usage("give a time such as 10s", "--backoff is %s", o.backoff)
	case o.timeout < 0:
		return limits, usage("give a time such as 30m", "--timeout is %s", o.timeout)
	}
	if o.total > 0 {
		limits.Total = o.total
	}
	if o.most != "" {
		return limits.With(o.most)
	}
	return limits, nil
}

func runFix(c *call.Call, o fixOptions) error {
	limits, err := o.verify()
	if err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: c.Arg(0)})
	if err == nil {
		err = m.CheckOwn()
	}
	if err != nil {
		return err
	}
	dir, err := c.HomeDir()
	if err != nil {
		return err
	}
	w := &world{c: c, svc: svc, caller: caller, home: home.Home{Dir: dir}, mission: m, fixer: m.ID}
	f, err := fixes.Read(w.file())
	if err != nil {
		return err
	}
	if o.status {
		return showWaiting(c, m, f)
	}
	if c.Unwritten != nil {
		return c.Unwritten
	}
	release, err := fixes.Hold(w.file(), m.Name)
	if err != nil {
		return err
	}
	defer release()
	if f, err = fixes.Read(w.file()); err != nil { // as it is now that nobody else changes it
		return err
	}
	if _, err := checks.EndLeft(ctx, w.home, m.ID); err != nil { // of a loop that was killed
		return missions.Errorf(missions.KindFailed, cmp.Or(missions.AsError(err).Hint, "end it, then the same again"), "%w", err)
	}
	switch {
	case o.goesOn || o.abort || o.reject:
		if f == nil {
			return nothingWaits(m)
		}
		if o.abort || o.reject {
			return w.end(ctx, f, o.reject)
		}
		f.OneMore = f.OneMore || f.Stopped != "" // a killed review may have kept it
	case f != nil && f.Stopped == "":
		return missions.Errorf(missions.KindConflict, fmt.Sprintf("umbra fix --continue %[1]s goes on, umbra fix --abort %[1]s drops it", m.Name),
			"umbra fix of %s was %s", m.Name, cutOff(f))
	default:
		w.isNew, w.was = true, f
		f = &fixes.Fix{
			Mission: m.ID, Check: o.check, Reviewer: o.reviewer, Fixer: o.fixer, Limits: limits, Backoff: o.backoff, Timeout: o.timeout, BeganAt: c.Now(),
			Attempts: []fixes.Attempt{},
		}
	}
	if w.limit, err = checks.Limit(w.home, c.Getenv); err != nil {
		return err
	}
	if err := w.mayBegin(f); err != nil {
		return err
	}
	return w.run(ctx, f)
}

func nothingWaits(m missions.Mission) error {
	return missions.Errorf(missions.KindNotFound, fmt.Sprintf("umbra fix %s --check COMMAND begins", m.Name), "no umbra fix of %s waits", m.Name)
}

// showWaiting shows what waits.
func showWaiting(c *call.Call, m missions.Mission, f *fixes.Fix) error {
	if f == nil {
		return nothingWaits(m)
	}
	return c.Print(resultOf(f), func(p *print.Printer) { writeWaiting(p, m, f) })
}

// run runs the loop, and asks its user when it has stopped short.
func (w *world) run(ctx context.Context, f *fixes.Fix) error {
	for {
		if err := f.Run(ctx, w); err != nil {
			return w.failed(ctx, f, err)
		}
		if f.Stopped == fixes.StopFixed {
			return w.tellFixed(f)
		}
		again, err := w.gaveUp(ctx, f)
		if err != nil || !again {
			return err
		}
		f.OneMore = true
	}
}

// forget has the loop that waited before wait again, and nothing where none did.
func (w *world) forget() error {
	if w.was == nil {
		return fixes.Remove(w.file())
	}
	return w.Save(w.was)
}

// failed says how what could not go on can go on.
func (w *world) failed(ctx context.Context, f *fixes.Fix, err error) error {
	if len(f.Attempts) == 0 && w.isNew {
		if f.Reviewer != "" && f.ReviewID == "" { // nothing of it is left to go on with
			err = errors.Join(err, w.forget())
		}
		if ctx.Err() != nil {
			return missions.Errorf(missions.KindInterrupted, "the same command begins anew", "interrupted: nothing was changed")
		}
		return err
	}
	hint := fmt.Sprintf("umbra fix --continue %s", w.mission.Name)
	if ctx.Err() != nil {
		return missions.Errorf(missions.KindInterrupted, hint, "interrupted: it was %s", cutOff(f))
	}
	e := *missions.AsError(err)
	if e.Hint != "" {
		hint = e.Hint + "\n" + hint
	}
	e.Hint = hint
	return &e
}
