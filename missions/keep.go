package missions

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// Keep takes a keeper's report and says what is next.
func (l *Local) Keep(ctx context.Context, r KeepRequest) (Next, error) {
	m, err := l.missionByID(r.Mission)
	if err != nil {
		return Next{Do: DoExit}, err
	}
	if !r.Ended {
		return l.started(ctx, m, r)
	}
	exit := Next{Do: DoExit}
	if r.Failed == "" {
		next, relieved, err := l.relieved(ctx, m, r)
		if err == nil && relieved {
			return next, nil
		}
		if ctx.Err() != nil {
			return exit, ctx.Err() // whoever asks again is told: nothing was decided
		}
		if err != nil {
			l.log.Warn("launch an agent again", "mission", m.ID, "error", err)
			r.Failed = AsError(err).Message
			exit.Banner = notRelaunched(m, next.Banner, r.Failed)
		}
	}
	begun := false
	req := &request{event: Exited{Code: r.ExitCode}, heard: func(m *loaded) (bool, error) {
		if h := m.live.Handover; r.Failed == "" && h != nil && h.Launch == r.Launch {
			begun = true // since it was looked for: the agent is to be launched again
			return false, nil
		}
		if m.live.Agent != nil {
			m.live.Ended = m.live.Agent
		}
		m.live.Keeper, m.live.Agent, m.live.Child, m.live.Bound, m.live.Handover = nil, nil, nil, "", nil
		m.live.Over = r.Launch
		l.clearLaunch(m)
		if r.Failed != "" {
			m.LastError = r.Failed
		}
		return true, nil
	}}
	_, err = l.submit(ctx, m.project, m.ID, req)
	failpoint.Hit("keeper.ended")
	if err == nil && begun {
		return Next{Do: DoWait}, nil
	}
	return exit, err
}

// notRelaunched says in the agent's terminal why it is not there again, after what
// it was ended for.
func notRelaunched(m *loaded, banner, why string) string {
	if banner != "" {
		banner += "\n"
	}
	return banner + fmt.Sprintf("umbra: the agent of %s could not be launched again: %s\n  umbra mission resume %s", m.Name, strings.Join(strings.Fields(why), " "), m.Name)
}

// started notes the start of a keeper's agent, which may be told more than once,
// after the agent's own first events, and by a keeper that waits for no answer any
// more, since it tells of the end.
func (l *Local) started(ctx context.Context, m *loaded, r KeepRequest) (Next, error) {
	keeper, child := l.processOf(r.KeeperID), l.processOf(r.AgentPID)
	req := &request{event: Launched{}}
	req.heard = func(m *loaded) (bool, error) {
		if r.Launch != m.live.Launch && m.live.Launch != "" {
			return false, nil // it is late: the keeper has been told to launch another since
		}
		if r.Launch == m.live.Over && r.Launch != "" {
			return false, nil // or to launch none: the end was heard first
		}
		m.live.Keeper, m.live.Agent, m.live.Child, m.live.Launch, m.live.Ended = &keeper, &child, &child, r.Launch, nil
		m.live.Named = false
		if h := m.live.Handover; h != nil && h.Launch != r.Launch { // told twice, it may be of this agent's end
			m.live.Handover = nil
		}
		req.event = Launched{Hooked: m.live.Hooked, Spoken: m.live.Spoke}
		return true, nil
	}
	_, err := l.submit(ctx, m.project, m.ID, req)
	failpoint.Hit("keeper.started")
	return Next{Do: DoExit}, err
}

// processOf describes a process of this machine by its pid.
func (l *Local) processOf(pid int) lock.Owner { return lock.Process(pid, "") }
