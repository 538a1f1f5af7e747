package updates

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// maxTopic bounds the topic of an update, in bytes.
const maxTopic = 120

// Report queues what a fork's agent has found for the mission that the fork is of.
func (c *Courier) Report(ctx context.Context, r missions.ReportRequest) (missions.ReportResult, error) {
	if err := verifyRequest(r); err != nil {
		return missions.ReportResult{}, err
	}
	m, err := c.addresses.FindMission(ctx, r.Caller, r.Fork, addresses.InProject)
	if err != nil {
		return missions.ReportResult{}, err
	}
	parent, err := c.parentOf(m)
	if err != nil {
		return missions.ReportResult{}, err
	}
	u, err := c.reportOf(m, r)
	if err != nil {
		return missions.ReportResult{}, err
	}
	if u, err = c.queue(parent, u, m.Lifecycle.LastTurn()); err != nil {
		return missions.ReportResult{}, err
	}
	result := missions.ReportResult{Update: viewOf(u, m.Name, parent.Name), State: missions.StateOf(parent.Lifecycle)}
	result.Untold = c.whyUntold(parent)
	return result, nil
}

// ReportForKeeper is ReportAnswer where the keeper was killed that would tell the answer.
func (c *Courier) ReportForKeeper(m *projects.Mission) {
	if !m.Live.HasKeeper() {
		c.ReportAnswer(m)
	}
}

// ReportAnswer queues what the agent of a background fork has answered, once its turn has
// ended. The update has the id that the fork's keeper gives it: it waits once, whoever tells.
func (c *Courier) ReportAnswer(m *projects.Mission) {
	if m.Live.OwedAnswer == "" || m.Live.OwedAnswer != m.Live.LaunchID || m.Parent == nil || missions.InTurn(m.Lifecycle) || m.FirstPrompt != "" {
		return
	}
	if end, closed := m.Lifecycle.(missions.Closed); closed && end.Reason == missions.CloseReasonPromoted {
		return
	}
	parent, err := c.parentOf(m)
	if err != nil {
		c.warn(m, err)
		return
	}
	u, err := c.reportOf(m, missions.ReportRequest{ID: m.Live.OwedAnswer})
	if err == nil {
		_, err = c.queue(parent, u, m.Lifecycle.LastTurn())
	}
	c.warn(m, err)
}

func verifyRequest(r missions.ReportRequest) error {
	switch {
	case r.ID != "" && !missions.UUIDPattern().MatchString(r.ID):
		return missions.Errorf(missions.KindUsage, "leave it out", "%q is no id of an update", r.ID)
	case r.Kind == "" || r.Kind == missions.UpdateReport:
		return nil
	case r.Kind != missions.UpdateChecked && r.Kind != missions.UpdateTimeout:
		return missions.Errorf(missions.KindUsage, "leave it out", "%q is nothing that a fork reports", r.Kind)
	case strings.TrimSpace(r.Text) == "" && r.Kind == missions.UpdateChecked:
		return missions.Errorf(missions.KindUsage, "give the text", "an update of kind %s has no text", r.Kind)
	}
	return nil
}

// whyUntold is why no prompt of a mission will carry its updates by itself, "" if one will.
func (c *Courier) whyUntold(m *projects.Mission) string {
	switch {
	case c.Adapter(m.Agent) == nil:
		return m.AgentName() + " is not an agent that Umbra can tell anything"
	case !conversations.RunsWithoutHooks(m):
		return ""
	case missions.HasAgent(m.Lifecycle):
		return fmt.Sprintf("the agent of %[1]s runs without hooks, and can only be told as it starts: end it, then: umbra mission resume %[1]s --prompt TEXT", m.Name)
	}
	return fmt.Sprintf("the agent of %[1]s ran without hooks, and can only be told as it starts: umbra mission resume %[1]s --prompt TEXT", m.Name)
}

// parentOf is the mission that a fork is of.
func (c *Courier) parentOf(m *projects.Mission) (*projects.Mission, error) {
	if m.Parent == nil {
		return nil, missions.Errorf(missions.KindNotFound, "umbra mission ls --tree shows which missions are forks",
			"mission %s is not a fork: there is nobody to report to", m.Name)
	}
	parent, err := c.LoadMission(m.Project, m.Parent.Mission)
	if err != nil {
		e := missions.AsError(err)
		return nil, missions.Errorf(e.Kind, e.Hint, "what %s was forked from can't be told: %w", m.Name, err)
	}
	return parent, nil
}

// reportOf is what a fork has to tell: the text of the request, else its agent's last answer.
func (c *Courier) reportOf(m *projects.Mission, r missions.ReportRequest) (u missions.Update, err error) {
	u = missions.Update{ID: r.ID, From: m.Name, FromID: m.ID, Kind: cmp.Or(r.Kind, missions.UpdateReport), Text: r.Text}
	if u.Kind == missions.UpdateReport || r.Text == "" { // else its agent has not said it
		u.FromSession = m.Stored.Session
	}
	c.addForkPoint(m, &u)
	if strings.TrimSpace(r.Text) == "" {
		if u.Text, err = c.lastAnswer(m, u.SinceTurn); err != nil {
			return u, err
		}
	}
	if u.Text = CleanText(u.Text); u.Text == "" {
		return u, nothingToSay(m)
	}
	if len(u.Text) > missions.MaxUpdateBytes {
		return u, missions.Errorf(missions.KindUsage, "report what matters, and name the file that has the rest",
			"a report of %d bytes is too long: at most %d are kept", len(u.Text), missions.MaxUpdateBytes)
	}
	return u, nil
}

// addForkPoint says since when a fork goes its own way, and what it was asked first.
func (c *Courier) addForkPoint(m *projects.Mission, u *missions.Update) {
	id, err := gitstore.ParseID(m.Parent.Snapshot)
	if err != nil {
		return
	}
	at, err := m.Project.Store.Snapshot(id)
	if err != nil {
		return // its history may be pruned: the report is none the worse
	}
	u.Since, u.SinceTurn = at.At, at.Turn
	steps, err := m.Project.TurnSnapshots(m.Tip.ID, at.Turn+1)
	if err != nil {
		return
	}
	for _, s := range steps {
		if info, err := m.Project.ReadSnapshotInfo(s.Snapshot); err == nil && info.Prompt != "" {
			u.Topic = missions.TruncateText(strings.Join(strings.Fields(info.Prompt), " "), maxTopic)
			return
		}
	}
}

// lastAnswer is what the fork's agent has said last, in a turn after the fork point.
func (c *Courier) lastAnswer(m *projects.Mission, sinceTurn int) (string, error) {
	if missions.InTurn(m.Lifecycle) {
		return "", missions.Errorf(missions.KindBusy, fmt.Sprintf("umbra mission wait %[1]s, or give the text: umbra fork report %[1]s TEXT", m.Name),
			"%s is in turn %d and has not answered yet", m.Name, m.Lifecycle.LastTurn())
	}
	if m.Lifecycle.LastTurn() <= sinceTurn {
		return "", nothingToSay(m)
	}
	turn, ok := c.conversations.NewestSessionTurn(m)
	if !ok {
		return "", missions.Errorf(missions.KindConflict, fmt.Sprintf("umbra fork report %s TEXT", m.Name), "what the agent of %s said last can't be read", m.Name)
	}
	return lastWords(turn.Turn), nil
}

func lastWords(t sessions.Turn) string {
	for n := len(t.Texts); n > 0; n-- {
		if text := t.Texts[n-1]; text.Role == "assistant" {
			return text.Text
		}
	}
	return ""
}

func nothingToSay(m *projects.Mission) error {
	return missions.Errorf(missions.KindNotFound, fmt.Sprintf("give the text: umbra fork report %s TEXT", m.Name),
		"there is nothing to report: the agent of %s has answered nothing since it was forked", m.Name)
}
