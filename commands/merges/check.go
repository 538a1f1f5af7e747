package merges

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/checks"
	"github.com/umbra-vcs/umbra/missions/home"
)

// runningName is what says that the check of a merge into a mission runs, while its workspace
// is made, too, and removed.
func runningName(into string) string { return "merge-" + into }

func (a *asker) home() (home.Home, error) {
	dir, err := a.c.HomeDir()
	return home.Home{Dir: dir}, err
}

// runCheck runs the check in a workspace that has the merged files, and removes that.
func (a *asker) runCheck(r missions.MergeRequest) (checked *missions.MergeCheck, err error) {
	c, into := a.c, a.result.Into
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	limit, err := checks.Limit(h, c.Getenv)
	if err != nil {
		return nil, err
	}
	running, err := checks.Begin(c.Context, h, runningName(a.result.IntoID))
	if err != nil {
		return nil, missions.Errorf(missions.KindFailed, cmp.Or(missions.AsError(err).Hint, "umbra merge --continue --into "+into), "the check can't be run: %w", err)
	}
	defer func() { err = errors.Join(err, running.End()) }()
	made, err := a.makeScratch(running, r)
	if made.Scratch != nil && err == nil {
		defer a.removeScratch(*made.Scratch)
	}
	if err != nil {
		return nil, err
	}
	if made.ProposedTree != "" {
		c.Notice("the check runs on the merged files, with what is proposed")
	} else {
		c.Notice("the check runs on the merged files")
	}
	output := h.CheckOutputFile(made.IntoID)
	check, err := checks.Command{
		Line: made.CheckCommand, Workspace: made.Scratch.Workspace, Output: output, Limit: limit,
		Environ: c.Environ(), More: []string{"UMBRA_MISSION=" + made.IntoID}, Running: running,
	}.Run(c.Context)
	if c.Context.Err() != nil {
		return nil, missions.Errorf(missions.KindInterrupted, "umbra merge --continue --into "+into+" checks again", "interrupted: nothing was merged")
	}
	if err != nil {
		return nil, missions.Errorf(missions.KindFailed, "umbra merge --continue --into "+into, "the check can't be run: %w", err)
	}
	if check.State != missions.CheckGood {
		text := "the check does not pass"
		if last := checks.LastLine(output); last != "" {
			text += ": " + last
		}
		c.Notice("%s (umbra mission output %s --check)", text, into)
	}
	return &missions.MergeCheck{Tree: made.Tree, Check: check, Output: checks.Tail(output)}, nil
}

// makeScratch makes the workspace of the check. One that a killed check has left is removed
// first, and none in which another command runs it.
func (a *asker) makeScratch(running *checks.Running, r missions.MergeRequest) (missions.MergeResult, error) {
	r.Step = missions.MergeScratch
	made, err := a.merge(r)
	if err != nil || len(made.Left) == 0 {
		return made, err
	}
	left := made.Left[0]
	if runs, err := running.RunsElsewhere(); err != nil {
		return made, missions.Errorf(missions.KindFailed, "", "whether another command runs the check in %s can't be told: %w", left.Name, err)
	} else if runs {
		return made, missions.Errorf(missions.KindBusy, "wait until it has ended, then the same again",
			"another command runs the check of this merge, in %s", left.Name)
	}
	a.c.Notice("the workspace of a check that was cut off is removed: %s", left.Name)
	if !a.removeScratch(left) {
		return made, missions.Errorf(missions.KindFailed, "umbra mission rm --workspace "+left.Name, "the workspace of an earlier check is still there")
	}
	if made, err = a.merge(r); err == nil && made.Scratch == nil {
		err = missions.Errorf(missions.KindBusy, "the same again", "another command has begun a check of this merge just now")
	}
	return made, err
}

// isStillChecked reports whether a check of a merge that has ended runs on, which needs what
// the merge has made. One whose command was killed is ended.
func (a *asker) isStillChecked() (runs bool) {
	h, err := a.home()
	if err == nil {
		runs, err = checks.EndLeft(context.WithoutCancel(a.c.Context), h, runningName(a.result.IntoID))
	}
	step := missions.MergeContinue
	if a.result.Aborted {
		step = missions.MergeAbort
	}
	switch {
	case err != nil:
		fix := cmp.Or(missions.AsError(err).Hint, "end it")
		a.say(fmt.Sprintf("note: the check of this merge may run on: %v; %s, then umbra merge --%s --into %s", err, fix, step, a.result.Into))
	case runs:
		a.say(fmt.Sprintf("note: another command still runs the check of this merge; once it has ended: umbra merge --%s --into %s", step, a.result.Into))
	}
	return runs || err != nil
}
