package snapshots

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// WantedSnapshot is a snapshot to be taken for one or more requests.
type WantedSnapshot struct {
	missions.TakeSnapshot
	Triggers      missions.Triggers
	waiters       []*Request
	Operation     *projects.Operation // what Umbra did by itself, for its own snapshots
	IsProvisional bool                // written, but not published until something differs
	Displaced     []DisplacedFile
	PutBack       []string              // files that a restore replaces: captured whatever rule leaves them out
	NewMission    *projects.MissionPlan // a mission begins with it: it is named when its files were read
}

// requestIDs are the ids of the requests that a snapshot answers.
func (w *WantedSnapshot) requestIDs() []string {
	var ids []string
	for _, r := range w.waiters {
		ids = append(ids, r.Ids...)
	}
	return ids
}

// addRequest adds a request to a snapshot. The message of the first request stays,
// unless the other message says more.
func (w *WantedSnapshot) addRequest(r *Request, t missions.TakeSnapshot) {
	if !w.Triggers.Has(t.Trigger) {
		w.Triggers = append(w.Triggers, t.Trigger)
	}
	w.waiters = append(w.waiters, r)
	w.OnlyIfChanged = w.OnlyIfChanged && t.OnlyIfChanged
	w.GrowthMayWait = w.GrowthMayWait && t.GrowthMayWait
	w.CompareModes = w.CompareModes || t.CompareModes
	w.CompareWholeSession = w.CompareWholeSession || t.CompareWholeSession
	switch {
	case w.UserMessage: // the user's own words stay
	case t.UserMessage, t.ChangesState(), t.Trigger == missions.TriggerManual && !w.ChangesState():
		w.Message, w.UserMessage = t.Message, t.UserMessage
	}
	if t.ChangesState() {
		w.Trigger, w.Lifecycle = t.Trigger, t.Lifecycle
	}
}

// canShareSnapshot reports whether two requests can be one snapshot: their states are
// the same, and at most one of them changes the state.
func canShareSnapshot(a, b missions.TakeSnapshot) bool {
	if missions.StateOf(a.Lifecycle) != missions.StateOf(b.Lifecycle) || a.Lifecycle.LastTurn() != b.Lifecycle.LastTurn() || a.Late != b.Late {
		return false
	}
	if a.Typed != "" || b.Typed != "" {
		return false // what the user typed is a moment of its own
	}
	if a.UserMessage && b.UserMessage && a.Message != b.Message {
		return false // two messages of the user's are two snapshots
	}
	return !a.ChangesState() || !b.ChangesState() || a.Trigger == b.Trigger
}

// takenSnapshot is a snapshot that was made, or the one that nothing differs from.
type takenSnapshot struct {
	Snapshot    *gitstore.Snapshot
	captured    *capture.Result
	isUnchanged bool
}

// Side is what was captured, as a side of a plan: a snapshot that nothing differs from may
// have been taken by other rules, and have left out other files.
func (t takenSnapshot) Side(p *projects.Project) (restore.Side, error) {
	return captureSide(p, t.captured)
}

// Snapshot takes a snapshot now, of everything that was written before the call.
func (tk *Taker) Snapshot(ctx context.Context, r missions.SnapshotRequest) (missions.Entry, error) {
	m, err := tk.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return missions.Entry{}, err
	}
	if r.Pin != "" {
		if err := missions.CheckName(r.Pin); err != nil {
			return missions.Entry{}, err
		}
	}
	what := projects.RedactText(r.Message)
	if what == "" {
		what = "by hand"
	}
	req := &Request{Take: &missions.TakeSnapshot{Trigger: missions.TriggerManual, Message: what, UserMessage: r.Message != "", OnlyIfChanged: r.OnlyIfChanged}, isRepeat: r.Repeated}
	if r.ID != "" {
		req.Ids = []string{r.ID}
	}
	answer, err := tk.SubmitRequest(ctx, m.Project, m.ID, req)
	if err != nil {
		return missions.Entry{}, err
	}
	taken, _ := answer.LastSnapshot()
	at, err := addresses.MomentBack(answer.Mission, taken.Snapshot.ID, 0)
	if err != nil {
		return missions.Entry{}, err
	}
	if r.Pin != "" {
		if _, err := tk.addresses.PinSnapshot(ctx, at.Project, at.Mission, at.Snapshot, r.Pin); err != nil {
			return missions.Entry{}, err
		}
	}
	e, err := tk.LogEntry(ctx, at.Mission, at.Snapshot, nil)
	if problem, gerr := tk.RecordedGitProblem(ctx, at.Mission); gerr == nil && problem != nil { // else nobody waits for what is taken
		e.Notes = append(e.Notes, problem.Message+"; "+problem.Fix)
	}
	if problem := tk.BudgetProblem(at.Mission); problem != nil {
		e.Notes = append(e.Notes, problem.Message+"; "+problem.Fix)
	}
	if withheld := WithheldPaths(at.Mission); withheld != nil {
		e.Notes = append(e.Notes, withheld.Sentence())
	}
	return e, err
}

// TakeSnapshot takes one snapshot of a mission and publishes it. Everything is made
// durable first. Then the mission's ref moves by compare-and-swap: this is the commit
// point. The records ref follows. A failure before the commit point publishes nothing,
// and no older snapshot is returned in its place. The caller holds the workspace.
func (tk *Taker) TakeSnapshot(ctx context.Context, m *projects.Mission, w *WantedSnapshot) (takenSnapshot, error) {
	if err := tk.Space.CheckRoom(); err != nil {
		return takenSnapshot{}, err
	}
	ws, err := tk.RefreshWorkspace(ctx, m)
	if err != nil {
		return takenSnapshot{}, err
	}
	before := *m
	t, err := tk.TryTakeSnapshot(ctx, m, w, ws)
	for again := 1; err != nil && again < maxTries && before.Live.ProvisionalSnapshot == ""; again++ {
		switch {
		case errors.Is(err, gitstore.ErrMissing), errors.Is(err, gitstore.ErrDamaged):
			// Objects that were there are not any more: read everything again,
			// which brings back what is on disk.
			ws.Scanner.Suspect()
			ws.published.tree = gitstore.ID{}
			before.SessionRecord = gitstore.ID{} // what it holds may be lost: store all
		case errors.Is(err, records.ErrSessionChanged):
		default:
			return t, tk.diskFullError(err)
		}
		tk.ResetMission(m, before)
		t, err = tk.TryTakeSnapshot(ctx, m, w, ws)
	}
	if err == nil && t.captured != nil {
		dropMakers(m, w.ChangesState())
	}
	return t, tk.diskFullError(err)
}

// ResetMission makes a mission what it was before a try that failed.
func (tk *Taker) ResetMission(m *projects.Mission, before projects.Mission) {
	*m = before
	tk.conversations.CounterPool.Take(m.ID) // has counted on
}

// maxTries is how often a snapshot is tried, when what went wrong may be gone the next
// time.
const maxTries = 3

// TryTakeSnapshot is one try of TakeSnapshot.
func (tk *Taker) TryTakeSnapshot(ctx context.Context, m *projects.Mission, w *WantedSnapshot, ws *WorkspaceCache) (t takenSnapshot, err error) {
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	captured, grown, err := ws.captureWanted(ctx, m, w, batch)
	if err != nil {
		return takenSnapshot{}, captureError(m, err)
	}
	if captured == nil {
		return takenSnapshot{Snapshot: m.Tip, isUnchanged: true}, nil
	}
	defer func() {
		if err != nil {
			ws.ReturnCapture()
			return
		}
		tk.forgetGrowth(m.ID)
	}()
	provisional := m.Live.ProvisionalSnapshot != ""
	isForked := provisional && w.Trigger == missions.TriggerFork // which publishes it: the fork is to have a parent
	isSame := (w.OnlyIfChanged || provisional) && !isForked && m.Tip != nil && captured.Tree == m.Tip.Tree && !ws.leavesOutOthers(m, captured) &&
		(!w.CompareModes || hasRecordedModes(m, captured))
	if isSame && (w.IsFilesOnly() || provisional || tk.isConversationRecorded(m, ws) && ws.isGitStateRecorded(m, w, batch)) {
		ws.AcceptCapture(captured)
		return takenSnapshot{Snapshot: m.Tip, captured: captured, isUnchanged: true}, nil
	}
	if provisional {
		if err := tk.publishProvisional(ctx, m); err != nil {
			return takenSnapshot{}, err
		}
	}
	if w.NewMission != nil {
		if err := tk.chooseFirstName(m, w); err != nil {
			return takenSnapshot{}, err
		}
	}
	snap, err := tk.writeAndProve(ctx, m, w, ws, captured, batch)
	if err != nil {
		return takenSnapshot{}, err
	}
	if w.NewMission != nil {
		naming, another, err := tk.claimName(ctx, m, w)
		if err != nil {
			return takenSnapshot{}, err
		}
		if naming != nil {
			defer naming.Release()
		}
		if another {
			if snap, err = tk.writeAndProve(ctx, m, w, ws, captured, batch); err != nil {
				return takenSnapshot{}, err
			}
		}
	}
	if w.IsProvisional {
		m.Tip, m.Record, m.Live.ProvisionalSnapshot = snap, snap.Record, snap.ID.String()
	} else if err := tk.publishSnapshot(ctx, m, snap); err != nil {
		return takenSnapshot{}, err
	} else {
		ws.published.tree = snap.Tree
	}
	if !grown {
		ws.changedAt = snap.At
	}
	ws.AcceptCapture(captured)
	return takenSnapshot{Snapshot: snap, captured: captured}, nil
}

// captureError says what went wrong while the workspace was read.
func captureError(m *projects.Mission, err error) error {
	if errors.Is(err, capture.ErrMoved) {
		return projects.WorkspaceMovedError(m, err.Error())
	}
	if IsRefusedRoot(err) {
		return err
	}
	return fmt.Errorf("snapshot of %s: %w", cmp.Or(m.Name, m.Binding.Workspace), err) // one that is being made has no name yet
}

// diskFullError adds to an error of a full disk what to do about it.
func (tk *Taker) diskFullError(err error) error {
	if !home.IsDiskFull(err) {
		return err
	}
	return missions.Errorf(missions.KindFailed, tk.FreeSpaceHint(), "no snapshot was taken, the disk is full: %w", err)
}

// FreeSpaceHint is what to do about a full disk.
func (tk *Taker) FreeSpaceHint() string {
	return "free some space on the disk that holds " + tk.Home.Dir
}

// IsRefusedRoot reports whether a directory may not be a workspace for what it is.
func IsRefusedRoot(err error) bool {
	var refused *capture.RootError
	return errors.As(err, &refused)
}
