package snapshots

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
)

// Snapshot takes one now, of everything written before the call.
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
	what := r.Message
	if what == "" {
		what = "by hand"
	}
	req := &Request{Take: &missions.TakeSnapshot{Trigger: missions.TriggerManual, Message: what, UserMessage: r.Message != ""}, isRepeat: r.Repeated}
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
	return e, err
}
