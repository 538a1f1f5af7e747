package handovers

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// NoTerminalError says that no keeper would launch another agent in the mission's terminal.
func NoTerminalError(m *projects.Mission) error {
	return missions.Errorf(missions.KindFailed, "umbra fork "+m.Name+" makes a fork in this terminal; umbra mission resume "+m.Name+" goes on in it",
		"no agent of %s is there: no terminal can be passed on", m.Name)
}

// isAtHandover reports whether a process carries out a handover.
func isAtHandover(self lock.Owner, h *projects.Handover, id string) bool {
	return h.IsOpen() && h.ID == id && h.Owner == self
}

// A terminal is passed on from one mission to another by its keeper: a Scheduler's handovers,
// after which another mission's agent is launched.
type terminal struct{ *Scheduler }

// holdFor is how the mission of an action is held. A side fork must be left also where its
// workspace is gone, which nobody can hold then.
func (s *Scheduler) holdFor(a projects.Action) projects.HoldFunc {
	if a.Leave == nil {
		return s.WithWorkspaceLock
	}
	return func(ctx context.Context, m *projects.Mission, fn func(*projects.Mission) error) error {
		return s.WithMissionLock(ctx, m, s.WithWorkspaceLock, fn)
	}
}

// prepare does, once, what an action that passes the terminal on needs beforehand,
// and returns the action then. Nobody holds the workspace.
func (t terminal) prepare(ctx context.Context, m *projects.Mission, id string) (a projects.Action, err error) {
	now, err := t.LoadMission(m.Project, m.ID)
	if err != nil {
		return a, err
	}
	h := now.Live.Handover
	if !isAtHandover(t.Self, h, id) {
		return a, takenOverError(m, h)
	}
	if a = h.Action; !a.PassesTerminal() || h.Prepared {
		return a, nil
	}
	prepared, err := t.PrepareTerminal(ctx, now, a)
	if err != nil {
		return a, err
	}
	failpoint.Hit("terminal.prepared")
	a = prepared
	return a, t.holdFor(a)(ctx, m, func(m *projects.Mission) error {
		h := m.Live.Handover
		if !isAtHandover(t.Self, h, id) {
			return takenOverError(m, h)
		}
		h.Action, h.Prepared = a, true
		t.SaveLiveState(m)
		failpoint.Hit("terminal.noted")
		return nil
	})
}

// prepareWithAgentAlive is prepare before the agent is told to end: what is refused
// ends nobody. It returns what was done instead.
func (t terminal) prepareWithAgentAlive(ctx context.Context, m *projects.Mission, h *projects.Handover) (instead *missions.RestoreResult, err error) {
	if !h.Action.PassesTerminal() {
		return nil, nil
	}
	hold := t.holdFor(h.Action)
	err = hold(ctx, m, func(m *projects.Mission) (err error) {
		if isAtHandover(t.Self, m.Live.Handover, h.ID) && missions.InTurn(m.Lifecycle) {
			instead, err = t.postponeHandover(m, h)
		}
		return err
	})
	if err != nil || instead != nil {
		return instead, err
	}
	a, failed := t.prepare(ctx, m, h.ID)
	if failed == nil {
		h.Action = a
		return nil, nil
	}
	err = hold(ctx, m, func(m *projects.Mission) error {
		if isAtHandover(t.Self, m.Live.Handover, h.ID) {
			t.dropHandover(ctx, m, h, failed)
		}
		return nil
	})
	if err != nil {
		t.Logger.Warn("drop a handover", "mission", m.ID, "error", err)
	}
	return nil, failed
}

// pass closes the mission whose terminal another has from now on. The agent has
// ended; the caller holds the workspace.
func (t terminal) pass(ctx context.Context, m *projects.Mission, h *projects.Handover) (missions.RestoreResult, error) {
	if h.Failed != "" {
		m.LastError = h.Failed
	}
	presence.PutBackPrompt(m, presence.HasTakenPrompt(m))
	t.presence.RemoveLaunchFiles(m)
	m.Lent = nil // of an earlier side fork; one that is cut off here lends again
	if err := t.snapshots.PassTerminal(ctx, m, missions.TerminalPassed{Reason: closeReason(h.Action)}); err != nil {
		return missions.RestoreResult{}, err
	}
	failpoint.Hit("terminal.closed")
	if enter := h.Action.Enter; enter != nil && enter.InPlace {
		if err := t.lend(ctx, m, enter.Fork); err != nil {
			return missions.RestoreResult{}, err
		}
	}
	if h.Next = h.Action.NextMission(); h.Action.Enter != nil && m.Live.HasKeeper() {
		m.Live.SideFork = &projects.SideFork{Mission: h.Next, Keeper: *m.Live.Keeper, IdleTimeout: h.Action.Enter.IdleTimeout}
	}
	m.Live.Beside = false
	h.Banner = t.banner(m, h)
	return missions.RestoreResult{Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace, Done: true}.WithEmptyLists(), nil
}

// lend has a side fork work in the workspace of its parent, which is parked. That the
// workspace is lent is durable before the fork is bound to it: whoever finds it so gives
// the parent its files back. The caller holds the workspace.
func (t terminal) lend(ctx context.Context, m *projects.Mission, id string) error {
	fork, err := t.LoadMission(m.Project, id)
	if err != nil {
		return err
	}
	m.Lent = &projects.Lending{Fork: fork.ID, Snapshot: m.Tip.ID.String()}
	if err := t.snapshots.WriteMetaRecord(ctx, m, "its workspace is lent to "+fork.Name); err != nil {
		return err
	}
	failpoint.Hit("terminal.lent")
	fork.MoveIn(m)
	if err := t.snapshots.WriteMetaRecord(ctx, fork, "works in the workspace of "+m.Name); err != nil {
		return err
	}
	failpoint.Hit("terminal.lodged")
	return nil
}

// closeReason is how a mission is closed whose terminal is passed on.
func closeReason(a projects.Action) missions.CloseReason {
	switch {
	case a.Enter != nil:
		return missions.CloseReasonParked
	case a.Leave.Promote != nil:
		return missions.CloseReasonPromoted
	}
	return missions.CloseReasonDiscarded
}

// banner says whose the terminal is now, and how to go back.
func (t terminal) banner(m *projects.Mission, h *projects.Handover) string {
	if h.Action.EndsTerminal() {
		return t.besideBanner(m, h)
	}
	next, err := t.LoadMission(m.Project, h.Next)
	if err != nil {
		return "umbra: the terminal of " + m.Name + " is passed on"
	}
	switch a := h.Action; {
	case a.Leave != nil && a.Leave.Promote != nil && m.IsLodger(): // it is promoted when its parent has its files again
		return "umbra: " + backText(m, next, h)
	case a.Leave != nil && a.Leave.Promote != nil:
		return fmt.Sprintf("umbra: back in %[1]s, which has what %[2]s did; to take it back: umbra undo %[1]s", next.Name, m.Name)
	case h.Failed != "":
		return fmt.Sprintf("umbra: the side fork %s could not be launched: %s; back in %s", m.Name, oneLine(h.Failed), next.Name)
	case a.Leave != nil && a.Leave.TimedOut != "":
		return fmt.Sprintf("umbra: back in %s; nobody was at %s, which is ended and kept: umbra mission resume %s", next.Name, m.Name, m.Name)
	case a.Leave != nil:
		return fmt.Sprintf("umbra: back in %s; %s is kept: umbra mission resume %s", next.Name, m.Name, m.Name)
	}
	text, parked := fmt.Sprintf("umbra: side fork %s of %s", next.Name, m.Name), m.Name+", which is parked"
	if h.Action.Enter.InPlace {
		text, parked = text+", in its workspace", parked+", with its files as they are now"
	}
	if h.Action.Enter.Topic != "" {
		text += ": " + oneLine(h.Action.Enter.Topic)
	}
	return text + "\n  back to " + parked + ": " + waysBack
}

// How a side fork is left: as it is typed in a shell, and in an agent that has Umbra's commands.
const (
	waysBack        = "umbra fork exit; with what was found out: umbra fork report; with all that was done: umbra promote"
	waysBackInAgent = "/umbra exit; with what was found out: /umbra report; with all that was done: /umbra promote"
)

// TypedInAgent is a banner that names what can be typed in an agent that has Umbra's commands.
func TypedInAgent(banner string) string { return strings.Replace(banner, waysBack, waysBackInAgent, 1) }

// backText is what a banner says of the parent of a side fork that was left, before the parent
// has its files back.
func backText(fork, parent *projects.Mission, h *projects.Handover) string {
	if h.Action.Leave.Promote == nil {
		return "back in " + parent.Name
	}
	return fmt.Sprintf("back in %[1]s; to promote %[2]s, which is kept: umbra promote %[2]s", parent.Name, fork.Name)
}

// besideBanner says in the terminal of a side fork that was left why that ends.
func (t terminal) besideBanner(m *projects.Mission, h *projects.Handover) string {
	switch {
	case h.Action.Leave.Promote != nil:
		parent, err := t.LoadMission(m.Project, h.Action.Leave.Parent)
		if err != nil {
			return fmt.Sprintf("umbra: %s was promoted", m.Name)
		}
		return fmt.Sprintf("umbra: %s was promoted; to take it back: umbra undo %s%s", m.Name, parent.Name, t.howParentGoesOn(parent))
	case h.Failed != "":
		return fmt.Sprintf("umbra: the side fork %s could not be launched: %s", m.Name, oneLine(h.Failed))
	}
	return fmt.Sprintf("umbra: %[1]s was left, and is kept: umbra mission resume %[1]s", m.Name)
}

// howParentGoesOn says what is to be typed where the agent of a parent goes on that a fork was
// promoted beside: nobody but its user can switch it over.
func (t terminal) howParentGoesOn(parent *projects.Mission) string {
	switcher, ok := t.Adapter(parent.Agent).(sessions.Switcher)
	_, alive := parent.Live.LivingProcess()
	switch {
	case parent.Live.QueuedRestore != nil:
		return "\n  it waits for the end of its turn; umbra mission show " + parent.Name + " says what is to be typed then"
	case parent.Stored.Session == "" || parent.Live.IsInSession(parent.Stored.Session):
		return ""
	case alive && ok:
		return "\n  to go on from there, type in the agent of " + parent.Name + ": " + switcher.Switch(parent.Stored.Session)
	}
	return "\n  to go on from there, end the agent of " + parent.Name + ", then: umbra mission resume " + parent.Name
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// beginLeaving has a side fork left whose agent has ended by itself, or could not be
// started, as its keeper reports.
func (t terminal) beginLeaving(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (begun bool, err error) {
	if r.Leaving || t.ParkedParent(m) == nil && !m.IsBeside() {
		return false, nil
	}
	return begun, t.WithMissionLock(ctx, m, t.WithWorkspaceLock, func(m *projects.Mission) error {
		leave := t.leaveRequest(m, r.Caller)
		if leave == nil || m.Live.LaunchID != r.Launch || m.Live.EndedLaunch == r.Launch || m.Live.Handover.IsOpen() {
			return nil
		}
		switch q := m.Live.QueuedRestore; {
		case q != nil && q.Leave != nil:
			leave = q.Leave
		case q != nil:
			t.restores.NoteActionNotDone(ctx, m, *q, missions.Errorf(missions.KindFailed, "umbra mission resume "+m.Name, "the side fork was left"))
		}
		m.Live.QueuedRestore = nil
		m.Live.Handover = &projects.Handover{
			ID: t.NewID(), LaunchID: r.Launch, Action: projects.Action{Leave: leave}, Owner: t.Self, TipBefore: m.Tip.ID.String(),
			ToldToEnd: true, Failed: r.Failed,
		}
		begun = true
		t.SaveLiveState(m)
		failpoint.Hit("terminal.left")
		return nil
	})
}

// leaveRequest leaves a side fork, nil if the mission is none.
func (t terminal) leaveRequest(m *projects.Mission, c missions.Caller) *missions.LeaveForkRequest {
	if parent := t.ParkedParent(m); parent != nil {
		return &missions.LeaveForkRequest{Caller: c, Fork: m.ID, Parent: parent.ID, TimedOut: parent.Live.SideFork.TimedOut}
	}
	if m.IsBeside() {
		return &missions.LeaveForkRequest{Caller: c, Fork: m.ID, Parent: m.Parent.Mission, Beside: true}
	}
	return nil
}

// end has the keeper of a side fork end that has a terminal of its own.
func (t terminal) end(ctx context.Context, m *projects.Mission, r missions.KeepRequest) missions.KeepResult {
	if err := t.forgetKeeper(ctx, m, r); err != nil {
		t.Logger.Warn("note that a keeper ends", "mission", m.ID, "error", err)
	}
	h := m.Live.Handover
	return missions.KeepResult{Do: missions.DoExit, Banner: h.Banner, NotLaunched: h.Failed != "", Unfinished: h.Action.Leave.Promote != nil}
}

// prepareNext prepares the launch of the mission that has the terminal from now on. If it
// can't be launched there, a side fork's parent is again; a keeper whose side fork was left
// ends. A keeper whose answer was cut off asks again and gets another launch.
func (t terminal) prepareNext(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, error) {
	h := m.Live.Handover
	result := missions.KeepResult{Do: missions.DoRelaunch, Banner: h.Banner}
	next, err := t.LoadMission(m.Project, h.Next)
	if err == nil && h.Action.Leave != nil {
		before, said := backText(m, next, h), ""
		if next, said, err = t.TakeBack(context.WithoutCancel(ctx), next, r.Caller); said != "" {
			result.Banner = strings.Replace(h.Banner, before, said, 1)
			h = t.changeBanner(ctx, m, result.Banner)
		}
	}
	if err == nil {
		err = t.WithWorkspaceLock(ctx, next, func(next *projects.Mission) error {
			if err := mayHaveTerminal(m, next, r.KeeperPID); err != nil {
				return err
			}
			launch, err := t.agents.PrepareLaunch(ctx, next, missions.LaunchRequest{Caller: r.Caller, KeeperPID: r.KeeperPID, Resume: true, Variables: r.Variables})
			if err != nil {
				return err
			}
			result.Launch, next.Live.Handover, next.Live.Notice = &launch, nil, h.Banner
			t.SaveLiveState(next)
			failpoint.Hit("terminal.launch")
			return nil
		})
	}
	if ctx.Err() != nil {
		return missions.KeepResult{}, ctx.Err()
	}
	if err != nil {
		why := oneLine(missions.AsError(err).Message)
		if h.Action.Enter != nil {
			if _, _, err := t.TakeBack(ctx, m, r.Caller); err != nil {
				return missions.KeepResult{}, err
			}
			result, err := t.prepareRelaunch(ctx, m, r)
			result.Banner = fmt.Sprintf("umbra: the side fork could not be launched: %s; %s goes on", why, m.Name)
			return result, err
		}
		result.Do, result.NotLaunched = missions.DoExit, true
		result.Banner = notBackText(m, next, why)
	}
	if err := t.forgetKeeper(ctx, m, r); err != nil {
		t.Logger.Warn("note whose a keeper is now", "mission", m.ID, "error", err)
	}
	return result, nil
}

// changeBanner notes what the user is to read after a handover, for a keeper whose answer is cut
// off.
func (t terminal) changeBanner(ctx context.Context, m *projects.Mission, text string) *projects.Handover {
	err := t.WithMissionLock(ctx, m, t.WithWorkspaceLock, func(now *projects.Mission) error {
		if h := now.Live.Handover; h != nil && h.ID == m.Live.Handover.ID {
			h.Banner = text
			t.SaveLiveState(now)
		}
		return nil
	})
	if err != nil {
		t.Logger.Warn("note what a terminal shows", "mission", m.ID, "error", err)
	}
	m.Live.Handover.Banner = text
	return m.Live.Handover
}

// notBackText says in the terminal of a side fork that was left why its parent's agent is not
// there.
func notBackText(fork, parent *projects.Mission, why string) string {
	left := fork.Name + " was left"
	if fork.Live.Handover.Action.Leave.Promote != nil {
		left = fork.Name + " was promoted"
	}
	if parent == nil {
		return fmt.Sprintf("umbra: %s; the agent of its parent could not be launched here: %s", left, why)
	}
	return fmt.Sprintf("umbra: %[1]s; the agent of %[2]s could not be launched here: %[3]s\n  umbra mission resume %[2]s", left, parent.Name, why)
}

// await waits until the keeper has launched the agent that the terminal is passed on to. It
// fails if a side fork is not launched; that a parent is not is in the result.
func (t terminal) await(ctx context.Context, m *projects.Mission, h *projects.Handover, result *missions.RestoreResult) error {
	for deadline := t.Now().Add(relaunchPatience); t.Now().Before(deadline); {
		now, err := t.LoadMission(m.Project, m.ID)
		if err != nil {
			return err
		}
		if h.Action.EndsTerminal() {
			if !now.Live.HasKeeper() {
				return nil
			}
			if t.awaitHandoverPoll(ctx) != nil {
				break
			}
			continue
		}
		next, err := t.LoadMission(m.Project, h.Action.NextMission())
		if err != nil {
			return err
		}
		isBack := now.Live.Handover == nil && presence.CanRelaunchAgent(now)
		switch {
		case presence.CanRelaunchAgent(next):
			return nil
		case isBack || !now.Live.HasKeeper() && !next.Live.HasKeeper():
			if h.Action.Enter != nil {
				return enterFailure(now, next, isBack)
			}
			result.Handover = &missions.Handover{How: "resume", Type: "umbra mission resume " + next.Name}
			return nil
		}
		if t.awaitHandoverPoll(ctx) != nil {
			break
		}
	}
	result.Notes = append(result.Notes, "its agent is not there yet: look at the terminal")
	return nil
}

// enterFailure says that a side fork has not got the terminal of its parent.
func enterFailure(parent, fork *projects.Mission, isBack bool) error {
	hint := "umbra mission resume " + parent.Name
	if isBack {
		hint = parent.Name + " goes on in its terminal; umbra mission resume " + fork.Name + " goes on in the fork"
	}
	if fork.LastError == "" {
		return missions.Errorf(missions.KindFailed, hint, "the agent of the side fork %s has ended already", fork.Name)
	}
	return missions.Errorf(missions.KindFailed, hint, "the side fork %s could not be launched: %s", fork.Name, oneLine(fork.LastError))
}

// mayHaveTerminal refuses a mission that is live elsewhere, or, after a side fork, was
// launched elsewhere meanwhile.
func mayHaveTerminal(from, next *projects.Mission, keeper int) error {
	p, alive := next.Live.LivingProcess()
	if alive && p.PID != keeper {
		return missions.Errorf(missions.KindBusy, "go to it", "mission %s is live already (pid %d)", next.Name, p.PID)
	}
	claim := next.Live.SideFork
	if from.Live.Handover.Action.Leave != nil && !alive && (claim == nil || claim.Mission != from.ID || claim.Keeper.PID != keeper) {
		return missions.Errorf(missions.KindBusy, "umbra mission resume "+next.Name, "mission %s was launched elsewhere meanwhile", next.Name)
	}
	return nil
}

// forgetKeeper notes that the keeper keeps the agent of another mission now.
func (t terminal) forgetKeeper(ctx context.Context, m *projects.Mission, r missions.KeepRequest) error {
	return t.WithMissionLock(ctx, m, t.WithWorkspaceLock, func(m *projects.Mission) error {
		if k := m.Live.Keeper; k != nil && k.PID == r.KeeperPID && k.Liveness() == lock.Alive {
			m.Live.Keeper, m.Live.EndedLaunch = nil, r.Launch
			t.SaveLiveState(m)
			failpoint.Hit("terminal.passed")
		}
		return nil
	})
}
