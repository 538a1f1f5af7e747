// Package promotes makes a fork's state its parent's. What is done to the parent is a
// restore, of which this package only chooses the moment; what is the fork's, and what is
// the user's repository, is its own business.
package promotes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Promoter promotes forks.
type Promoter struct {
	*projects.Desk
	addresses *addresses.Finder
	snapshots *snapshots.Taker
	presence  *presence.Observer
	handovers *handovers.Scheduler

	// LeaveSideFork promotes a side fork as it is left: both agents are to be at rest. The
	// room of side forks hands it in.
	LeaveSideFork func(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) (missions.PromoteResult, error)
}

// New makes a Promoter.
func New(d *projects.Desk, a *addresses.Finder, s *snapshots.Taker, p *presence.Observer, h *handovers.Scheduler) *Promoter {
	return &Promoter{Desk: d, addresses: a, snapshots: s, presence: p, handovers: h}
}

// Promote makes a fork's state its parent's. The fork stays as it is. What the parent
// changed since the fork point is merged; what is on disk is kept in a snapshot first, and
// undo takes a promotion back.
func (p *Promoter) Promote(ctx context.Context, r missions.PromoteRequest) (missions.PromoteResult, error) {
	if err := r.Check(); err != nil {
		return missions.PromoteResult{}, err
	}
	fork, parent, err := p.findFork(ctx, r)
	if err != nil {
		return missions.PromoteResult{}, err
	}
	if parked := p.ParkedParent(fork); parked != nil {
		return p.LeaveSideFork(ctx, fork, parked, r)
	}
	if fork.IsBeside() || p.LenderOf(fork) != nil {
		return p.LeaveSideFork(ctx, fork, parent, r)
	}
	return p.PromoteFork(ctx, fork, parent, r)
}

// PromoteFork is Promote for a fork that was found, whoever has the parent's terminal.
func (p *Promoter) PromoteFork(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) (missions.PromoteResult, error) {
	fork, refused, err := p.SettleFork(ctx, fork, Settling{Verb: "promote", Force: r.Force, Preview: r.Preview})
	if err != nil {
		return missions.PromoteResult{}, err
	}
	promotion, tree := missions.Promotion{Fork: fork.ID, Name: fork.Name}, fork.Tip.Tree
	if r.Preview {
		if tree, promotion.Modes, err = p.presentState(ctx, fork); err != nil {
			return missions.PromoteResult{}, err
		}
		promotion.Tree = tree.String()
	}
	c := findCommits(ctx, fork, parent)
	var move *branchMove
	if r.Commits {
		if move, err = c.planMove(ctx, fork, parent, tree); err != nil && !r.Preview {
			return missions.PromoteResult{}, err
		}
		if err != nil {
			refused = append(refused, missions.AsError(err))
		}
	}
	asked := r.Restore(parent.ID, fork.Tip.ID.String(), promotion)
	done, err := p.handovers.RunAction(ctx, parent, projects.Action{Restore: &asked})
	result := missions.PromoteResult{RestoreResult: done, From: fork.ID, FromName: fork.Name, Branch: c.branch, Commits: c.list}
	if err != nil {
		return result, err
	}
	result.Refused = append(refused, result.Refused...)
	if result.TargetAddress == "" {
		result.TargetAddress = restores.AddressOfSnapshot(fork, fork.Tip.ID)
	}
	if result.Merged == nil {
		result.Merged = []string{}
	}
	c.addNotes(ctx, &result, r, move)
	if whole := !r.FilesOnly && !r.ConversationOnly && len(result.Kept)+len(result.Displaced) == 0; result.Done && whole && !r.Keep {
		result.Forks = p.forksOf(parent, fork)
	}
	return result, nil
}

// findFork finds the fork that is meant, and its parent.
func (p *Promoter) findFork(ctx context.Context, r missions.PromoteRequest) (fork, parent *projects.Mission, err error) {
	if fork, err = p.addresses.FindMission(ctx, r.Caller, r.Fork, addresses.InProject); err != nil {
		return nil, nil, err
	}
	if fork.Parent == nil {
		return nil, nil, missions.Errorf(missions.KindNotFound, p.forksHint(fork), "%s is not a fork", fork.Name)
	}
	if parent, err = p.LoadPublishedMission(fork.Project, fork.Parent.Mission); parent != nil || err != nil {
		return fork, parent, err
	}
	if removed, err := p.LoadRemovedMission(fork.Project, fork.Parent.Mission); err == nil {
		return nil, nil, missions.Errorf(missions.KindNotFound, "umbra trash restore "+removed.Name+", then the same again",
			"the parent of %s, mission %s, is in the trash", fork.Name, removed.Name)
	}
	return nil, nil, missions.Errorf(missions.KindNotFound, "go on in the fork: umbra mission resume "+fork.Name, "the parent of %s is gone", fork.Name)
}

// forksHint names the forks of a mission that is none itself.
func (p *Promoter) forksHint(m *projects.Mission) string {
	var names []string
	for _, f := range p.listForks(m) {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return "umbra fork " + m.Name + " makes one"
	}
	return "umbra promote " + names[0] + "; its forks: " + strings.Join(names, ", ")
}

// Settling is how a fork comes to rest whose work is brought to another mission.
type Settling struct {
	Verb    string // what is done with it, "promote"
	Force   bool   // it may be in a turn
	Preview bool   // no snapshot is taken
}

// SettleFork takes a snapshot of the fork, so that its newest one is what is promoted or
// merged. refused is what stands in the way, in a preview, which takes no snapshot.
func (p *Promoter) SettleFork(ctx context.Context, fork *projects.Mission, s Settling) (_ *projects.Mission, refused []*missions.Error, err error) {
	if err := p.LentError(fork); err != nil {
		return nil, nil, err
	}
	done := strings.TrimSuffix(s.Verb, "e") + "ed"
	if fork.CheckMachine() != nil || fork.IsWorkspaceGone() {
		missions.Notify(ctx, missions.Notice{Text: fmt.Sprintf("the workspace of %s is not there: its newest snapshot is %s", fork.Name, done)})
		return fork, nil, nil
	}
	if fork, err = p.presence.ReloadMission(ctx, fork); err != nil {
		return nil, nil, err
	}
	if !s.Force && !s.Preview {
		if fork, err = p.presence.WaitUntilSettled(ctx, fork); err != nil {
			return nil, nil, err
		}
	}
	if missions.InTurn(fork.Lifecycle) && !s.Force {
		busy := missions.Errorf(missions.KindBusy, "umbra mission wait "+fork.Name+" waits for it; --force "+s.Verb+"s what is there now",
			"%s is at work, in turn %d", fork.Name, fork.Lifecycle.LastTurn())
		if !s.Preview {
			return nil, nil, busy
		}
		refused = append(refused, busy)
	}
	if s.Preview {
		return fork, refused, nil
	}
	answer, err := p.snapshots.SubmitRequest(ctx, fork.Project, fork.ID, &snapshots.Request{Take: &missions.TakeSnapshot{
		Trigger: missions.TriggerManual, Message: "before it is " + done, OnlyIfChanged: true, CompareModes: true,
	}})
	return answer.Mission, nil, err
}

// PresentTree is what is in the fork's workspace. If that can't be looked at or stored, it
// is the tree of the fork's newest snapshot.
func (p *Promoter) PresentTree(ctx context.Context, fork *projects.Mission) (gitstore.ID, error) {
	tree, _, err := p.presentState(ctx, fork)
	return tree, err
}

// presentState is PresentTree with what a tree can't hold, where that could be looked at.
func (p *Promoter) presentState(ctx context.Context, fork *projects.Mission) (tree gitstore.ID, modes []byte, err error) {
	if fork.CheckMachine() != nil || fork.IsWorkspaceGone() || p.Space.CheckRoom() != nil {
		return fork.Tip.Tree, nil, nil
	}
	err = p.WithWorkspaceLock(ctx, fork, func(fork *projects.Mission) error {
		present, err := p.snapshots.PresentSide(ctx, fork)
		if err == nil {
			tree, modes = present.Tree, present.Modes.Document()
		}
		return err
	})
	return tree, modes, err
}

// listForks lists the forks of a mission, oldest first.
func (p *Promoter) listForks(m *projects.Mission) []*projects.Mission {
	all, _ := p.ProjectMissions(m.Project) // one that can't be read is no fork to offer
	all = slices.DeleteFunc(all, func(f *projects.Mission) bool { return f.Parent == nil || f.Parent.Mission != m.ID })
	slices.SortFunc(all, func(a, b *projects.Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}
