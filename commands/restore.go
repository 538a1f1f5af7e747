package commands

import (
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
Paths that others changed since are asked about; where nobody can be asked,
--mine leaves them as they are and --all takes them back too (else exit code 12).`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "files-only", Usage: "the conversation stays", Destination: &r.FilesOnly},
			&cli.BoolFlag{Name: "conversation-only", Usage: "the files stay", Destination: &r.ConversationOnly},
			&cli.StringSliceFlag{Name: "path", Usage: "only `PATH` and what is below it (may be repeated)", Destination: &o.paths},
			&cli.BoolFlag{Name: "mine", Usage: "leave what others changed", Destination: &r.Mine},
			&cli.BoolFlag{Name: "all", Usage: "take back what others changed, too", Destination: &r.All},
			&cli.BoolFlag{Name: "preview", Usage: "print the plan, change nothing", Destination: &r.Preview},
			&cli.BoolFlag{Name: "when-idle", Usage: "at the end of the turn", Destination: &r.WhenIdle},
			&cli.StringFlag{Name: "mission", Usage: "in the workspace of `MISSION`", Destination: &r.Mission},
			&cli.BoolFlag{Name: "force", Usage: "now, whatever the agent or Git is doing", Destination: &r.Force},
		},
		run: func(c *call) error { return runRestore(c, o) },
	}
}

func (o restoreOptions) check() error {
	r, paths := o.request, len(o.paths.Value()) > 0
	contradict := func(hint, a, b string) error {
		return missions.Errorf(missions.KindUsage, hint, "%s and %s contradict each other", a, b)
	}
	switch {
	case r.Mine && r.All:
		return contradict("choose one", "--mine", "--all")
	case r.FilesOnly && r.ConversationOnly:
		return contradict("leave both out to restore both", "--files-only", "--conversation-only")
	case paths && r.ConversationOnly:
		return contradict("--path is about files only", "--path", "--conversation-only")
	case r.Preview && r.WhenIdle:
		return contradict("choose one", "--preview", "--when-idle")
	case r.WhenIdle && r.Force:
		return contradict("choose one", "--when-idle", "--force")
	case r.ConversationOnly && (r.Mine || r.All):
		return missions.Errorf(missions.KindUsage, "leave them out", "--mine and --all are about files, which --conversation-only leaves alone")
	}
	return nil
}

func runRestore(c *call, o restoreOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	r := o.request
	r.Caller, r.Moment = caller, c.arg(0)
	for _, p := range o.paths.Value() {
		if !filepath.IsAbs(p) {
			p = filepath.Join(caller.Cwd, p)
		}
		r.Paths = append(r.Paths, p)
	}
	result, err := svc.Restore(ctx, r)
	if plan, asked := c.contested(err); asked {
		if err := c.chooseWhose(plan, &r); err != nil {
			return err
		}
		result, err = svc.Restore(ctx, r)
	}
	if err != nil {
		return err
	}
	return c.printRestored("restore", result)
}

// contested is the plan of a restore that others' changes stand in the way of,
// if there is somebody to ask about it.
func (c *call) contested(err error) (missions.RestoreResult, bool) {
	plan, ok := planIn(err)
	return plan, ok && len(plan.Foreign) > 0 && c.canAsk()
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

// chooseWhose asks whether others' changes are taken back too. --yes does not
// answer that.
func (c *call) chooseWhose(plan missions.RestoreResult, r *missions.RestoreRequest) error {
	c.progress.end()
	writePlan(c.err, plan)
	_ = c.err.flush()
	letter, err := c.ask("Others changed some of these paths since. Restore?",
		answer{"m", "mine only, leave theirs"}, answer{"a", "all, theirs too"}, answer{"s", "stop"})
	if err != nil {
		return err
	}
	switch letter {
	case "m":
		r.Mine = true
	case "a":
		r.All = true
	default:
		return missions.Errorf(missions.KindConflict, "", "nothing was restored")
	}
	return nil
}
