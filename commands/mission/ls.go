package mission

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

type missionLsOptions struct{ all, tree, live bool }

func missionLsCommand() *call.Verb {
	var o missionLsOptions
	return &call.Verb{
		Name: "ls", Short: "list the missions of this project, closed ones too",
		Flags: []flags.Flag{
			flags.Bool("all", "those of every project", &o.all),
			flags.Bool("tree", "forks below the missions they come from", &o.tree),
			flags.Bool("live", "only those with an agent", &o.live),
		},
		Run: func(c *call.Call) error { return runMissionLs(c, o) },
	}
}

func runMissionLs(c *call.Call, o missionLsOptions) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	list, err := svc.Missions(ctx, missions.MissionsRequest{Caller: caller, All: o.all, Live: o.live, Fetched: true})
	if err != nil {
		return err
	}
	if o.tree {
		list = inTree(list)
	}
	if len(list) == 0 && !c.JSON {
		c.Notice("no missions here; begin one with: umbra mission new")
		return nil
	}
	return c.Print(call.Listed(list), func(p *print.Printer) {
		var t print.Table
		for _, m := range list {
			branch := ""
			if o.tree {
				branch = branchOf(list, m)
			}
			wording.Row(&t, p, branch, m, o.all)
		}
		t.Print(p, "")
	})
}

// inTree puts each fork after the mission it comes from, keeping the order
// among those that come from the same one.
func inTree(list []missions.Mission) []missions.Mission {
	known := map[string]bool{}
	for _, m := range list {
		known[m.ID] = true
	}
	sorted := make([]missions.Mission, 0, len(list))
	var below func(parent string)
	below = func(parent string) {
		for _, m := range list {
			of := ""
			if m.Parent != nil && known[m.Parent.Mission] {
				of = m.Parent.Mission
			}
			if of == parent {
				sorted = append(sorted, m)
				below(m.ID)
			}
		}
	}
	below("")
	return sorted
}

// branchOf draws the lines that lead to a mission in a list that inTree sorted.
func branchOf(list []missions.Mission, m missions.Mission) string {
	byID := map[string]missions.Mission{}
	lastOf := map[string]string{}
	for _, o := range list {
		byID[o.ID] = o
		if o.Parent != nil {
			lastOf[o.Parent.Mission] = o.ID
		}
	}
	parent := func(m missions.Mission) (missions.Mission, bool) {
		if m.Parent == nil {
			return missions.Mission{}, false
		}
		p, ok := byID[m.Parent.Mission]
		return p, ok
	}
	up, ok := parent(m)
	if !ok {
		return ""
	}
	branch := "├─ "
	if lastOf[up.ID] == m.ID {
		branch = "└─ "
	}
	for m = up; ; m = up {
		if up, ok = parent(m); !ok {
			return branch
		}
		if lastOf[up.ID] == m.ID {
			branch = "   " + branch
		} else {
			branch = "│  " + branch
		}
	}
}
