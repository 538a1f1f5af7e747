// Package merges is the verb that merges missions. A check runs in this process's own
// time, outside of the Service: no lock is held meanwhile.
package merges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type mergeOptions struct {
	request               missions.MergeRequest
	auto, driver          string
	resolve, show         flags.List
	timeout               time.Duration
	goesOn, abort, status bool
}

// Merge is `umbra merge`.
func Merge() *call.Verb {
	var o mergeOptions
	return &call.Verb{
		Name: "merge", Args: "[FORK…]", Max: call.AnyNumber, Short: "bring what forks did into another mission, path by path",
		Long: `Merges the files of missions as git does, from the newest moment that they have in
common, several one after the other. Each path is low (one side alone changed it, or both
alike: taken), medium (each changed it, Git merged that: taken if the check passes), high
(the same lines) or critical (deleted, no text, links): what is open you are asked, or
choose by --resolve, and --continue ends it; --merger has an agent propose it first.
Nothing is changed before all is settled and the check has passed, in a workspace of its
own that has the merged files and goes when it has ended. Then it is one operation, which
umbra undo takes back; conversations and the user's Git stay as they are, and the agent
is told. While something is open the exit code is 12.`,
		Flags: []flags.Flag{
			flags.String("into", "merge into `MISSION`, by default the one that they were forked from", &o.request.Into),
			flags.String("auto", "take without a question `none|low|medium`; low also takes medium if --check passes", &o.auto),
			flags.String("check", "run `COMMAND` on the merged files: are they good?", &o.request.Check),
			flags.String("merger", "have an `AGENT` propose what paths become that conflict: "+missions.AgentNames, &o.request.Merger),
			flags.Int("merger-attempts", "ask that agent up to `N` times where the check does not pass, 2 if not said", &o.request.Attempts),
			flags.String("driver", "have `mergiraf|weave|none` merge texts, where that program is installed; none is Git itself", &o.driver),
			flags.Duration("merger-timeout", "end that agent `DURATION` after its start", &o.timeout),
			flags.Strings("show", "show what each has changed at `PATH` in the merge that waits (may be repeated)", &o.show),
			flags.Bool("preview", "say what it comes to, change nothing", &o.request.Preview),
			flags.Strings("resolve", "what a path becomes: `PATH=ours|theirs|both|merged|proposal|MISSION|FILE` (may be repeated)", &o.resolve),
			flags.Bool("continue", "end the merge that waits", &o.goesOn),
			flags.Bool("status", "show the merge that waits", &o.status),
			flags.Bool("abort", "drop the merge that waits", &o.abort),
			flags.Bool("force", "now, whatever the agents, Git or the check say", &o.request.Force),
		},
		Run: func(c *call.Call) error { return runMerge(c, o) },
	}
}

// step is what the flags ask for first.
func (o mergeOptions) step() (missions.MergeStep, error) {
	asked := []missions.MergeStep{}
	for step, is := range map[missions.MergeStep]bool{
		missions.MergeContinue: o.goesOn, missions.MergeAbort: o.abort, missions.MergeStatus: o.status || len(o.show.Value()) > 0,
	} {
		if is {
			asked = append(asked, step)
		}
	}
	resolves := len(o.resolve.Value()) > 0
	switch {
	case len(asked) > 1:
		return "", missions.Errorf(missions.KindUsage, "choose one", "--continue, --status and --abort contradict each other")
	case resolves && len(asked) == 1 && !o.goesOn:
		return "", missions.Errorf(missions.KindUsage, "choose one", "--resolve and --%s contradict each other", asked[0])
	case o.request.Preview && (resolves || len(asked) > 0):
		return "", missions.Errorf(missions.KindUsage, "umbra merge --status shows a merge that waits", "--preview is of a merge that begins")
	case resolves:
		return missions.MergeResolve, nil
	case len(asked) == 1:
		return asked[0], nil
	}
	return missions.MergeBegin, nil
}

func runMerge(c *call.Call, o mergeOptions) error {
	r := o.request
	step, err := o.step()
	if err != nil {
		return err
	}
	r.Step, r.Forks, r.Auto = step, c.Arguments, missions.MergeAuto(o.auto)
	for _, typed := range o.show.Value() {
		r.Texts = append(r.Texts, missions.ParsePath(typed))
	}
	if err := r.Verify(); err != nil {
		return err
	}
	if r.Choices, err = readChoices(c, o.resolve.Value()); err != nil {
		return err
	}
	if r.Driver, err = findDriver(c, o.driver); err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r.Caller = caller
	a := &asker{c: c, timeout: o.timeout, skipped: map[missions.Path]bool{}}
	if a.result, err = svc.Merge(ctx, r); err == nil && step == missions.MergeResolve && o.goesOn {
		r = continuing(r, a.result.Into)
		a.result, err = a.merge(r)
	}
	ends := r.Step == missions.MergeBegin || r.Step == missions.MergeContinue
	if err == nil && ends && !r.Preview {
		err = a.settle(r)
	}
	if err != nil {
		return withHint(err, a.result)
	}
	a.removeLeft()
	return tell(c, step, r.Preview, a.result)
}

// continuing is the request that ends a merge which r has begun.
func continuing(r missions.MergeRequest, into string) missions.MergeRequest {
	r.Step, r.Forks, r.Choices, r.Checked, r.Merger, r.Attempts, r.Into = missions.MergeContinue, nil, nil, nil, "", 0, into
	return r
}

// settle brings a merge to its end, or as far as it comes: it runs the check and, on a
// terminal, asks about what is open.
func (a *asker) settle(r missions.MergeRequest) error {
	for {
		for isFirst := true; isFirst || a.result.NeedsMerger(); isFirst = false { // what the check does not like is asked anew
			if err := a.propose(r.Force); err != nil {
				return err
			}
			if err := a.check(r); err != nil {
				return err
			}
		}
		if len(a.result.Conflicts) == 0 || a.c.Yes || !a.c.CanAsk() {
			return nil
		}
		step, err := a.ask()
		if err != nil || step == leaveOpen {
			return err
		}
		r = continuing(r, a.result.Into)
		switch step {
		case dropMerge:
			r.Step = missions.MergeAbort
		case forceMerge:
			r.Force = true
		}
		if a.result, err = a.merge(r); err != nil {
			return err
		}
	}
}

// check runs the check as long as the merge waits for it.
func (a *asker) check(r missions.MergeRequest) (err error) {
	for a.result.NeedsCheck() {
		r = continuing(r, a.result.Into)
		if r.Checked, err = a.runCheck(r); err != nil {
			return err
		}
		if a.result, err = a.merge(r); err != nil {
			return err
		}
	}
	return nil
}

// withHint says how to go on with a merge that waits.
func withHint(err error, result missions.MergeResult) error {
	hint := "umbra merge --continue --into " + result.Into
	if result.Into != "" && errors.Is(err, context.Canceled) {
		return missions.Errorf(missions.KindInterrupted, hint, "interrupted: the merge waits, with what is chosen")
	}
	if e := missions.AsError(err); result.Into != "" && e.Kind == missions.KindBusy && e.Hint == "" {
		e.Hint = hint
		return e
	}
	return err
}

// readChoices reads what is typed behind --resolve. A word or a mission's name counts before
// a file of that name: whether it is one, the merge knows.
func readChoices(c *call.Call, typed []string) (list []missions.MergeChoice, err error) {
	known := []missions.MergeTake{missions.TakeOurs, missions.TakeTheirs, missions.TakeBoth, missions.TakeMerged}
	for _, text := range typed {
		at := strings.LastIndexByte(text, '=')
		if at <= 0 || at == len(text)-1 {
			return nil, missions.Errorf(missions.KindUsage, "--resolve PATH=ours, theirs, both, merged, a mission or a file", "--resolve is %q", text)
		}
		one := missions.MergeChoice{Path: missions.ParsePath(text[:at]), Take: missions.MergeTake(text[at+1:])}
		switch {
		case one.Take == missions.TakeFile:
			return nil, missions.Errorf(missions.KindUsage, "name the file that has the content; one that is called file is ./file",
				"--resolve %s names no file", text)
		case !slices.Contains(known, one.Take):
			content, err := readContent(c, string(one.Take))
			switch {
			case err == nil:
				one.Typed, one.Take, one.Content = string(one.Take), missions.TakeFile, content
			case !errors.Is(err, os.ErrNotExist) && !isDirectory(string(one.Take)):
				return nil, missions.Errorf(missions.KindUsage, "name a file that can be read", "--resolve %s: %w", text, err)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func readContent(c *call.Call, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(c.Stdin)
	}
	return os.ReadFile(name)
}

// removeLeft removes missions that a merge has made and needs no more, and then has a merge
// that has ended forgotten. An agent may still work there, which another command has begun.
func (a *asker) removeLeft() {
	if len(a.result.Left) == 0 {
		return
	}
	if isOver := a.result.Done || a.result.Aborted; isOver && a.isStillChecked() {
		a.result.Left = nil
		return
	}
	gone := true
	for _, m := range a.result.Left {
		if svc, caller, ctx, err := a.c.Asking(); err == nil && m.State != missions.StateClosed {
			_, err = svc.Stop(context.WithoutCancel(ctx), missions.StopRequest{Caller: caller, Missions: []string{m.ID}})
			if err != nil && missions.AsError(err).Kind != missions.KindNotFound { // another command has removed it
				a.c.Notice("note: the agent of %s could not be ended: %s", m.Name, missions.AsError(err).Message)
			}
		}
		gone = a.removeScratch(m) && gone
	}
	a.result.Left = nil
	last := missions.MergeRequest{Step: missions.MergeContinue, Into: a.result.IntoID, Merge: a.result.ID, Leave: true}
	switch {
	case a.result.Aborted:
		last.Step = missions.MergeAbort
	case !a.result.Done:
		return
	}
	if !gone {
		a.say(fmt.Sprintf("note: the merge into %s waits until that is removed; umbra merge --%s --into %[1]s", a.result.Into, last.Step))
		return
	}
	svc, caller, ctx, err := a.c.Asking()
	if err == nil {
		last.Caller = caller
		_, err = svc.Merge(context.WithoutCancel(ctx), last)
	}
	if err == nil {
		return
	}
	if kind := missions.AsError(err).Kind; kind != missions.KindNotFound && kind != missions.KindConflict { // else another command has forgotten it
		a.say(fmt.Sprintf("note: the merge into %s waits still: %s; umbra merge --%s --into %[1]s", a.result.Into, missions.AsError(err).Message, last.Step))
	}
}

// removeScratch removes the workspace of a check, whatever the check left there, and reports
// whether it is gone.
func (a *asker) removeScratch(m missions.Mission) bool {
	svc, caller, ctx, err := a.c.Asking()
	if err == nil {
		_, err = svc.Remove(context.WithoutCancel(ctx), missions.RemoveRequest{Caller: caller, Missions: []string{m.ID}, Workspace: true, Force: true})
	}
	if err == nil || missions.AsError(err).Kind == missions.KindNotFound { // another command has removed it
		return true
	}
	a.say(fmt.Sprintf("note: the workspace of the merge stays: %s; umbra mission rm --workspace %s", missions.AsError(err).Message, m.Name))
	return false
}

// checkPath stands for the whole where the check does not pass.
const checkPath = "."

// tell prints what a merge came to. While something is open, it is an error.
func tell(c *call.Call, step missions.MergeStep, preview bool, r missions.MergeResult) error {
	if err := c.Print(r, func(p *print.Printer) { WriteResult(p, r) }); err != nil {
		return err
	}
	switch {
	case preview || step == missions.MergeStatus || r.Aborted:
		return nil
	case len(r.Conflicts) > 0:
		return openError(r)
	case !r.Done:
		return nil
	}
	if done := r.Restore; done != nil && len(done.Displaced)+len(done.Kept) > 0 {
		return call.Partly
	}
	return nil
}

// openError says what is open, and what to type.
func openError(r missions.MergeResult) error {
	medium, check := 0, false
	for _, q := range r.Conflicts {
		if q.Severity == missions.SeverityMedium {
			medium++
		}
		check = check || q.Path == checkPath
	}
	hint := fmt.Sprintf("umbra merge --into %s --resolve PATH=CHOICE, then --continue; --abort drops it", print.Clean(r.Into))
	switch {
	case check:
		hint = fmt.Sprintf("umbra merge --into %s --continue --force takes it all the same; --abort drops it", print.Clean(r.Into))
	case medium == len(r.Conflicts) && r.Check == nil:
		hint = fmt.Sprintf("umbra merge --into %[1]s --continue --auto medium takes what Git merged, and --check COMMAND if that passes; --abort drops it", print.Clean(r.Into))
	}
	return missions.Errorf(missions.KindConflict, hint, "%s open in the merge into %s; nothing was changed there", isOpen(len(r.Conflicts)), print.Clean(r.Into))
}

func isOpen(n int) string {
	if n == 1 {
		return "1 path is"
	}
	return print.Count(n, "path") + " are"
}

// WriteResult prints the plan or the outcome of a merge.
func WriteResult(p *print.Printer, r missions.MergeResult) {
	var names []string
	for _, from := range r.From {
		names = append(names, print.Clean(from.Mission))
	}
	what := fmt.Sprintf("merge %s into %s", strings.Join(names, ", "), print.Clean(r.Into))
	switch done := r.Restore; {
	case r.Aborted && r.ID == "":
		p.Line("the merge into %s is put aside: it can't be read", print.Clean(r.Into))
	case r.Aborted:
		p.Line("the merge into %s is dropped; nothing of it was there", print.Clean(r.Into))
	case r.Done && done != nil:
		p.Line("%s: %d changed, %d created, %d deleted", what, len(done.Modify), len(done.Create), len(done.Delete))
	case r.Done:
		p.Line("%s: done", what)
	default:
		p.Line("%s would take:", what)
	}
	writePaths(p, r.Taken, mostTaken)
	if len(r.Conflicts) > 0 {
		p.Line("open:")
		writePaths(p, r.Conflicts, mostOpen)
	}
	if r.Restore != nil {
		print.WriteKept(p, "left as they are", r.Restore.Kept)
		print.WriteKept(p, "changed by another program meanwhile", r.Restore.Displaced)
	}
	for _, q := range slices.Concat(r.Conflicts, r.Taken) {
		if q.Texts != nil {
			WriteTexts(p, q)
		}
	}
	for _, note := range r.Notes {
		p.Line("note: %s", print.Clean(note))
	}
	if r.Done && r.Result != "" {
		p.Line("to take it back: umbra undo %s", print.Clean(r.Into))
	}
}

// mostTaken and mostOpen are how many paths of a severity are listed that are taken, and
// that are open.
const mostTaken, mostOpen = 20, 50

// writePaths lists paths, and counts those of a severity that are too many. A path that was
// chosen is always listed.
func writePaths(p *print.Printer, list []missions.MergedPath, most int) {
	var t print.Table
	shown, more := map[missions.Severity]int{}, map[missions.Severity]int{}
	for _, q := range list {
		if q.Chosen == "" {
			if shown[q.Severity] == most {
				more[q.Severity]++
				continue
			}
			shown[q.Severity]++
		}
		what := q.Reason + " (" + strings.Join(q.Missions, ", ") + ")"
		switch {
		case q.Chosen != "":
			what += ": " + q.Chosen
		case !q.Auto && len(q.Options) > 0:
			var options []string
			for _, option := range q.Options {
				options = append(options, option.Typed())
			}
			what += ": " + strings.Join(options, ", ")
		}
		if q.Proposal != nil && q.Chosen == "" {
			what += "; " + SayProposal(*q.Proposal)
		}
		t.Row(print.Plain.Cell(string(q.Severity)), print.Plain.Cell(print.Path(string(q.Path))), print.Dim.Cell(print.Clean(what)))
	}
	t.Print(p, "  ")
	for _, severity := range []missions.Severity{missions.SeverityCritical, missions.SeverityHigh, missions.SeverityMedium, missions.SeverityLow} {
		if n := more[severity]; n > 0 {
			p.Line("  … and %s of severity %s, which --json lists", print.Count(n, "more path"), severity)
		}
	}
}
