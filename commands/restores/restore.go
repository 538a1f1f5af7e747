// Package restores has the verbs that put a workspace, or its conversation, into another
// state and take that back, and prints what these did.
package restores

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type restoreOptions struct {
	request missions.RestoreRequest
	paths   flags.List
}

// Restore is the verb restore.
func Restore() *call.Verb {
	var o restoreOptions
	r := &o.request
	return &call.Verb{
		Prints: []any{missions.RestoreResult{}},
		Name:   "restore", Args: "MOMENT", Min: 1, Max: 1, Instead: "displaced",
		Short: "put files and conversation back as they were at a moment",
		Long: `What is on disk is kept in a snapshot first; umbra undo takes a restore back.
The user's Git is left alone: HEAD, branches and index stay.
An agent that Umbra launched restarts at once in its terminal, with the restored
conversation. While it is in a turn, the restore is refused (exit code 11).
Prompts that were sent to it and that it had not begun to answer are printed:
not_taken_up in JSON.
You are asked about paths that somebody else, such as you, has changed since. Where
nobody can be asked, --keep-others keeps these as they are, and --all restores them too
(else exit code 12). A path that can't be changed stays and is listed (exit code 3).
If another program writes to a file while a restore runs, its bytes are kept aside.
--displaced puts them back: all, or the paths that you give instead of MOMENT. You are
asked where that would replace newer work.`,
		Flags: []flags.Flag{
			flags.Bool("files-only", "the conversation stays", &r.FilesOnly),
			flags.Bool("conversation-only", "the files stay", &r.ConversationOnly),
			flags.Strings("path", "only `PATH` and what is below it (may be repeated)", &o.paths),
			flags.Bool("keep-others", "keep what others changed as it is", &r.KeepOthers),
			flags.Bool("all", "put back what others changed, too", &r.All),
			flags.Bool("preview", "print the plan, change nothing", &r.Preview),
			flags.Bool("when-idle", "at the end of the turn", &r.WhenIdle),
			flags.String("mission", "in the workspace of `MISSION`", &r.Mission),
			flags.Bool("displaced", "what other programs lost to restores, in place of a moment", &r.Displaced),
			flags.Bool("force", "now, whatever the agent or Git is doing", &r.Force),
		},
		Run: func(c *call.Call) error { return runRestore(c, o) },
	}
}

func runRestore(c *call.Call, o restoreOptions) error {
	r := o.request
	r.Paths = o.paths.Value()
	if r.Displaced {
		r.Paths = append(r.Paths, c.Arguments...)
	} else {
		r.Moment = c.Arg(0)
	}
	if r.Preview && r.WhenIdle {
		return missions.Errorf(missions.KindUsage, "choose one", "--preview and --when-idle contradict each other")
	}
	if err := r.Check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r.Caller = caller
	for i, p := range r.Paths {
		if !filepath.IsAbs(p) {
			r.Paths[i] = filepath.Join(caller.Cwd, p)
		}
	}
	result, err := svc.Restore(ctx, r)
	if plan, ok := planIn(err); ok && len(plan.Foreign) > 0 && c.CanAsk() {
		keep, err := askOwner(ctx, c, svc, caller, plan, question{
			text: "Somebody else changed the paths marked others since. What becomes of these?",
			keep: "keep as they are", put: "put these back too", nothing: "nothing was restored",
		})
		if err != nil {
			return err
		}
		r.KeepOthers, r.All = keep, !keep
		if result, err = svc.Restore(ctx, r); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return printRestored(c, "restore", result, r.KeepOthers)
}

// planIn is the plan that comes with a refusal.
func planIn(err error) (missions.RestoreResult, bool) {
	var plan missions.RestoreResult
	e, ok := errors.AsType[*missions.Error](err)
	if !ok || e.Kind != missions.KindConflict || len(e.Details) == 0 {
		return plan, false
	}
	return plan, json.Unmarshal(e.Details, &plan) == nil && plan.Target != ""
}

// question is what is asked about paths that two sides have changed.
type question struct {
	text, keep, put, nothing string
	movesBranch              bool // the user's branch moves too
}

// askOwner asks whose the paths become that others changed: theirs stay, or not. --yes
// does not answer that.
func askOwner(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, plan missions.RestoreResult, q question) (keep bool, err error) {
	c.EndProgress()
	writePlan(c.Err, plan, q.movesBranch)
	answers := []call.Answer{{"k", q.keep}, {"p", q.put}, {"d", "show the differences"}, {"s", "stop"}}
	if plan.OfDisplaced { // which no snapshot's tree holds: umbra cat --displaced prints it
		answers = slices.Delete(answers, 2, 3)
	}
	for {
		_ = c.Err.Flush()
		letter, err := c.Ask(q.text, answers...)
		switch {
		case err != nil:
			return false, err
		case letter == "k", letter == "p":
			return letter == "k", nil
		case letter == "s":
			return false, missions.Errorf(missions.KindConflict, "", "%s", q.nothing)
		}
		d := missions.DiffRequest{Caller: caller, From: plan.Target, To: plan.SafetySnapshot, Patch: true}
		d.Caller.Cwd = plan.Workspace // the paths are those of a workspace, though the moment may be another mission's
		if isPromotion(plan) {
			d.From, d.To = d.To, d.From
		}
		for _, f := range plan.Foreign {
			d.Paths = append(d.Paths, f.Path)
		}
		since, err := svc.Diff(ctx, d)
		if err != nil {
			return false, err
		}
		print.WritePatch(c.Err, since.From, since.Files, since.Patch)
	}
}
