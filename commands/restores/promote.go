package restores

import (
	"context"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// RemoveForks offers to remove the forks that are left after a promotion.
type RemoveForks func(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, forks []missions.ForkRoom) error

// Promote is the verb promote.
func Promote(remove RemoveForks) *call.Verb {
	var r missions.PromoteRequest
	return &call.Verb{
		Prints: []any{missions.PromoteResult{}},
		Name:   "promote", Args: "[FORK]", Max: 1,
		Short: "make a fork's files and conversation those of the mission that it was forked from",
		Long: `What changed in the parent since the fork point is merged, path by path, as git
merges. Where both changed the same lines you are asked; where nobody can be asked,
--keep-others keeps what the parent has, --all takes what the fork has (else exit code
12). What is on disk is kept in a snapshot first, and umbra undo takes a promotion back.
The parent's agent restarts at once, with the fork's conversation. While one of the two is
in a turn, the promotion is refused (exit code 11). A side fork is promoted when its turn
ends, and its parent's agent gets the terminal back.
HEAD, branches and index of your repository stay as they are; commits of the fork are
named. The fork stays too; on a terminal you are asked whether to remove the parent's forks.`,
		Flags: []flags.Flag{
			flags.Bool("files-only", "the parent's conversation stays", &r.FilesOnly),
			flags.Bool("conversation-only", "the parent's files stay", &r.ConversationOnly),
			flags.Bool("keep-others", "where both changed the same lines, keep what the parent has", &r.KeepOthers),
			flags.Bool("all", "where both changed the same lines, take what the fork has", &r.All),
			flags.Bool("preview", "print the plan, change nothing", &r.Preview),
			flags.Bool("when-idle", "at the end of the parent's turn", &r.WhenIdle),
			flags.Bool("commits", "also fast-forward the parent's branch to the fork's commits", &r.Commits),
			flags.Bool("keep", "do not offer to remove forks", &r.Keep),
			flags.Bool("force", "now, whatever the agents or Git are doing", &r.Force),
		},
		Run: func(c *call.Call) error { return runPromote(c, r, remove) },
	}
}

func runPromote(c *call.Call, r missions.PromoteRequest, remove RemoveForks) error {
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
	r.Caller, r.Fork = caller, c.Arg(0)
	result, err := svc.Promote(ctx, r)
	if plan, ok := planIn(err); ok && len(plan.Foreign) > 0 && c.CanAsk() {
		keep, err := askPromoted(ctx, c, svc, caller, plan, r.Commits)
		if err != nil {
			return err
		}
		r.KeepOthers, r.All = keep, !keep
		if result, err = svc.Promote(ctx, r); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	printed := finish(c, result, outcome{result.RestoreResult, r.KeepOthers}, func(p *print.Printer) { WritePromoted(p, result) })
	if len(result.Forks) == 0 || printed != nil && printed != call.Partly {
		return printed
	}
	if err := remove(ctx, c, svc, caller, result.Forks); err != nil {
		return err
	}
	return printed
}

// askPromoted asks whose the paths become that parent and fork have both changed.
func askPromoted(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, plan missions.RestoreResult, commits bool) (keep bool, err error) {
	return askOwner(ctx, c, svc, caller, plan, question{
		text: "The paths marked others were changed on both sides. What becomes of them?",
		keep: "keep what " + print.Clean(plan.MissionName) + " has", put: "take what the fork has", nothing: "nothing was promoted", movesBranch: commits,
	})
}

// WritePromoted prints the plan or the outcome of a promotion.
func WritePromoted(p *print.Printer, r missions.PromoteResult) {
	writeOutcome(p, string(missions.TriggerPromote), r.RestoreResult, r.MovedBranch != "")
	branch, commits := print.Clean(r.MovedBranch), print.Count(len(r.Commits), "commit")
	switch {
	case r.MovedBranch != "" && r.Done:
		p.Line("%s is at %s of the fork now:", branch, commits)
	case r.MovedBranch != "" && r.Queued:
		p.Line("%s moves to %s of the fork then:", branch, commits)
	case r.MovedBranch != "":
		p.Line("%s would move to %s of the fork:", branch, commits)
	case len(r.Commits) > 0:
		p.Line("commits of %s:", print.Clean(r.FromName))
	}
	const most = 10
	for i, commit := range r.Commits {
		if i == most {
			p.Line("  … and %d more", len(r.Commits)-most)
			break
		}
		p.Line("  %s %s", print.Short(commit.ID), print.Clean(commit.Subject))
	}
}
