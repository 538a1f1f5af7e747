package commands

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type restoreOptions struct {
	request missions.RestoreRequest
	paths   cli.StringSlice
}

func restoreCommand() *verb {
	var o restoreOptions
	r := &o.request
	return &verb{
		name: "restore", args: "MOMENT", min: 1, max: 1,
		short: "put files and conversation back as they were at a moment",
		long: `What is on disk is kept in a snapshot first; umbra undo takes a restore back.
The user's Git is left alone: HEAD, branches and index stay.
An agent that Umbra launched is ended for it, and is there again at once, in its
terminal, on the restored conversation. In a turn it is refused (exit code 11).
Prompts that it was sent and had not taken up are printed: not_taken_up in JSON.
Paths that somebody else changed since, such as you, are asked about. Where nobody can
be asked, --keep-others keeps them as they are, and --all puts these back too (else
exit code 12). A path that can't be changed is left and listed (exit code 3).`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "files-only", Usage: "the conversation stays", Destination: &r.FilesOnly},
			&cli.BoolFlag{Name: "conversation-only", Usage: "the files stay", Destination: &r.ConversationOnly},
			&cli.StringSliceFlag{Name: "path", Usage: "only `PATH` and what is below it (may be repeated)", Destination: &o.paths},
			&cli.BoolFlag{Name: "keep-others", Usage: "keep what others changed as it is", Destination: &r.KeepOthers},
			&cli.BoolFlag{Name: "all", Usage: "put back what others changed, too", Destination: &r.All},
			&cli.BoolFlag{Name: "preview", Usage: "print the plan, change nothing", Destination: &r.Preview},
			&cli.BoolFlag{Name: "when-idle", Usage: "at the end of the turn", Destination: &r.WhenIdle},
			&cli.StringFlag{Name: "mission", Usage: "in the workspace of `MISSION`", Destination: &r.Mission},
			&cli.BoolFlag{Name: "force", Usage: "now, whatever the agent or Git is doing", Destination: &r.Force},
		},
		run: func(c *call) error { return runRestore(c, o) },
	}
}

func runRestore(c *call, o restoreOptions) error {
	r := o.request
	r.Moment, r.Paths = c.arg(0), o.paths.Value()
	if r.Preview && r.WhenIdle {
		return missions.Errorf(missions.KindUsage, "choose one", "--preview and --when-idle contradict each other")
	}
	if err := r.Check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
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
	if plan, ok := planIn(err); ok && len(plan.Foreign) > 0 && c.canAsk() {
		if err := c.askOthers(ctx, svc, plan, &r); err != nil {
			return err
		}
		result, err = svc.Restore(ctx, r)
	}
	if err != nil {
		return err
	}
	return c.printRestored("restore", result)
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

// askOthers asks what becomes of the paths that others changed. --yes does not answer
// that.
func (c *call) askOthers(ctx context.Context, svc missions.Service, plan missions.RestoreResult, r *missions.RestoreRequest) error {
	c.progress.end()
	writePlan(c.err, plan)
	for {
		_ = c.err.flush()
		letter, err := c.ask("Somebody else changed the paths marked others since. What becomes of these?",
			answer{"k", "keep as they are"}, answer{"p", "put these back too"}, answer{"d", "show the differences"}, answer{"s", "stop"})
		switch {
		case err != nil:
			return err
		case letter == "k":
			r.KeepOthers = true
			return nil
		case letter == "p":
			r.All = true
			return nil
		case letter == "s":
			return missions.Errorf(missions.KindConflict, "", "nothing was restored")
		}
		d := missions.DiffRequest{Caller: r.Caller, From: plan.Target, To: plan.SafetySnapshot, Patch: true}
		for _, f := range plan.Foreign {
			d.Paths = append(d.Paths, filepath.Join(plan.Workspace, f.Path))
		}
		since, err := svc.Diff(ctx, d)
		if err != nil {
			return err
		}
		writePatch(c.err, since.From, since.Files, since.Patch)
	}
}
