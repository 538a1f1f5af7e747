package merges

import (
	"errors"

	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/missions"
)

// propose has an agent propose what the paths become that conflict, in a workspace of its
// own that has the merged files, with marks in these. That goes when the agent has ended.
func (a *asker) propose(force bool) error {
	for a.result.NeedsMerger() {
		agent := a.result.Merger
		made, err := a.merge(missions.MergeRequest{Step: missions.MergePropose, Force: force})
		if err != nil {
			return err
		}
		a.c.Notice("%s is asked what becomes of the paths that conflict", agent)
		end, err := a.awaitMerger(*made.Scratch)
		if err == nil {
			a.result, err = a.merge(missions.MergeRequest{Step: missions.MergeProposed, Proposed: &end, Force: force})
		}
		a.removeScratch(*made.Scratch)
		if err != nil {
			return err
		}
		for _, note := range a.result.Notes {
			a.c.Notice("note: %s", note)
		}
		a.result.Scratch, a.result.Notes = nil, nil
	}
	return nil
}

// awaitMerger has the agent work under a keeper of its own, and waits for its end.
func (a *asker) awaitMerger(m missions.Mission) (end missions.MergerEnd, err error) {
	svc, caller, ctx, err := a.c.Asking()
	if err != nil {
		return end, err
	}
	outcomes, stopped := forks.Await(a.c, svc, caller, forks.Background{Missions: []missions.Mission{m}, Timeout: a.timeout})
	switch outcome := outcomes[0]; {
	case stopped:
		return end, errors.Join(ctx.Err(), a.c.Context.Err())
	case outcome.Ended == forks.EndedNotBegun:
		return end, missions.Errorf(missions.KindFailed, "umbra merge --continue --into "+a.result.Into+" asks it again; --resolve chooses by hand",
			"the agent that was to merge was not begun: %s", outcome.Problem)
	case !outcome.IsGood():
		return missions.MergerEnd{Problem: outcome.How(a.timeout), Answer: outcome.Answer}, nil
	default:
		return missions.MergerEnd{Answer: outcome.Answer}, nil
	}
}

// sayProposal says who proposes what, and why.
func sayProposal(p missions.MergeProposal) string {
	text := p.By + " proposes it"
	switch {
	case p.Refused != "":
		return "what " + p.By + " has proposed is refused: " + p.Refused
	case p.Checked:
		text = "the check passes with what " + p.By + " proposes"
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}
