package missions

import "context"

// Snapshot takes one now, of everything written before the call.
func (l *Local) Snapshot(ctx context.Context, r SnapshotRequest) (Entry, error) {
	m, err := l.findMission(ctx, r.Caller, r.Mission, writing)
	if err != nil {
		return Entry{}, err
	}
	if r.Pin != "" {
		if err := CheckName(r.Pin); err != nil {
			return Entry{}, err
		}
	}
	what := r.Message
	if what == "" {
		what = "by hand"
	}
	req := &request{take: &Take{Trigger: TriggerManual, What: what, Named: r.Message != ""}, asked: r.Repeated}
	if r.ID != "" {
		req.ids = []string{r.ID}
	}
	answer, err := l.submit(ctx, m.project, m.ID, req)
	if err != nil {
		return Entry{}, err
	}
	taken, _ := answer.last()
	at, err := answer.mission.stepBack(taken.snapshot.ID, 0)
	if err != nil {
		return Entry{}, err
	}
	if r.Pin != "" {
		if _, err := l.pin(ctx, at.project, at.loaded, at.step, r.Pin); err != nil {
			return Entry{}, err
		}
	}
	e, err := l.entry(ctx, at.loaded, at.step, nil)
	if problem, gerr := l.gitProblemThen(ctx, at.loaded); gerr == nil && problem != nil { // else nobody waits for what is taken
		e.Notes = append(e.Notes, problem.Message+"; "+problem.Fix)
	}
	return e, err
}
