package merges

import (
	"errors"

	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/missions"
)

// propose has an agent propose what the paths become that conflict, in a workspace of its
// own that has the merged files, with marks in these. That goes when what the agent has
// written is taken over, and not before: whatever goes wrong, the next step takes it over.
func (a *asker) propose(force bool) error {
	for a.result.NeedsMerger() {
		agent := a.result.Merger
		made, err := a.merge(missions.MergeRequest{Step: missions.MergePropose, Force: force})
		if err != nil {
			return err
		}
		a.c.Notice("%s is asked what becomes of %s", agent, about(a.result))
		end, err := a.awaitMerger(*made.Scratch)
		if err != nil {
			return err
		}
		if a.result, err = a.merge(missions.MergeRequest{Step: missions.MergeProposed, Proposed: &end, Force: force}); err != nil {
			return err
		}
		a.removeLeft()
		for _, note := range a.result.Notes {
			a.c.Notice("note: %s", note)
		}
		a.result.Scratch, a.result.Notes = nil, nil
	}
	return nil
}

// about says which paths a merger is asked about.
func about(r missions.MergeResult) string {
	for _, q := range r.Conflicts {
		if q.Severity == missions.SeverityMedium || q.Proposal != nil {
			return "the paths with which the check does not pass"
		}
	}
	return "the paths that conflict"
}

// awaitMerger has the agent work under a keeper of its own, and waits for its end.
func (a *asker) awaitMerger(m missions.Mission) (end missions.MergerEnd, err error) {
	svc, caller, ctx, err := a.c.Asking()
	if err != nil {
		return end, err
	}
	b := forks.Background{Missions: []missions.Mission{m}, Timeout: a.timeout}
	if wasInterrupted(m) {
		b.Prompt = "You were interrupted. Go on with what you were asked, and answer at the end as you were told."
	}
	outcomes, stopped := forks.Await(a.c, svc, caller, b)
	switch outcome := outcomes[0]; {
	case stopped:
		return end, errors.Join(ctx.Err(), a.c.Context.Err())
	case outcome.Ended == forks.EndedNotBegun:
		return end, missions.Errorf(missions.KindFailed, "umbra merge --continue --into "+a.result.Into+" asks it again; --resolve chooses by hand",
			"the agent that was to merge was not begun: %s", outcome.Problem)
	case !outcome.IsGood():
		return missions.MergerEnd{Mission: m.ID, Problem: outcome.How(a.timeout), Answer: outcome.Answer}, nil
	default:
		return missions.MergerEnd{Mission: m.ID, Answer: outcome.Answer}, nil
	}
}

// wasInterrupted reports whether the agent of a merge has begun, and was ended from outside:
// by its user, or by a kill.
func wasInterrupted(m missions.Mission) bool {
	const signaled = 128 // a shell's exit code of a program that a signal has ended is above it
	return m.State == missions.StateClosed && !m.PromptKept && (m.ExitCode == nil || *m.ExitCode > signaled)
}

// SayProposal says who proposes what, and why.
func SayProposal(p missions.MergeProposal) string {
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
