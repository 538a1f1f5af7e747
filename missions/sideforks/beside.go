package sideforks

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// hasForeignTerminal reports whether a mission's agent is in a terminal that no keeper owns:
// nobody can pass it on, and a side fork is entered beside it.
func hasForeignTerminal(m *projects.Mission) bool {
	return missions.HasAgent(m.Lifecycle) && !m.Live.HasKeeper()
}

// enterBeside makes the fork that is entered from an agent whose terminal can't be passed
// on. Who asked opens a terminal for it: the environment that this takes is theirs. An agent
// that asks in its own turn can't wait for the end of that: the fork is of the turn before.
func (x *Exchanger) enterBeside(ctx context.Context, at addresses.ResolvedMoment, r missions.EnterForkRequest) (missions.SideForkResult, error) {
	m := at.Mission
	// Within a call of its own the agent is in its turn; else a hook asks, for what was typed.
	inOwnTurn := r.Moment == "" && r.Caller.Mission == m.ID && missions.InTurn(m.Lifecycle) && len(m.Live.OpenTools) > 0
	result := missions.SideForkResult{Parent: m.ID, ParentName: m.Name, Beside: true, Preview: r.Preview}
	if r.Moment != "" {
		result.Moment = at.Snapshot.Address(m.Name)
	}
	if inOwnTurn {
		result.Notes = append(result.Notes, "the fork begins with the last finished turn of "+m.Name+": this one goes on")
	}
	if r.IdleTimeout > 0 {
		result.Notes = append(result.Notes, "no idle timeout: nobody waits for its terminal")
	}
	if r.Preview {
		return result, x.agents.CheckLiveLimit(r.Caller, "")
	}
	made, err := x.forkBeside(ctx, at, r, inOwnTurn)
	if err != nil {
		return missions.SideForkResult{}, err
	}
	fork, err := x.LoadMission(m.Project, made.Missions[0].ID)
	if err != nil {
		return missions.SideForkResult{}, err
	}
	err = x.WithWorkspaceLock(ctx, fork, func(fork *projects.Mission) error {
		fork.Live.Beside = true
		x.SaveLiveState(fork)
		return nil
	})
	result.Fork, result.ForkName, result.Moment = fork.ID, fork.Name, ""
	result.Notes = append(result.Notes, slices.DeleteFunc(made.Notes, func(note string) bool { return note == "" })...)
	return result, err
}

// forkBeside forks a moment, or the mission as it is now: the agent's own call between its
// turns comes from a hook, for which the agent waits.
func (x *Exchanger) forkBeside(ctx context.Context, at addresses.ResolvedMoment, r missions.EnterForkRequest, inOwnTurn bool) (missions.ForkResult, error) {
	m := at.Mission
	request := missions.ForkRequest{Caller: r.Caller, From: m.Name, Prompt: r.Topic, EnvNames: m.EnvNames, Yes: r.Yes, Launching: true, NoWait: inOwnTurn}
	switch {
	case r.Moment != "":
		request.From = at.Snapshot.ID.String()
	case r.Caller.Mission == m.ID && !inOwnTurn:
		if err := x.agents.CheckLiveLimit(r.Caller, ""); err != nil {
			return missions.ForkResult{}, err
		}
		return x.forks.ForkAtRest(ctx, m, gitstore.ID{}, request)
	}
	return x.forks.Fork(ctx, request)
}

// besideParent is the mission that a fork was entered from which is beside it, as far as it
// is still known. Its terminal is its own: leaving the fork asks nothing of it.
func (x *Exchanger) besideParent(fork *projects.Mission) *projects.Mission {
	if parent, err := x.LoadMission(fork.Project, fork.Parent.Mission); err == nil {
		return parent
	}
	gone := *fork // removed meanwhile: only what it was called is missing
	gone.Stored.ID, gone.Stored.Name = fork.Parent.Mission, "its parent"
	return &gone
}
