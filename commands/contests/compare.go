// Package contests is the verbs that hold forks against each other and against a check of
// the user's. A check runs in this process's own time, outside of the Service: no lock is
// held meanwhile.
package contests

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/webpage"
	"github.com/umbra-vcs/umbra/missions"
)

// Compare is `umbra compare`.
func Compare() *call.Verb {
	var (
		check, page string
		diff        bool
	)
	return &call.Verb{
		Name: "compare", Args: "FORK…", Min: 1, Max: call.AnyNumber, Short: "what forks have done since their fork points, beside each other",
		Long: `Takes a snapshot of each fork and compares it with its fork point: turns, the time in
them, tokens, cost, files and lines, and how many of these files no other fork has
changed (alone) and another has, too (shared). What an agent's conversation does not
tell is "-", null in JSON.
The check is a command for the shell, run in the workspace of each fork, several at the
same time: exit code 0 is good, 125 that it can't tell, any other bad. What it prints,
umbra mission output FORK --check prints. What it writes is work like any other.`,
		Flags: []flags.Flag{
			flags.String("check", "run `COMMAND` in each fork's workspace: is it good?", &check),
			flags.Bool("diff", "the changed lines too, path by path", &diff),
			webpage.Flag(&page),
		},
		Run: func(c *call.Call) error { return runCompare(c, check, page, diff || page != "") },
	}
}

func runCompare(c *call.Call, check, page string, diff bool) error {
	if err := webpage.Check(c, page); err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	forks, err := compareNow(ctx, c, svc, missions.CompareRequest{Caller: caller, Forks: c.Arguments, Patch: diff})
	if err != nil {
		return err
	}
	sayForkPoints(c, forks)
	whole := true
	if check != "" {
		if whole, err = checkAll(c, check, forks); err != nil {
			return err
		}
	}
	if page != "" {
		err = webpage.Save(c, page, comparedPage(forks, &webpage.Source{Ctx: ctx, Service: svc, Caller: caller}))
	} else {
		err = printCompared(c, forks, diff)
	}
	if err != nil {
		return err
	}
	sayGood(c, forks)
	if !whole {
		return call.Partly
	}
	return nil
}

// compareNow takes a snapshot of each fork, and compares them.
func compareNow(ctx context.Context, c *call.Call, svc missions.Service, r missions.CompareRequest) ([]missions.ComparedFork, error) {
	for _, name := range r.Forks {
		if m, err := svc.Mission(ctx, missions.MissionRequest{Caller: r.Caller, Name: name}); err == nil { // else the comparison says so
			if err := snapshotNow(ctx, c, svc, r.Caller, m); err != nil {
				c.Notice("note: the newest snapshot of %s is compared, none could be taken now: %s", m.Name, missions.AsError(err).Message)
			}
		}
	}
	return svc.Compare(ctx, r)
}

// snapshotNow takes a snapshot of a fork, if its workspace has changed. Where none can be
// taken, the newest one counts.
func snapshotNow(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, m missions.Mission) error {
	if m.Parent == nil || c.Unwritten != nil {
		return nil
	}
	_, err := svc.Snapshot(ctx, missions.SnapshotRequest{Caller: caller, Mission: m.ID, Message: "before it is compared", OnlyIfChanged: true})
	return err
}

// sayForkPoints says that forks are not of one moment.
func sayForkPoints(c *call.Call, forks []missions.ComparedFork) {
	for _, f := range forks[1:] {
		if f.ForkPoint != forks[0].ForkPoint {
			c.Notice("note: the forks are not of one moment; each is compared with its own fork point")
			return
		}
	}
}

// sayGood says how the forks whose check is good come home.
func sayGood(c *call.Call, forks []missions.ComparedFork) {
	var good []string
	for _, f := range forks {
		if f.Check != nil && f.Check.State == missions.CheckGood {
			good = append(good, f.Mission)
		}
	}
	if len(good) > 0 && !c.JSON {
		c.Notice("good: %s; to bring it home: umbra promote %s", strings.Join(good, ", "), good[0])
	}
}

// patched is a comparison with its changed lines, as --diff --json prints it.
type patched struct {
	missions.Comparison
	Patch string `json:"patch"`
}

func printCompared(c *call.Call, forks []missions.ComparedFork, diff bool) error {
	switch {
	case c.JSON && diff:
		list := []patched{}
		for _, f := range forks {
			list = append(list, patched{f.Comparison, strings.Join(f.Patches, "")})
		}
		return c.PrintJSON(list)
	case c.JSON:
		list := []missions.Comparison{}
		for _, f := range forks {
			list = append(list, f.Comparison)
		}
		return c.PrintJSON(list)
	case diff:
		return c.Paged("diff", func(p *print.Printer) {
			writeTable(p, forks)
			WriteDifferences(p, forks)
		})
	}
	return c.Print(nil, func(p *print.Printer) { writeTable(p, forks) })
}
