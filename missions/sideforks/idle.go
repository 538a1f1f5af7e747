package sideforks

import (
	"context"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// idleness is what is known of a side fork that nobody may be at.
type idleness struct {
	timeout time.Duration
	user    time.Time // when its user was heard last
	agent   time.Time // when its agent was
	asked   time.Time // when its user was asked whether it goes on; zero if that was never asked
	working bool      // its agent works, and does not wait for an answer
}

// step is what is to be done about an idle side fork.
type step int

const (
	stepNone step = iota
	stepAsk
	stepEnd
)

// next is what is to be done now, and when it is to be looked again. What anybody does
// begins the time anew; that the user was asked stands until the user has answered.
func (i idleness) next(now time.Time) (step, time.Duration) {
	since := i.user
	for _, t := range []time.Time{i.agent, i.asked} {
		if t.After(since) {
			since = t
		}
	}
	if i.working {
		since = now
	}
	// At most the timeout: a clock that was set back makes no time to come.
	if left := min(projects.WallTime(since).Add(i.timeout).Sub(projects.WallTime(now)), i.timeout); left > 0 {
		return stepNone, left
	}
	if i.asked.After(i.user) {
		return stepEnd, 0
	}
	return stepAsk, i.timeout
}

// idlenessOf is what is known of a side fork now; typed is when something was read from its
// terminal.
func idlenessOf(m *projects.Mission, claim projects.SideFork, typed, now time.Time) idleness {
	i := idleness{timeout: claim.IdleTimeout, user: typed, asked: claim.AskedAt}
	i.agent, i.working = presence.LastSign(m, now)
	if at := m.Live.PromptedAt.At; at.After(i.user) {
		i.user = at
	}
	return i
}

// looksForAnswer is how often the keeper looks in the time that a user has to answer, so that
// what umbra status says of the end is true soon after.
const looksForAnswer = 10

// Attend answers the keeper of a side fork who asks whether the fork is idle: first its user
// is asked, and if nobody goes on in the same time again, the keeper ends the agent.
func (x *Exchanger) Attend(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, error) {
	parent := x.ParkedParent(m)
	if parent == nil || m.Live.LaunchID != r.Launch || parent.Live.SideFork.IdleTimeout <= 0 {
		return missions.KeepResult{Do: missions.DoWait}, nil // nothing is to be looked at any more
	}
	claim := *parent.Live.SideFork
	idle := idlenessOf(m, claim, r.TypedAt, x.Now())
	next, in := idle.next(x.Now())
	switch {
	case m.Live.Handover != nil: // it is about to be left, or launched again
		return missions.KeepResult{Do: missions.DoWait, LookIn: claim.IdleTimeout}, nil
	case next == stepEnd:
		return missions.KeepResult{Do: missions.DoEnd}, nil
	case next == stepAsk:
		claim.AskedAt = x.Now()
		err := x.saveClaim(ctx, parent, claim)
		return missions.KeepResult{Do: missions.DoWait, LookIn: in / looksForAnswer, Ring: err == nil}, err
	case claim.AskedAt.After(idle.user):
		in = min(in, claim.IdleTimeout/looksForAnswer)
	case !claim.AskedAt.IsZero(): // the user has answered, be it with a key that the keeper alone knows of
		claim.AskedAt = time.Time{}
		if err := x.saveClaim(ctx, parent, claim); err != nil {
			return missions.KeepResult{}, err
		}
	}
	return missions.KeepResult{Do: missions.DoWait, LookIn: in}, nil
}

// saveClaim notes what is new of the claim of a side fork to its parent's terminal.
func (x *Exchanger) saveClaim(ctx context.Context, parent *projects.Mission, claim projects.SideFork) error {
	return x.WithMissionLock(ctx, parent, x.WithWorkspaceLock, func(parent *projects.Mission) error {
		if now := parent.Live.SideFork; now != nil && now.Mission == claim.Mission && now.Keeper == claim.Keeper {
			parent.Live.SideFork = &claim
			x.SaveLiveState(parent)
		}
		return nil
	})
}

// Relieve answers a keeper whose agent has ended with what to launch next, if anything is. An
// agent that was ended because nobody was at it sums up first, without its user.
func (x *Exchanger) Relieve(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, bool, error) {
	if r.Idle && r.Failed == "" && !r.Leaving {
		next, sums, err := x.sumUp(ctx, m, r)
		if sums || ctx.Err() != nil {
			return next, sums, err
		}
		if err != nil {
			x.Logger.Warn("have a side fork sum up", "mission", m.ID, "error", err) // it is left all the same
		}
	}
	return x.handovers.RelaunchAfterHandover(ctx, m, r)
}

const (
	// sumUpPrompt is what the agent of a side fork is asked that was ended by its timeout.
	sumUpPrompt = "[umbra] Nobody has been here for a while, so this side fork ends now. " +
		"Your answer to this is given to the agent of the mission that you were forked from, which has seen nothing of your work. " +
		"Change nothing and run nothing. Say in a few sentences what was tried here, what came of it, and what is still open."
	// sumUpLimit is how long its answer is waited for.
	sumUpLimit = 5 * time.Minute
)

// sumUp has the agent of a side fork that was ended for its timeout answer once more, without
// its user. It reports false where there is nothing to sum up, or nobody can. A keeper whose
// answer was cut off asks again and gets another launch.
func (x *Exchanger) sumUp(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, bool, error) {
	parent := x.ParkedParent(m)
	if parent == nil {
		return missions.KeepResult{}, false, nil
	}
	claim := *parent.Live.SideFork
	switch claim.TimedOut {
	case r.Launch:
	case "":
		claim.TimedOut = r.Launch
		if err := x.saveClaim(ctx, parent, claim); err != nil {
			return missions.KeepResult{}, false, err
		}
	default:
		return missions.KeepResult{}, false, nil
	}
	if x.CheckHeadless(m.Agent, m.AgentName()) != nil || !hasOwnTurns(m) {
		return missions.KeepResult{}, false, nil
	}
	result := missions.KeepResult{Do: missions.DoRelaunch}
	err := x.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		if m.Live.Handover != nil {
			return missions.Errorf(missions.KindBusy, "", "%s is being left already", m.Name)
		}
		if m.Live.Agent != nil {
			m.Live.EndedAgent = m.Live.Agent
		}
		launch, err := x.agents.PrepareLaunch(ctx, m, missions.LaunchRequest{
			Caller: r.Caller, KeeperPID: r.KeeperPID, Resume: true, Variables: r.Variables, SumUp: true, Prompt: sumUpPrompt,
		})
		if err != nil {
			return err
		}
		launch.TimeLimit, result.Launch = sumUpLimit, &launch
		result.Banner = fmt.Sprintf("umbra: nobody was at %s for %s: its agent sums up for %s, which has this terminal again then; Ctrl-C waits for no answer",
			m.Name, 2*claim.IdleTimeout, parent.Name)
		return nil
	})
	return result, err == nil, err
}

// hasOwnTurns reports whether a fork has had a turn since it was made.
func hasOwnTurns(m *projects.Mission) bool {
	id, err := gitstore.ParseID(m.Parent.Snapshot)
	if err != nil {
		return false
	}
	at, err := m.Project.Store.Snapshot(id)
	return err == nil && m.Lifecycle.LastTurn() > at.Turn
}

// reportIdle tells the parent's agent what a side fork has said that is left since nobody was
// at it. It is told once, however often it is tried. What can't be told keeps nobody out of
// the terminal.
func (x *Exchanger) reportIdle(ctx context.Context, m *projects.Mission, r missions.LeaveForkRequest) {
	if r.TimedOut == "" || !hasOwnTurns(m) {
		return
	}
	report := missions.ReportRequest{Caller: r.Caller, ID: r.TimedOut, Fork: m.ID, Kind: missions.UpdateTimeout}
	_, err := x.updates.Report(ctx, report)
	if err != nil {
		report.Text = "Nobody was there, and it has not summed up. What it did until then is in the fork."
		_, err = x.updates.Report(ctx, report)
	}
	if err != nil {
		x.Logger.Warn("report a side fork that nobody was at", "mission", m.ID, "error", err)
	}
}
