package doctor

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// checkNames checks that each mission is found under its name and no other.
func (x *Examination) checkNames(ctx context.Context, p *projects.Project, listed []*projects.Mission, all bool) {
	list, err := p.Store.Refs(gitstore.RefHead)
	if err != nil {
		return // reported above
	}
	have, broken := map[gitstore.RefName]gitstore.RefName{}, map[gitstore.RefName]bool{}
	for _, ref := range list.Refs {
		have[ref.Name] = ref.Symbolic
	}
	for _, bad := range list.Bad {
		broken[gitstore.RefName(bad.Ref)] = true
	}
	called := map[gitstore.RefName]gitstore.RefName{} // what of that is right
	for _, m := range listed {
		if name, target := gitstore.HeadRef(m.Name), gitstore.AgentRef(m.ID); have[name] == target {
			called[name] = target
		}
	}
	for _, m := range listed {
		name, target := gitstore.HeadRef(m.Name), gitstore.AgentRef(m.ID)
		if right := called[name]; right != "" && right != target { // an earlier Umbra gave it twice
			x.report(missions.Problem{
				Invariant: "I1", Project: p.Name, Mission: m.ID,
				Message: "another mission is called " + m.Name + ", too", Fix: "umbra mission rename " + m.ID + " ANOTHER",
			}, nil)
			continue
		}
		called[name] = target
		if have[name] != target {
			x.report(missions.Problem{Invariant: "I1", Project: p.Name, Mission: m.Name, Message: "its name does not lead to it"}, func() error {
				if broken[name] {
					return p.Store.MendSymbolic(ctx, name, target)
				}
				return p.Store.SetSymbolic(ctx, name, have[name], target, gitstore.Durable)
			})
		}
		delete(have, name)
		delete(broken, name)
	}
	for name, target := range have {
		if !all { // it may name a mission that can't be read
			continue
		}
		x.report(missions.Problem{Invariant: "I1", Project: p.Name, Message: fmt.Sprintf("the name %s leads to a mission that is not called so", name.Arg())}, func() error {
			return p.Store.DeleteSymbolic(ctx, name, target)
		})
	}
	for name := range broken {
		found := missions.Problem{Invariant: "I1", Project: p.Name, Message: fmt.Sprintf("the name %s leads to nothing", name.Arg()), Fix: "umbra doctor --fix"}
		if !all { // it may be that of a mission that can't be read
			x.report(found, nil)
			continue
		}
		x.report(found, func() error { return p.Store.MendSymbolic(ctx, name, "") })
	}
}
