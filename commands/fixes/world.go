package fixes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/checks"
	"github.com/umbra-vcs/umbra/missions/findings"
	"github.com/umbra-vcs/umbra/missions/fixes"
	"github.com/umbra-vcs/umbra/missions/home"
)

// world is what a loop of one mission is in. It is the World of missions/fixes.
type world struct {
	c       *call.Call
	svc     missions.Service
	caller  missions.Caller
	home    home.Home
	mission missions.Mission // as it was when the command began
	fixer   string           // the id of the mission whose agent works: its own, unless another is asked for
	limit   time.Duration    // of the check
	fix     *fixes.Fix
	isNew   bool       // this command has begun the loop
	was     *fixes.Fix // the loop that waited then
}

func (w *world) file() string { return w.home.FixFile(w.mission.ID) }

// mayBegin refuses a loop whose agent can't be launched, or would work beside its mission's
// turn.
func (w *world) mayBegin(f *fixes.Fix) error {
	w.fix = f
	if n := len(f.Attempts); n > 0 && !f.Attempts[n-1].Ended {
		w.fixer = f.FixerMission()
		return nil // its agent may work: it is waited for
	}
	m := w.mission
	switch {
	case isInTurn(m):
		return inTurn(m)
	case f.Fixer == "" && !m.IsUnmanned():
		return missions.Errorf(missions.KindBusy, fmt.Sprintf("umbra mission stop %[1]s ends it, umbra mission resume %[1]s brings it back afterwards; or --fixer claude has an agent of its own work beside it", m.Name),
			"the agent of %s is live", m.Name)
	case f.Fixer == "" && m.PromptKept:
		return missions.Errorf(missions.KindConflict, "umbra mission resume "+m.Name+" sends it", "%s has a prompt that is still to be sent", m.Name)
	}
	w.fixer = f.FixerMission()
	return nil
}

func isInTurn(m missions.Mission) bool {
	return m.State == missions.StateRunning || m.State == missions.StateWaiting
}

func inTurn(m missions.Mission) error {
	return missions.Errorf(missions.KindBusy, "umbra mission wait "+m.Name+" waits for its end", "%s is in a turn", m.Name)
}

// Prepare refuses an attempt beside somebody who has begun to work there meanwhile, and makes
// the mission of another agent, in the same workspace.
func (w *world) Prepare(ctx context.Context, f *fixes.Fix) error {
	if f.Fixer != "" {
		m, err := w.svc.Mission(ctx, missions.MissionRequest{Caller: w.caller, Name: w.mission.ID})
		switch {
		case err != nil:
			return err
		case isInTurn(m):
			return inTurn(m)
		case f.FixerID == "":
			return w.makeFixer(ctx, f)
		}
	}
	m, err := w.settled(ctx)
	if err == nil && !m.IsUnmanned() {
		err = missions.Errorf(missions.KindBusy, "end it first: umbra mission stop "+m.Name, "somebody has launched the agent of %s meanwhile", m.Name)
	}
	return err
}

// mostOfName is how much of its mission's name the name of a fixer or of a reviewer has.
const mostOfName = 52

// freeName is the first name that is free for a mission that helps this one.
func (w *world) freeName(ctx context.Context, end string) (string, error) {
	all, err := w.svc.Missions(ctx, missions.MissionsRequest{Caller: w.caller})
	if err != nil {
		return "", err
	}
	named := w.mission.Name[:min(len(w.mission.Name), mostOfName)] + end
	name := named
	for n := 2; slices.ContainsFunc(all, func(m missions.Mission) bool { return m.Name == name }); n++ {
		name = named + "-" + missions.Itoa(n)
	}
	return name, nil
}

// makeFixer makes the mission of another agent.
func (w *world) makeFixer(ctx context.Context, f *fixes.Fix) error {
	name, err := w.freeName(ctx, "-fixer")
	if err != nil {
		return err
	}
	m, err := w.svc.NewMission(ctx, missions.NewMissionRequest{Caller: w.caller, Name: name, NameMade: true, Agent: f.Fixer, Workspace: w.mission.Workspace})
	if err != nil {
		return err
	}
	f.FixerID, w.fixer = m.ID, m.ID
	return nil
}

// settled is the mission of the agent once that is neither about to begin nor about to end.
func (w *world) settled(ctx context.Context) (m missions.Mission, err error) {
	for {
		m, err = w.svc.Mission(ctx, missions.MissionRequest{Caller: w.caller, Name: w.fixer})
		if err != nil || !m.IsAgentless() || m.IsUnmanned() {
			return m, err
		}
		if err = w.Wait(ctx, 100*time.Millisecond); err != nil {
			return m, err
		}
	}
}

// Find is the check or the review, and what it has found.
func (w *world) Find(ctx context.Context) ([]findings.Finding, error) {
	if w.fix.Reviewer != "" {
		return w.review(ctx)
	}
	output := w.home.CheckOutputFile(w.mission.ID)
	check, err := w.runCheck(ctx, output)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, missions.Errorf(missions.KindFailed, missions.AsError(err).Hint, "the check can't be run: %w", err)
	case check.State == missions.CheckGood:
		return nil, nil
	case check.State == missions.CheckUnknown:
		text := "the check can't tell"
		if last := checks.LastLine(output); last != "" {
			text += ": " + last
		}
		return nil, missions.Errorf(missions.KindFailed, "umbra mission output "+w.mission.Name+" --check", "%s", text)
	}
	text, err := readEnd(output)
	if err != nil {
		return nil, err
	}
	found := findings.Parse(text, w.mission.Workspace)
	if len(found) == 0 {
		found = []findings.Finding{findings.Whole(text)}
	}
	return found, nil
}

func (w *world) runCheck(ctx context.Context, output string) (check missions.Check, err error) {
	running, err := checks.Begin(ctx, w.home, w.mission.ID)
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, running.End()) }()
	return checks.Command{
		Line: w.fix.Check, Workspace: w.mission.Workspace, Output: output, Limit: w.limit,
		Environ: w.c.Environ(), More: []string{"UMBRA_MISSION=" + w.mission.ID}, Running: running,
	}.Run(ctx)
}

// maxOutput is how much of what a check has printed is read, from its end.
const maxOutput = 16 << 20

func readEnd(name string) (text []byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err == nil && info.Size() > maxOutput {
		_, err = file.Seek(-maxOutput, io.SeekEnd)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, maxOutput))
}

// Snapshot is of the mission, and the turn of whose agent works.
func (w *world) Snapshot(ctx context.Context, id, message string, again bool) (taken missions.Entry, turn int, err error) {
	m, err := w.svc.Mission(ctx, missions.MissionRequest{Caller: w.caller, Name: w.fixer})
	if err != nil {
		return taken, 0, err
	}
	taken, err = w.svc.Snapshot(ctx, missions.SnapshotRequest{Caller: w.caller, Mission: w.mission.ID, Message: message, ID: id, Repeated: again})
	return taken, m.Turn, err
}

// Work has the agent answer under a keeper of its own, which ends neither with this process
// nor with its terminal.
func (w *world) Work(ctx context.Context, prompt string, turn int) (problem string, err error) {
	m, err := w.settled(ctx)
	if err != nil {
		return "", err
	}
	with := forks.Background{Missions: []missions.Mission{m}, Timeout: w.fix.Timeout}
	if m.IsUnmanned() && m.Turn == turn {
		with.Prompt = prompt // it has not begun; else it is waited for, or its end is known
	}
	outcomes, stopped := forks.Await(w.c, w.svc, w.caller, with)
	outcome := outcomes[0]
	switch {
	case stopped || ctx.Err() != nil:
		return "", errors.Join(ctx.Err(), context.Canceled)
	case outcome.Ended == forks.EndedNotBegun:
		return "", missions.Errorf(missions.KindFailed, "--fixer has another agent do it: "+missions.AgentNames,
			"the agent of %s was not begun: %s", outcome.Mission, outcome.Problem)
	case !outcome.IsGood():
		return outcome.How(w.fix.Timeout), nil
	}
	// One that was waited for alone has told of its end before its exit code is known.
	if m, err = w.settled(ctx); err == nil && m.ExitCode != nil && *m.ExitCode != 0 {
		problem = fmt.Sprintf("ended with exit code %d", *m.ExitCode)
	}
	return problem, err
}

// Wait waits by the clock.
func (w *world) Wait(ctx context.Context, pause time.Duration) error {
	if pause <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Save keeps the state beside the mission.
func (w *world) Save(f *fixes.Fix) error { return f.Write(w.file()) }

// Begins says what the agent is handed.
func (w *world) Begins(number int, a fixes.Attempt) {
	w.c.Notice("attempt %d: %s is handed %s of severity %s; before it is %s", number, w.mission.Name,
		print.Count(len(a.Issues), "finding"), a.Severity, a.Address)
}
