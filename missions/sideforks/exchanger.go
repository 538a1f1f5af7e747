// Package sideforks has the terminal of a mission serve a fork of it for a while: the mission
// is parked, and has its terminal again when the fork is left. Ending the one agent and
// launching the other is a handover, to which this package says what it is for.
package sideforks

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/promotes"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// Exchanger exchanges the missions that a terminal serves.
type Exchanger struct {
	*projects.Desk
	addresses *addresses.Finder
	handovers *handovers.Scheduler
	forks     *forks.Forker
	promotes  *promotes.Promoter
	agents    *agents.Launcher
	updates   *updates.Courier
	lender    *lender
}

// Rooms are what an Exchanger is built on.
type Rooms struct {
	Addresses *addresses.Finder
	Snapshots *snapshots.Taker
	Presence  *presence.Observer
	Restores  *restores.Restorer
	Handovers *handovers.Scheduler
	Forks     *forks.Forker
	Promotes  *promotes.Promoter
	Agents    *agents.Launcher
	Updates   *updates.Courier
}

// New makes an Exchanger.
func New(d *projects.Desk, r Rooms) *Exchanger {
	return &Exchanger{
		Desk: d, addresses: r.Addresses, handovers: r.Handovers, forks: r.Forks, promotes: r.Promotes, agents: r.Agents, updates: r.Updates,
		lender: &lender{Desk: d, snapshots: r.Snapshots, presence: r.Presence, restores: r.Restores, promotes: r.Promotes},
	}
}

// EnterFork parks a mission, and gives its terminal to a fork of it, at the end of its turn.
func (x *Exchanger) EnterFork(ctx context.Context, r missions.EnterForkRequest) (missions.SideForkResult, error) {
	at, past, err := x.findMoment(ctx, r)
	if err != nil {
		return missions.SideForkResult{}, err
	}
	m := at.Mission
	r.Mission, r.Moment, r.Fork = m.ID, "", ""
	if past {
		r.Moment = at.Snapshot.ID.String()
	}
	err = x.mayEnter(m, r)
	if err == nil && r.InPlace {
		err = x.lender.mayLend(m, past)
	}
	if err != nil {
		return missions.SideForkResult{}, err
	}
	if hasForeignTerminal(m) {
		return x.enterBeside(ctx, at, r)
	}
	if r.Preview {
		plan := planOf(m, m)
		plan.InPlace = r.InPlace
		if past {
			plan.Moment = at.Snapshot.Address(m.Name)
		}
		return plan, nil
	}
	done, err := x.handovers.RunAction(ctx, m, projects.Action{Enter: &r})
	if err != nil {
		return missions.SideForkResult{}, err
	}
	result := resultOf(m, done)
	result.InPlace = r.InPlace
	// Its agent may not be there yet: whoever serves next has the keeper launch it.
	if now, err := x.LoadMission(m.Project, m.ID); err == nil && done.Done && now.Live.SideFork != nil {
		if fork, err := x.LoadMission(m.Project, now.Live.SideFork.Mission); err == nil {
			result.Fork, result.ForkName = fork.ID, fork.Name
		}
	}
	return result, nil
}

// findMoment finds the moment that is forked; past says that it is not now.
func (x *Exchanger) findMoment(ctx context.Context, r missions.EnterForkRequest) (at addresses.ResolvedMoment, past bool, err error) {
	at, err = x.addresses.FindMoment(ctx, r.Caller, r.Moment, addresses.InProject)
	if err != nil || r.Moment == "" {
		return at, false, err
	}
	moment, err := missions.ParseMoment(r.Moment)
	if err != nil || moment.Form != missions.MomentNewest {
		return at, true, err
	}
	_, snapshot, err := x.addresses.FindMomentBase(ctx, r.Caller, moment, addresses.InProject)
	return at, !snapshot.IsZero(), err
}

// mayEnter refuses a mission whose terminal can't be passed on.
func (x *Exchanger) mayEnter(m *projects.Mission, r missions.EnterForkRequest) error {
	if err := m.CheckMachine(); err != nil {
		return err
	}
	beside := "umbra fork " + m.Name + ", in another terminal, makes a fork beside it"
	if parent := x.ParkedParent(m); parent != nil {
		return missions.Errorf(missions.KindBusy, "leave it first: umbra fork exit; or "+beside, "%s is a side fork itself, of %s", m.Name, parent.Name)
	}
	if m.IsBeside() {
		return missions.Errorf(missions.KindBusy, "leave it first: umbra fork exit; or "+beside, "%s is a side fork itself, of %s", m.Name, x.besideParent(m).Name)
	}
	if fork := x.SideForkOf(m); fork != nil {
		return missions.Errorf(missions.KindBusy, "leave it first: umbra fork exit "+fork.Name+"; or "+beside, "%s is parked for its side fork %s", m.Name, fork.Name)
	}
	if missions.HasAgent(m.Lifecycle) && (m.Live.Headless || x.IsHeadless(m.Agent, m.Command)) {
		run := "umbra fork run " + m.Name + " --prompt TEXT runs a fork in the background"
		return missions.Errorf(missions.KindFailed, run, "the agent of %s has no terminal", m.Name)
	}
	if !presence.CanRelaunchAgent(m) && !hasForeignTerminal(m) {
		return handovers.NoTerminalError(m)
	}
	if err := x.CheckPrompt(m.Agent, m.AgentName(), r.Topic); err != nil {
		return missions.Errorf(missions.KindUsage, "leave the topic out, and type it in the fork", "%w", err)
	}
	if err := agents.CheckProgram(m, m.Live.KeeperPath); err != nil && !hasForeignTerminal(m) {
		return missions.Errorf(missions.KindFailed, "put it back: the fork is launched with it", "%w", err)
	}
	return x.Space.CheckRoom()
}

// LeaveFork leaves a side fork, at the end of its turn: its parent has the terminal again.
func (x *Exchanger) LeaveFork(ctx context.Context, r missions.LeaveForkRequest) (missions.SideForkResult, error) {
	m, err := x.addresses.FindMission(ctx, r.Caller, r.Fork, addresses.InProject)
	if err != nil {
		if e := missions.AsError(err); r.Fork == "" && r.Caller.Mission == "" && e.Kind == missions.KindNotFound {
			err = missions.Errorf(e.Kind, "umbra mission ls --all shows which mission is parked for which fork; umbra fork exit in its directory", "%s", e.Message)
		}
		return missions.SideForkResult{}, err
	}
	if fork := x.SideForkOf(m); fork != nil {
		m = fork
	}
	parent := x.ParkedParent(m)
	if parent == nil && m.IsBeside() {
		parent, r.Beside = x.besideParent(m), true
	}
	if parent == nil {
		return missions.SideForkResult{}, x.noSideForkError(m)
	}
	r.Fork, r.Parent = m.ID, parent.ID
	if err := x.mayReturn(ctx, m, r); err != nil {
		return missions.SideForkResult{}, err
	}
	stays := x.lender.staysNote(ctx, parent)
	if r.Preview {
		plan := planOf(parent, m)
		plan.Notes = append(plan.Notes, stays...)
		plan.Fork, plan.ForkName, plan.Beside, plan.InPlace = m.ID, m.Name, r.Beside, m.IsLodger()
		return plan, nil
	}
	done, err := x.handovers.RunAction(ctx, m, projects.Action{Leave: &r})
	if err != nil {
		return missions.SideForkResult{}, err
	}
	result := resultOf(parent, done)
	result.Notes = append(result.Notes, stays...)
	result.Fork, result.ForkName, result.Beside, result.InPlace = m.ID, m.Name, r.Beside, m.IsLodger()
	if h := done.Handover; done.Done && h != nil && !r.Beside {
		result.Resume = h.Type
	}
	return result, nil
}

// noSideForkError says why a mission can't be left.
func (x *Exchanger) noSideForkError(m *projects.Mission) error {
	if parent := x.LenderOf(m); parent != nil {
		e := missions.AsError(x.LentError(parent))
		return missions.Errorf(missions.KindBusy, e.Hint, "the terminal in which %s was entered is gone; its files are in the workspace of %s", m.Name, parent.Name)
	}
	hint := "umbra fork enter makes one"
	if others := x.entered(m.Project); len(others) > 0 {
		hint = "umbra fork exit " + strings.Join(others, ", or umbra fork exit ")
	}
	if m.Parent != nil {
		if parent, err := x.LoadMission(m.Project, m.Parent.Mission); err == nil {
			hint = "umbra mission resume " + parent.Name + " goes on with what it was forked from"
		}
	}
	return missions.Errorf(missions.KindNotFound, hint, "%s is no side fork: no mission is parked for it", m.Name)
}

// entered are the names of the side forks of a project that can be left.
func (x *Exchanger) entered(p *projects.Project) (names []string) {
	all, _ := x.ProjectMissions(p) // one that can't be read is none to offer
	for _, m := range all {
		if x.ParkedParent(m) != nil || m.IsBeside() {
			names = append(names, m.Name)
		}
	}
	return names
}

// planOf is what would become of the terminal of a parent. Live is the mission whose agent
// has it: what is planned waits for its turn.
func planOf(parent, live *projects.Mission) missions.SideForkResult {
	plan := missions.SideForkResult{Parent: parent.ID, ParentName: parent.Name, Preview: true, Queued: missions.InTurn(live.Lifecycle)}
	if waits := live.Live.QueuedRestore; plan.Queued && waits != nil {
		plan.Notes = append(plan.Notes, handovers.ReplacesText(*waits))
	}
	return plan
}

// resultOf is what became of the terminal of a parked mission.
func resultOf(parent *projects.Mission, done missions.RestoreResult) missions.SideForkResult {
	return missions.SideForkResult{
		Parent: parent.ID, ParentName: parent.Name, Queued: done.Queued && done.Handover == nil, Begun: done.Queued && done.Handover != nil, Notes: done.Notes,
	}
}

// isFresh reports whether a fork that was made to be entered is of the moment that was meant:
// the parent may have had another turn since.
func isFresh(fork, parent *projects.Mission, r missions.EnterForkRequest) bool {
	return r.Moment != "" || fork.Parent != nil && fork.Parent.Snapshot == parent.Tip.ID.String()
}

// Prepare does what is to be done before a terminal is passed on, while nobody's agent has
// ended yet: it makes the fork, or promotes it.
func (x *Exchanger) Prepare(ctx context.Context, m *projects.Mission, a projects.Action) (projects.Action, error) {
	if a.Enter == nil {
		if h := m.Live.Handover; h == nil || !h.ToldToEnd {
			if err := x.mayReturn(ctx, m, *a.Leave); err != nil {
				return a, err
			}
		}
		x.reportIdle(ctx, m, *a.Leave)
		return a, x.promote(ctx, m, *a.Leave)
	}
	r := *a.Enter
	if r.Fork != "" {
		made, err := x.LoadPublishedMission(m.Project, r.Fork)
		if err != nil || made != nil && isFresh(made, m, r) {
			return a, err
		}
	}
	var snapshot gitstore.ID
	if r.Moment != "" {
		var err error
		if snapshot, err = gitstore.ParseID(r.Moment); err != nil {
			return a, err
		}
	}
	made, err := x.forks.ForkAtRest(ctx, m, snapshot, missions.ForkRequest{Caller: r.Caller, Prompt: r.Topic, EnvNames: m.EnvNames, Yes: r.Yes, InPlace: r.InPlace})
	if err != nil {
		return a, err
	}
	r.Fork = made.Missions[0].ID
	return projects.Action{Enter: &r}, nil
}
