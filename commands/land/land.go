// Package land is the verb that puts a mission's work on a branch of the user's. The
// commits are made in this process, by the user's own git: it may ask for a key, and run
// hooks for minutes, and no lock of Umbra's is held meanwhile.
package land

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
	"github.com/umbra-vcs/umbra/missions/home"
)

// options are the flags of umbra land.
type options struct {
	as, message string
	list, force bool
	commit      commits.Options
}

// Command is `umbra land`.
func Command() *call.Verb {
	var o options
	return &call.Verb{
		Name: "land", Args: "[MISSION]", Max: 1, Short: "make commits of a mission's work, on your branch",
		Long: `Your own git makes them, as if you had typed git add and git commit: your filters, line
ends and LFS rules, your name, your hooks and your signing key count. What the branch has
already is left out, and so is what others have changed, you for one: it stays in the
workspace, and is named.
--as says which turns go together: one commit for all (one), one for each turn that
changed something (turns), a list that your editor opens (edit), or such a list in a file
(FILE, - for stdin; --list prints one). Work that a restore took back is in none.
The branch is the one that is checked out in the workspace, or --branch, which is made if
there is none; it may not be checked out elsewhere. Refused, with exit code 12: something
is staged, a merge or the like is in progress, another branch is checked out than the
mission has worked on, others have changed the same lines. Where a commit is refused, by a
hook or for want of a key, branch and index are as before.`,
		Flags: []flags.Flag{
			flags.String("as", "`one`, turns, edit, or a file with a list", &o.as),
			flags.String("m", "what the commit says, with --as one: `TEXT`", &o.message, "message"),
			flags.String("branch", "land on `BRANCH`", &o.commit.Branch),
			flags.Bool("all", "also what others have changed in the workspace, even the same lines", &o.commit.All),
			flags.Bool("preview", "print the commits, make none", &o.commit.Preview),
			flags.Bool("list", "print the list of turns, for --as FILE", &o.list),
			flags.Bool("no-verify", "without the hooks that may refuse a commit", &o.commit.NoVerify),
			flags.Bool("no-sign", "do not sign, whatever git is told", &o.commit.NoSign),
			flags.Bool("no-trailers", "do not name mission and turns in the commits", &o.commit.NoTrailers),
			flags.Bool("notes", "note which lines the agent wrote in refs/notes/ai (Git AI)", &o.commit.Notes),
			flags.Bool("force", "also while the agent is in a turn", &o.force),
		},
		Run: func(c *call.Call) error { return runLand(c, o) },
	}
}

func runLand(c *call.Call, o options) error {
	if o.message != "" && o.as != "" && o.as != asOne {
		return missions.Errorf(missions.KindUsage, "write the messages into the list: --as edit", "--message is for one commit, --as one")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	plan, err := planNow(ctx, c, svc, caller, o)
	if err != nil {
		return err
	}
	if o.list {
		return c.Print(entriesOf(plan), func(p *print.Printer) { p.Write(print.CleanLines(formatList(plan))) })
	}
	if o.commit.Groups, err = groups(c, plan, o); err != nil {
		return err
	}
	o.commit.Environ, o.commit.Stdin, o.commit.Stderr = c.Environ(), c.Stdin, c.Stderr
	c.EndProgress()
	work, err := commits.Open(ctx, plan, o.commit)
	if err != nil {
		return err
	}
	result, err := landNow(work, o.commit.Preview)
	if cerr := work.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if !o.commit.Preview {
		if err := keepLanded(c, plan.Mission, result); err != nil {
			c.Notice("note: umbra mission rm --landed will not know of it: %v", err)
		}
	}
	return c.Print(result, func(p *print.Printer) { writeResult(p, plan, result, o.commit.Preview) })
}

// planNow takes a snapshot of the workspace, unless nothing is to change, and plans.
func planNow(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, o options) (missions.LandingPlan, error) {
	r := missions.LandingRequest{Caller: caller, Mission: c.Arg(0), All: o.commit.All, Force: o.force}
	plan, err := svc.PlanLanding(ctx, r)
	if err != nil || o.commit.Preview || o.list {
		return plan, err
	}
	if _, err := svc.Snapshot(ctx, missions.SnapshotRequest{Caller: caller, Mission: plan.Mission.ID, Message: "before it lands", OnlyIfChanged: true}); err != nil {
		return plan, err
	}
	return svc.PlanLanding(ctx, r)
}

func landNow(work *commits.Committer, preview bool) (commits.Result, error) {
	if preview {
		return work.Preview(), nil
	}
	return work.Make()
}

// The ways to group turns.
const (
	asOne   = "one"
	asTurns = "turns"
	asEdit  = "edit"
)

// groups says which turns go together.
func groups(c *call.Call, plan missions.LandingPlan, o options) ([]commits.Group, error) {
	switch o.as {
	case "", asOne:
		list := commits.Whole(plan)
		list[0].Message = o.message
		return list, nil
	case asTurns:
		return commits.EachTurn(plan), nil
	case asEdit:
		return editList(c, plan)
	case "-":
		return readList(c.Stdin, plan)
	}
	file, err := os.Open(o.as)
	if err != nil {
		return nil, missions.Errorf(missions.KindUsage, "--as one, turns, edit or FILE; umbra land --list prints a list", "--as: %w", err)
	}
	list, err := readList(file, plan)
	return list, errors.Join(err, file.Close())
}

// writeResult prints the commits, and what is in none.
func writeResult(p *print.Printer, plan missions.LandingPlan, r commits.Result, preview bool) {
	name := print.Clean(plan.Mission.Name)
	switch n := print.Count(len(r.Commits), "commit"); {
	case len(r.Commits) == 0:
		p.Line("nothing to land: %s has the work of %s already", print.Clean(r.Branch), name)
	case preview:
		p.Line("land %s on %s would make %s:", name, print.Clean(r.Branch), n)
	default:
		p.Line("landed %s on %s: %s", name, print.Clean(r.Branch), n)
	}
	for _, commit := range r.Commits {
		id := ""
		if commit.ID != "" {
			id = print.Short(commit.ID) + " "
		}
		p.Line("  %s%s", p.Paint(print.Yellow, id), print.Clean(commit.Subject))
		if preview {
			writeFiles(p, commit.Files)
		}
		if len(commit.Hooked) > 0 {
			p.Line("    a hook of yours changed or added: %s", some(commit.Hooked))
		}
	}
	if len(r.Left) > 0 {
		p.Line("not landed, and still in the workspace: %s", some(r.Left))
	}
	if len(r.Commits) > 0 && !preview {
		p.Line("  git log -p -%d %s", len(r.Commits), print.Clean(r.Branch))
	}
}

func writeFiles(p *print.Printer, files []commits.Change) {
	const most = 20
	for i, f := range files {
		if i == most {
			p.Line("      … and %d more", len(files)-most)
			return
		}
		if f.Binary {
			p.Line("      %s (binary)", print.Clean(f.Path))
			continue
		}
		p.Line("      %s +%d -%d", print.Clean(f.Path), f.Added, f.Deleted)
	}
}

// some names the first of some paths.
func some(paths []string) string {
	const most = 5
	var named []string
	for _, path := range paths[:min(most, len(paths))] {
		named = append(named, print.Clean(path))
	}
	text := strings.Join(named, ", ")
	if len(paths) > most {
		text += " and " + print.Count(len(paths)-most, "more")
	}
	return text
}

// homeOf is Umbra's home.
func homeOf(c *call.Call) (home.Home, error) {
	dir, err := c.HomeDir()
	return home.Home{Dir: dir}, err
}
