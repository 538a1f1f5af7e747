package missions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// handover is a restore, undo or redo for which an agent under a keeper is ended
// and launched again, on the session that the mission goes on in then. It is in
// the mission's live state from before the agent is told to end until the keeper
// has launched one again, so that whoever dies meanwhile, another process knows
// what is to be done: the keeper asks when its agent has ended.
type handover struct {
	ID     string     `json:"id"`
	Launch string     `json:"launch"` // of the agent that is ended
	Asked  asked      `json:"asked"`
	Queued bool       `json:"queued,omitempty"` // it had waited for the end of the turn: nobody waits for its result
	Owner  lock.Owner `json:"owner"`            // the process that carries it out
	From   string     `json:"from,omitempty"`   // the newest snapshot when it began
	// Told says that the agent was told to end, and may be at it.
	Told bool `json:"told,omitempty"`
	// Ended says that it was carried out, or has failed: the agent is launched
	// again, with Banner for its user.
	Ended  bool   `json:"ended,omitempty"`
	Banner string `json:"banner,omitempty"`
	// NotTakenUp are the prompts that waited for the agent that was ended, which are in
	// the snapshot Waited too.
	NotTakenUp []Prompt `json:"not_taken_up,omitempty"`
	Waited     string   `json:"waited,omitempty"`
}

// open reports whether there is a handover that has not been carried out.
func (h *handover) open() bool { return h != nil && !h.Ended }

// owned reports whether somebody is at a handover. That its process lives is not
// enough where that is this one, which may have let go of it.
func (l *Local) owned(h *handover) bool {
	if !h.open() || h.Owner.Liveness() != lock.Alive {
		return false
	}
	_, here := l.handing.Load(h.ID)
	return here || h.Owner.PID != os.Getpid()
}

// own makes a handover this process's, which is at it until it lets go.
func (l *Local) own(h *handover) {
	h.Owner = l.self
	l.handing.Store(h.ID, true)
}

func (l *Local) letGo(h *handover) { l.handing.Delete(h.ID) }

// relievable reports whether the mission has an agent that can be ended, and a
// keeper that would launch it again: one that has told of its start.
func (m *loaded) relievable() bool {
	a := m.live.Agent
	return HasAgent(m.life) && m.live.kept() && m.live.Child != nil && a != nil && a.Liveness() == lock.Alive
}

// beginHandover marks the mission's agent as one that is about to be ended, if
// that is needed for what was asked for; nil if not. The caller holds the
// workspace, and goes on with handOver when it does not any more, or lets go.
func (l *Local) beginHandover(ctx context.Context, m *loaded, a asked, queued bool) (*handover, error) {
	if !m.relievable() {
		return nil, nil
	}
	switches, err := l.switches(ctx, m, a)
	if err != nil || !switches {
		return nil, err
	}
	h := &handover{ID: l.newID(), Launch: m.live.Launch, Asked: a, Queued: queued, From: m.tip.ID.String()}
	l.own(h)
	m.live.Handover = h
	failpoint.Hit("handover.begin")
	l.saveLive(m)
	failpoint.Hit("handover.begun")
	return h, nil
}

// handOver ends the agent, carries out what was asked for and lets the keeper
// launch the agent again, unless it need not be ended any more. It is not to be
// interrupted: ctx must not end with whoever asked.
func (l *Local) handOver(ctx context.Context, m *loaded, h *handover) (result RestoreResult, ended bool, err error) {
	defer l.letGo(h)
	m, instead, err := l.confirm(ctx, m, h)
	if err != nil {
		return RestoreResult{}, false, err
	}
	if instead != nil {
		return *instead, false, nil
	}
	Notify(ctx, Notice{Text: "ending the agent of " + m.Name})
	if err := l.endAgent(ctx, m, h); err != nil {
		return RestoreResult{}, false, err
	}
	result, err = l.completeHandover(ctx, m, h.ID)
	return result, true, err
}

// completeHandover carries out what an agent was ended for, and says so for its
// keeper.
func (l *Local) completeHandover(ctx context.Context, m *loaded, id string) (RestoreResult, error) {
	var result RestoreResult
	var failed error
	err := l.holding(ctx, m, func(m *loaded) error {
		h := m.live.Handover
		if !h.open() || h.ID != id || h.Owner != l.self {
			return takenOver(m, h)
		}
		m.live.Agent, m.live.Child, m.live.Bound = nil, nil, ""
		if failed = l.leaveTurn(ctx, m); failed == nil {
			result, failed = l.carryHanded(ctx, m, h)
			result.NotTakenUp = h.NotTakenUp
		}
		if failed != nil && h.Queued {
			l.notDone(ctx, m, h.Asked, failed)
		}
		l.endHandover(m, h, result, failed)
		return nil
	})
	if err == nil {
		return result, failed
	}
	// Not even begun, as in a workspace that is gone: the keeper is not to wait.
	return result, errors.Join(err, l.metaHeld(ctx, m, l.holding, func(m *loaded) error {
		if h := m.live.Handover; h.open() && h.ID == id && h.Owner == l.self {
			l.endHandover(m, h, result, err)
		}
		return nil
	}))
}

// endHandover says that the agent may be launched again, if a keeper is there who
// would. The caller holds the mission.
func (l *Local) endHandover(m *loaded, h *handover, r RestoreResult, failed error) {
	h.Ended, h.Banner = true, h.banner(m, r, failed)
	m.live.Handover, m.live.Notice = h, h.Banner
	if !m.live.kept() {
		m.live.Handover = nil
	}
	failpoint.Hit("handover.carried")
	l.saveLive(m)
	failpoint.Hit("handover.done")
}

// String names what it is for, also where there is none.
func (h *handover) String() string {
	if h == nil {
		return "what was asked for"
	}
	return h.Asked.String()
}

// leaveTurn ends the turn in which the agent was ended, by force.
func (l *Local) leaveTurn(ctx context.Context, m *loaded) error {
	if !InTurn(m.life) {
		return nil
	}
	next, effects := Transition(m.life, TurnStopped{})
	m.enter(next, l.now())
	for _, e := range effects {
		if take, ok := e.(Take); ok {
			if _, err := l.commit(ctx, m, &wanted{Take: take, triggers: Triggers{take.Trigger}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// carryHanded carries out what is left to do of a handover: a process that died
// may have done some of it, or all.
func (l *Local) carryHanded(ctx context.Context, m *loaded, h *handover) (RestoreResult, error) {
	if h.Waited == "" { // the conversation is the one that the agent was ended in
		h.NotTakenUp, h.Waited = l.waitingPrompts(m), m.tip.ID.String()
		l.saveLive(m)
	}
	if err := l.refuseInterrupted(ctx, m); err != nil {
		return RestoreResult{}, err
	}
	last, done, err := m.handed(h)
	if err != nil {
		return RestoreResult{}, err
	}
	left := h.Asked
	if done > 0 {
		if left = left.less(done); left == (asked{}) {
			target, err := gitstore.ParseID(last.Target)
			if err != nil {
				return RestoreResult{}, err
			}
			return RestoreResult{
				Target: last.Target, Address: m.addressOf(target), Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace, Done: true,
				Safety: last.Safety, Snapshot: last.snapshot.ID.String(), SessionID: m.stored.Session,
				Handover: &Handover{How: "relaunched"},
			}.filled(), nil
		}
	}
	return l.carry(ctx, m, left)
}

// less is what is left to be done after n steps; the zero value for nothing.
func (a asked) less(n int) asked {
	if a.Restore != nil || max(1, a.steps().Steps) <= n {
		return asked{}
	}
	r := a.steps()
	r.Steps = max(1, r.Steps) - n
	if a.Undo != nil {
		return asked{Undo: &r}
	}
	return asked{Redo: &r}
}

// handed finds the newest operation that was done in a handover, and counts them.
func (m *loaded) handed(h *handover) (last past, n int, err error) {
	for s, err := range m.project.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID || s.ID.String() == h.From {
			return last, n, err
		}
		op, ok, err := m.operationOf(s)
		switch {
		case err != nil:
			return last, n, err
		case ok && op.Handover == h.ID:
			if n++; n == 1 {
				last = op
			}
		case ok:
			return last, n, nil
		}
	}
	return last, n, nil
}

// banner is the line that the user sees before the agent is back.
func (h *handover) banner(m *loaded, r RestoreResult, failed error) string {
	lost := "what was typed and not sent is lost"
	if len(h.NotTakenUp) > 0 {
		lost += "; " + toldPrompts(h.NotTakenUp, cmp.Or(r.Safety, h.Waited))
	}
	if failed != nil {
		return fmt.Sprintf("umbra: %s was not done: %s; the agent goes on as it was, %s", h.Asked, strings.Join(strings.Fields(AsError(failed).Message), " "), lost)
	}
	to := r.Address
	if to == "" {
		to = fmt.Sprintf("%.10s", r.Target)
	}
	again := "umbra undo"
	if h.Asked.Undo != nil {
		again = "umbra redo"
	}
	return fmt.Sprintf("umbra: %s to %s; %s; to take it back: %s %s", h.Asked.kind(), to, lost, again, m.Name)
}

const (
	// relaunchPatience is how long a restore waits for the agent to be back.
	relaunchPatience = 15 * time.Second
	// handoverPoll is how often it is looked at.
	handoverPoll = 20 * time.Millisecond
	// keeperPatience is how long a keeper waits for an answer at once.
	keeperPatience = 20 * time.Second
)

// lookAgain waits until a handover is to be looked at again. Its error says that
// whoever asked waits no more, or that the Service is about to end: what is waited
// for may need the one that comes next.
func (l *Local) lookAgain(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.leaving, cancel)()
	return pause(ctx, handoverPoll)
}

// awaitRelaunch waits until the keeper has launched the agent again, and says
// what became of it.
func (l *Local) awaitRelaunch(ctx context.Context, m *loaded, h *handover, result *RestoreResult) {
	result.Handover = &Handover{How: "relaunched"}
	for deadline := l.now().Add(relaunchPatience); l.now().Before(deadline); {
		now, err := l.load(m.project, m.ID)
		if err != nil {
			return
		}
		if !now.live.kept() || !HasAgent(now.life) {
			result.Handover = &Handover{How: "resume", Type: "umbra mission resume " + now.Name}
			return
		}
		if now.live.Handover == nil || now.live.Handover.ID != h.ID {
			return
		}
		if l.lookAgain(ctx) != nil {
			break
		}
	}
	result.Notes = append(result.Notes, "the agent is not back yet: look at its terminal")
}

// TakeUp goes on with the handovers that nobody is at any more, in missions whose
// agents live on: who began one may have died at any time. It is called from time
// to time by the process that serves.
func (l *Local) TakeUp(ctx context.Context) error {
	var errs []error
	for _, m := range l.liveMissions() {
		if l.left(m) {
			errs = append(errs, l.takeUp(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// takeUp is TakeUp for one mission.
func (l *Local) takeUp(ctx context.Context, m *loaded) error {
	return l.soon(ctx, m, func(m *loaded) error {
		if !l.left(m) {
			return nil
		}
		if h := m.live.Handover; !m.live.kept() || h != nil && !h.Told && InTurn(m.life) {
			l.withdraw(m)
		}
		switch h := m.live.Handover; {
		case h.open():
			l.own(h)
			l.saveLive(m)
			if !l.handOverBeside(m, h) {
				l.letGo(h)
			}
			return nil
		case !InTurn(m.life):
			l.performPending(ctx, m)
		}
		l.saveLive(m)
		return nil
	})
}

// takeUpPatience is how long a busy workspace is waited for: it is looked at again.
const takeUpPatience = 200 * time.Millisecond

// soon is holding for what does not wait for a busy workspace.
func (l *Local) soon(ctx context.Context, m *loaded, fn func(*loaded) error) error {
	limited, cancel := context.WithTimeout(ctx, takeUpPatience)
	defer cancel()
	return l.holding(limited, m, fn)
}

// left reports whether there is a handover that nobody is at, other than one that
// the keeper asks for, or something that waits for the end of a turn that is over, and
// surely.
func (l *Local) left(m *loaded) bool {
	if h := m.live.Handover; h != nil {
		return h.open() && !l.owned(h) && (m.relievable() || !m.live.kept())
	}
	return m.live.Pending != nil && !InTurn(m.life) && l.afterTurn(m) == atRest
}

// withdraw takes a handover back whose process died, where the agent goes on all
// the same, or no keeper is left that would launch another. What had waited for the
// end of a turn waits again.
func (l *Local) withdraw(m *loaded) {
	h := m.live.Handover
	if !h.open() || l.owned(h) || m.live.kept() && !m.relievable() {
		return
	}
	if m.live.Handover = nil; h.Queued && m.live.Pending == nil {
		m.live.Pending = &h.Asked
	}
}

// relieve answers a keeper whose agent has ended for a handover: with the launch
// of the next one, once all is done. It reports false for any other end.
func (l *Local) relieve(ctx context.Context, m *loaded, r KeepRequest) (Next, bool, error) {
	for deadline := l.now().Add(keeperPatience); ; {
		now, err := l.load(m.project, m.ID)
		if err != nil {
			return Next{Do: DoExit}, true, err
		}
		h := now.live.Handover
		switch {
		case h == nil || h.Launch != r.Launch:
			return Next{}, false, nil
		case h.Ended:
			next, err := l.relaunch(ctx, now, r)
			return next, true, err
		case !l.owned(h):
			if err := l.takeOver(ctx, now, h.ID); err != nil {
				return Next{Do: DoExit}, true, err
			}
		case !l.now().Before(deadline):
			return Next{Do: DoWait}, true, nil
		default:
			if l.lookAgain(ctx) != nil {
				return Next{Do: DoWait}, true, ctx.Err()
			}
		}
	}
}

// takeOver goes on with a handover whose process has died.
func (l *Local) takeOver(ctx context.Context, m *loaded, id string) error {
	mine := false
	err := l.holding(ctx, m, func(m *loaded) error {
		h := m.live.Handover
		if !h.open() || h.ID != id || l.owned(h) {
			return nil
		}
		l.own(h)
		mine = true
		failpoint.Hit("handover.take")
		l.saveLive(m)
		failpoint.Hit("handover.taken")
		return nil
	})
	if !mine {
		return err
	}
	defer l.handing.Delete(id)
	if err != nil {
		return err
	}
	l.log.Info("take over a handover whose process died", "mission", m.ID, "for", id)
	_, err = l.completeHandover(context.WithoutCancel(ctx), m, id)
	if err != nil {
		l.log.Warn("handover", "mission", m.ID, "error", err) // its banner says it
	}
	return nil
}

// relaunch prepares the launch that ends a handover. Asked again, because its
// answer was cut off, it prepares another.
func (l *Local) relaunch(ctx context.Context, m *loaded, r KeepRequest) (Next, error) {
	next := Next{Do: DoRelaunch, Banner: m.live.Handover.Banner}
	err := l.holding(ctx, m, func(m *loaded) error {
		h := m.live.Handover
		if h == nil || h.Launch != r.Launch {
			return Errorf(KindFailed, "umbra mission resume "+m.Name, "the agent of %s was launched by another", m.Name)
		}
		failpoint.Hit("handover.relaunch")
		launch, err := l.prepare(ctx, m, LaunchRequest{Caller: r.Caller, KeeperID: r.KeeperID, Resume: true})
		failpoint.Hit("handover.prepared")
		next.Launch, next.Banner = &launch, h.Banner
		return err
	})
	return next, err
}
