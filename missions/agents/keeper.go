package agents

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Keep takes the report of a keeper and says what the keeper does next.
func (l *Launcher) Keep(ctx context.Context, r missions.KeepRequest) (missions.KeepResult, error) {
	m, err := l.MissionByID(r.Mission)
	if err != nil {
		return missions.KeepResult{Do: missions.DoExit}, err
	}
	switch {
	case r.Looks:
		return l.Attend(ctx, m, r)
	case !r.Ended:
		return l.noteAgentStart(ctx, m, r)
	}
	exit := missions.KeepResult{Do: missions.DoExit}
	next, relieved, err := l.Relieve(ctx, m, r)
	if err == nil && relieved {
		return next, nil
	}
	if ctx.Err() != nil {
		return exit, ctx.Err() // whoever asks again is told: nothing was decided
	}
	if err != nil {
		l.Logger.Warn("launch an agent again", "mission", m.ID, "error", err)
		r.Failed = missions.AsError(err).Message
		exit.Banner, exit.NotLaunched = relaunchFailureText(m, next.Banner, r.Failed), relieved
	}
	begun, rested := false, false
	req := &snapshots.Request{Event: missions.AgentExited{Code: r.ExitCode}, Prepare: func(m *projects.Mission) (bool, error) {
		if r.Failed == "" && m.Live.WaitsForHandover(r.Launch) {
			begun = true // since it was looked for: the agent is to be launched again
			return false, nil
		}
		_, rested = m.Lifecycle.(missions.Idle)
		if m.Live.Agent != nil {
			m.Live.EndedAgent = m.Live.Agent
		}
		m.Live.Keeper, m.Live.Agent, m.Live.KeeperChild, m.Live.BoundSession, m.Live.Handover = nil, nil, nil, "", nil
		m.Live.EndedLaunch = r.Launch
		findSessionFile(l.Adapter(m.Agent), m) // the agent may have named it otherwise than was expected
		presence.PutBackPrompt(m, hasTakenPrompt(m, r))
		l.presence.RemoveLaunchFiles(m)
		if r.Failed != "" {
			m.LastError = r.Failed
		}
		return true, nil
	}}
	answer, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, req)
	if err == nil && rested && r.ExitCode == 0 && r.Failed == "" {
		l.updates.ReportAnswer(answer.Mission) // a keeper that is killed now tells nobody
	}
	failpoint.Hit("keeper.ended")
	if err == nil && begun {
		return missions.KeepResult{Do: missions.DoWait}, nil
	}
	if err == nil && exit.Banner == "" {
		exit.Summary = l.endSummary(answer.Mission, r)
	}
	return exit, err
}

// relaunchFailureText says in the agent's terminal why the agent was ended and could
// not be launched again.
func relaunchFailureText(m *projects.Mission, banner, why string) string {
	if banner != "" {
		banner += "\n"
	}
	return banner + fmt.Sprintf("umbra: the agent of %s could not be launched again: %s\n  umbra mission resume %s", m.Name, strings.Join(strings.Fields(why), " "), m.Name)
}

// noteAgentStart notes that a keeper has started its agent. The report may come twice,
// or after the first events of the agent, or after the report that the agent has ended,
// since a keeper then waits for no answer.
func (l *Launcher) noteAgentStart(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, error) {
	keeper, child := l.ProcessByPID(r.KeeperPID), l.ProcessByPID(r.AgentPID)
	req := &snapshots.Request{Event: missions.AgentLaunched{}}
	req.Prepare = func(m *projects.Mission) (bool, error) {
		if r.Launch != m.Live.LaunchID && m.Live.LaunchID != "" {
			return false, nil // it is late: the keeper has been told to launch another since
		}
		if r.Launch == m.Live.EndedLaunch && r.Launch != "" {
			return false, nil // or to launch none: the end was heard first
		}
		m.Live.Keeper, m.Live.Agent, m.Live.KeeperChild, m.Live.LaunchID, m.Live.EndedAgent = &keeper, &child, &child, r.Launch, nil
		m.Live.AgentNamed = false
		if h := m.Live.Handover; h != nil && h.LaunchID != r.Launch { // told twice, it may be of this agent's end
			m.Live.Handover = nil
		}
		req.Event = missions.AgentLaunched{HasHooks: m.Live.HasHooks, HeardBefore: m.Live.HeardSinceLaunch}
		return true, nil
	}
	_, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, req)
	failpoint.Hit("keeper.started")
	return missions.KeepResult{Do: missions.DoExit}, err
}
