package fixes

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/findings"
	"github.com/umbra-vcs/umbra/missions/fixes"
)

// review has the reviewer look at a copy of the workspace, as a mission of its own that is
// removed when its agent has ended.
func (w *world) review(ctx context.Context) ([]findings.Finding, error) {
	f := w.fix
	if err := w.endReview(ctx, f); err != nil { // that a killed process has left
		return nil, err
	}
	work, err := w.work(ctx)
	if err != nil {
		return nil, err
	}
	name, err := w.freeName(ctx, "-review")
	if err != nil {
		return nil, err
	}
	made, err := w.svc.Fork(ctx, missions.ForkRequest{
		Caller: w.caller, From: w.mission.ID, Name: name, Agent: f.Reviewer, FilesAlone: true, Headless: true, NoWait: true, Yes: true,
	})
	if err != nil {
		return nil, err
	}
	f.ReviewID = made.Missions[0].ID
	var found []findings.Finding
	if err = w.Save(f); err == nil {
		w.c.Notice("%s reviews %s", f.Reviewer, w.mission.Name)
		found, err = w.answerOf(ctx, made.Missions[0], fixes.ReviewPrompt(work))
	}
	if problem := w.endReview(context.WithoutCancel(ctx), f); problem != nil {
		w.c.Notice("note: the copy for the review stays: %s; umbra mission rm --workspace %s removes it", missions.AsError(problem).Message, name)
	}
	return found, err
}

// answerOf has the reviewer answer, and reads what it has found.
func (w *world) answerOf(ctx context.Context, m missions.Mission, prompt string) ([]findings.Finding, error) {
	outcomes, stopped := forks.Await(w.c, w.svc, w.caller, forks.Background{Missions: []missions.Mission{m}, Timeout: w.fix.Timeout, Prompt: prompt})
	none := func(format string, args ...any) error {
		return missions.Errorf(missions.KindFailed, "", w.fix.Reviewer+" has given no review: "+format, args...)
	}
	switch outcome := outcomes[0]; {
	case stopped || ctx.Err() != nil:
		return nil, context.Canceled
	case outcome.Ended == forks.EndedNotBegun:
		return nil, none("it was not begun: %s", outcome.Problem)
	case !outcome.IsGood():
		return nil, none("it %s", outcome.How(w.fix.Timeout))
	default:
		found, err := findings.ReadReview(outcome.Answer, m.Workspace, w.mission.Workspace)
		if err != nil {
			const most = 200
			return nil, missions.Errorf(missions.KindFailed, "", "%s has given %w; its answer is %q", w.fix.Reviewer, err, missions.TruncateText(outcome.Answer, most))
		}
		return found, nil
	}
}

// work is what the reviewer is to judge: all that the mission has changed, up to now.
func (w *world) work(ctx context.Context) (work fixes.Work, err error) {
	work.Mission = w.mission.Name
	log, err := w.svc.Log(ctx, missions.LogRequest{Caller: w.caller, Mission: w.mission.ID})
	if err != nil || len(log) == 0 {
		return work, err
	}
	for i := range log { // newest first
		if prompt := log[len(log)-1-i].Prompt; prompt != "" {
			work.Prompts = append(work.Prompts, strings.ReplaceAll(prompt, " ⏎ ", "\n"))
		}
	}
	d, err := w.svc.Diff(ctx, missions.DiffRequest{Caller: w.caller, From: log[len(log)-1].ID, Patch: true})
	work.Files, work.Patch = d.Files, d.Patch
	return work, err
}

// endReview ends the review that is kept as running, and removes its copy of the workspace.
func (w *world) endReview(ctx context.Context, f *fixes.Fix) error {
	if f.ReviewID == "" {
		return nil
	}
	m, err := w.svc.Mission(ctx, missions.MissionRequest{Caller: w.caller, Name: f.ReviewID})
	if err == nil && !m.IsUnmanned() {
		_, err = w.svc.Stop(ctx, missions.StopRequest{Caller: w.caller, Missions: []string{m.ID}})
	}
	if err == nil {
		_, err = w.svc.Remove(ctx, missions.RemoveRequest{Caller: w.caller, Missions: []string{m.ID}, Workspace: true, Force: true})
	}
	if err != nil && missions.AsError(err).Kind != missions.KindNotFound {
		return err
	}
	f.ReviewID = ""
	return nil
}
