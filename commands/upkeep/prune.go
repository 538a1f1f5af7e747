package upkeep

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// pruneOptions are the flags of umbra prune. The policy's are texts, since 0 is not the same
// as nothing.
type pruneOptions struct {
	all, preview                bool
	last, within, hourly, daily string
}

// Prune is `umbra prune`.
func Prune() *call.Verb {
	var o pruneOptions
	return &call.Verb{
		Prints: []any{missions.PruneResult{}},
		Name:   "prune", Args: "[MISSION…]", Max: call.AnyNumber, Short: "drop old snapshots, and give their room on the disk back",
		Long: `Of each mission of this project, or of those named, the newest turns stay, and those
of the last 30 days: umbra config list shows retention.* in force. Whatever the policy, these
stay: the newest snapshot and the first, pins, fork points, what umbra undo and redo take,
and what an operation, a merge or a landing that is not over needs. A turn stays whole or goes
whole. It says how much goes, and why the rest stays (for several reasons, mostly), and asks:
there is no undo. Files in your workspaces and the conversations in your agents' own stores
stay as they are. What forks have in common goes once each of them is pruned. With --all a
project of which something can't be read is left as it is (exit code 3).`,
		Flags: []flags.Flag{
			flags.Bool("all", "the missions of every project", &o.all),
			flags.Bool("dry-run", "only say what would go", &o.preview),
			flags.String("keep-last", "keep the newest `N` turns", &o.last),
			flags.String("keep-within", "keep turns that ended within `DURATION`: 12h, 90d", &o.within),
			flags.String("keep-hourly", "keep the newest turn of `N` hours that have one", &o.hourly),
			flags.String("keep-daily", "keep the newest turn of `N` days that have one", &o.daily),
		},
		Run: func(c *call.Call) error { return runPrune(c, o) },
	}
}

// runPrune drops what it has listed, and nothing that became old since.
func runPrune(c *call.Call, o pruneOptions) error {
	policy, err := o.policy()
	if err != nil {
		return err
	}
	c.NoDaemon = true // it takes memory that a process which stays would keep
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	request := missions.PruneRequest{Caller: caller, Missions: c.Arguments, All: o.all, Preview: true, Policy: policy}
	listed, err := svc.Prune(ctx, request)
	if err != nil {
		return err
	}
	if o.preview || listed.Pruned() == 0 && !listed.Owed {
		return endPrune(listed, c.Print(listed, func(p *print.Printer) { describePrune(p, listed) }))
	}
	if err := confirmPrune(c, listed); err != nil {
		return err
	}
	request.Preview, request.At = false, listed.At
	done, err := svc.Prune(ctx, request)
	if err != nil {
		return err
	}
	return endPrune(done, c.TellDone(done, func(p *print.Printer) { describePrune(p, done) }))
}

// endPrune is how the command ends: in part if a project was left as it is.
func endPrune(r missions.PruneResult, printed error) error {
	if printed == nil && len(r.Problems) > 0 {
		return call.Partly
	}
	return printed
}

// policy reads the flags.
func (o pruneOptions) policy() (p missions.PrunePolicy, err error) {
	for _, f := range []struct {
		name, text string
		to         **int
	}{{"--keep-last", o.last, &p.KeepLast}, {"--keep-hourly", o.hourly, &p.KeepHourly}, {"--keep-daily", o.daily, &p.KeepDaily}} {
		if f.text == "" {
			continue
		}
		n, err := strconv.ParseInt(f.text, 10, 32)
		if err != nil {
			return p, missions.Errorf(missions.KindUsage, "", "%s takes a number, not %q", f.name, f.text)
		}
		*f.to = new(int)
		**f.to = int(n)
	}
	if o.within != "" {
		within, err := settings.ParseDuration(o.within)
		if err != nil {
			return p, missions.Errorf(missions.KindUsage, "", "--keep-within takes a duration such as 30d, not %q", o.within)
		}
		p.KeepWithin = &within
	}
	return p, nil
}

func confirmPrune(c *call.Call, listed missions.PruneResult) error {
	if c.Yes || listed.Pruned() == 0 { // what is owed was dropped before
		return nil
	}
	describePrune(c.Err, listed)
	_ = c.Err.Flush()
	if !c.CanAsk() {
		return missions.Errorf(missions.KindConflict, "--yes drops them", "nobody can be asked: nothing was pruned")
	}
	yes, err := c.Confirm("Drop them? They can't be brought back.")
	if err == nil && !yes {
		err = missions.Errorf(missions.KindConflict, "", "nothing was pruned")
	}
	return err
}

// keptReasons are the words for why snapshots stay, in order.
var keptReasons = [][2]string{
	{"tip", "newest"}, {"last", "in the last turns"}, {"within", "recent"}, {"hourly", "hourly"}, {"daily", "daily"},
	{"start", "first"}, {"fork_point", "forked at"}, {"pin", "pinned"}, {"undo", "for undo and redo"}, {"conversation", "for what was said"}, {"unpushed", "not pushed"}, {"in_use", "in use"},
	{"shared", "in the histories of others"}, {"merged", "promoted or merged"}, {"turn", "beside those in their turns"},
}

// shownTurns are so many of the turns that go, of each end.
const shownTurns = 5

// describePruned lists the turns that go, and how old they are: that is why. A long list is
// folded.
func describePruned(p *print.Printer, m missions.PrunedMission, at time.Time) {
	var turns [][]missions.PrunedMoment
	for _, moment := range m.Moments {
		if last := len(turns) - 1; last >= 0 && turns[last][0].TurnsBack == moment.TurnsBack {
			turns[last] = append(turns[last], moment)
			continue
		}
		turns = append(turns, []missions.PrunedMoment{moment})
	}
	var t print.Table
	for i, turn := range turns {
		if len(turns) > 2*shownTurns+1 && i >= shownTurns && i < len(turns)-shownTurns {
			if i == shownTurns {
				t.Row(print.Dim.Cell("…"), print.Dim.Cell(""), print.Dim.Cell(print.Count(len(turns)-2*shownTurns, "more turn")+" (--json lists all)"))
			}
			continue
		}
		newest := turn[0]
		what := newest.Prompt
		if len(turn) > 1 {
			what = strings.TrimSpace(what + " (" + print.Count(len(turn), "snapshot") + ")")
		}
		t.Row(print.Yellow.Cell(print.Clean(newest.Address)), print.Dim.Cell(print.Age(at.Sub(newest.At))+", "+print.Count(newest.TurnsBack, "turn")+" back"),
			print.Plain.Cell(print.Clean(what)))
	}
	t.Print(p, "  ")
}

func describePrune(p *print.Printer, r missions.PruneResult) {
	goes := "dropped"
	if r.Preview {
		goes = "would go"
	}
	var shared []missions.PrunedMission
	for _, m := range r.Missions {
		if len(m.SharedWith) > 0 {
			shared = append(shared, m)
		}
		if m.Pruned == 0 {
			continue
		}
		name := p.Paint(print.Bold, print.Clean(m.Mission))
		if m.Removed {
			name += " (in the trash)"
		}
		p.Line("%s  %s %s, %s; %d kept", name, print.Count(m.Pruned, "snapshot"), goes, print.Size(m.Bytes), m.Kept)
		var why []string
		for _, reason := range keptReasons {
			if n := m.Why[reason[0]]; n > 0 {
				why = append(why, strconv.Itoa(n)+" "+reason[1])
			}
		}
		p.Line("  %s", p.Paint(print.Dim, "kept: "+strings.Join(why, ", ")))
		describePruned(p, m, r.At)
	}
	for _, m := range shared {
		p.Line("%s of %s stay, since they are in the history of %s, too, which is not pruned:", print.Count(m.Why["shared"], "snapshot"), print.Clean(m.Mission), print.Clean(strings.Join(m.SharedWith, ", ")))
		p.Line("  umbra prune %s", print.Clean(home.ShellCommand(append([]string{m.Mission}, m.SharedWith...))))
	}
	if r.Lost > 0 {
		p.Line("%s lost for good, as umbra doctor has said: what has them stays as it is", print.Count(r.Lost, "object"))
	}
	for _, problem := range r.Problems {
		p.Line("%s %s: %s", p.Paint(print.Red, "problem:"), print.Clean(cmp.Or(problem.Project, "the projects")), print.Clean(problem.Message))
		if problem.Fix != "" {
			p.Line("  to type: %s", print.Clean(problem.Fix))
		}
	}
	switch n := r.Pruned(); {
	case n == 0 && r.Owed:
		p.Line("nothing more to drop, but what was dropped before was not given back yet: umbra prune does it")
	case n == 0 && !r.Preview:
		p.Line("%s given back, of what was dropped before", print.Size(r.Bytes))
	case n == 0:
		p.Line("nothing to prune; what stays: %s, and what others need", r.Policy)
	case r.Preview:
		p.Line("%s in all would be given back; what stays: %s", print.Size(r.Bytes), r.Policy)
	default:
		p.Line("%s given back", print.Size(r.Bytes))
	}
}
