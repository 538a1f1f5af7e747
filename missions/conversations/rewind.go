package conversations

import (
	"errors"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// PlanCut cuts the conversation of a moment of the mission where an agent can go on from.
// Before a prompt its user may have gone back, of which some agents write nothing until
// the prompt itself: what followed the moment tells. Where that can't be read, the
// moment is none the worse for it.
func (l *Library) PlanCut(m *projects.Mission, s *gitstore.Snapshot) (*ConversationPlan, error) {
	plan, err := l.PlanCutAtSnapshot(m.Project, s, m.Binding.SessionPath)
	if err != nil || plan.IsEmpty || !projects.TriggersOf(s).Has(missions.TriggerPrompt) {
		return plan, err
	}
	a, ok := l.Adapter(plan.SourceMeta.Agent).(sessions.Branching)
	if !ok {
		return plan, nil
	}
	taker := l.snapshotMission(m, s)
	line, back, err := l.findRewind(taker, a, s, plan)
	if err != nil {
		l.Logger.Warn("look for a prompt that went back", "mission", taker.ID, "snapshot", s.ID.Short(), "error", err)
	}
	if back {
		if err := l.moveCutToLine(m.Project, a, plan, line); err != nil {
			return nil, cutError(s, err)
		}
	}
	return plan, nil
}

// moveCutToLine moves a plan's cut to a line before it, if the conversation has that.
func (l *Library) moveCutToLine(p *projects.Project, a sessions.Branching, plan *ConversationPlan, line string) error {
	r, _, err := l.openConversationWithFile(p, plan.Record, plan.agentFile)
	if err != nil {
		return err
	}
	defer r.Close()
	cut, end, err := a.CutAfter(io.LimitReader(r, plan.Cut.Length), line)
	if end > 0 {
		plan.Cut, plan.IsEmpty = cut, cut.Length == 0
	}
	return err
}

// findRewind reports whether the user had gone back before the prompt of a snapshot of
// the mission, and the line that it goes on from. Of the conversation before, as much
// is read as tells.
func (l *Library) findRewind(m *projects.Mission, a sessions.Branching, s *gitstore.Snapshot, plan *ConversationPlan) (line string, back bool, err error) {
	told := false
	for tail := int64(CutTailBytes); !told; tail *= 8 {
		all := tail >= plan.Cut.Length
		line, back, told, err = l.findRewindInTail(m, a, s, plan, tail, all)
		if all || err != nil {
			break
		}
	}
	return line, back && told, err
}

// findRewindInTail is findRewind by the last so many bytes before the cut, or by all.
func (l *Library) findRewindInTail(m *projects.Mission, a sessions.Branching, s *gitstore.Snapshot, plan *ConversationPlan, tail int64, all bool) (line string, back, told bool, err error) {
	after, err := l.openConversationAfter(m, s, plan)
	if err != nil || after == nil {
		return "", false, true, err
	}
	defer after.Close()
	var end *conversationReader
	from := int64(0)
	if all {
		end, _, err = l.openConversationWithFile(m.Project, plan.Record, m.Binding.SessionPath)
	} else {
		end, from, err = l.openOwnSessionFrom(m.Project, plan.Record, m.Binding.SessionPath, plan.Cut.Length-tail)
	}
	if err != nil {
		return "", false, false, err
	}
	defer end.Close()
	return a.WentBack(io.LimitReader(end, plan.Cut.Length-from), after, plan.SourceMeta.Length-plan.Cut.Length)
}

// snapshotMission is the mission that a snapshot was taken of: m, or the one that m has inherited
// it from. What followed the snapshot is in its history.
func (l *Library) snapshotMission(m *projects.Mission, s *gitstore.Snapshot) *projects.Mission {
	if s.Mission == m.ID {
		return m
	}
	if source, err := l.LoadMissionOrRemoved(m.Project, s.Mission); err == nil {
		return source
	}
	return m
}

// openConversationAfter opens what was said in the same session after the cut of a snapshot's
// conversation, as the last snapshot of its turn has it, or the agent's own file if
// nothing has followed yet. It is nil if that is not known.
func (l *Library) openConversationAfter(m *projects.Mission, s *gitstore.Snapshot, plan *ConversationPlan) (io.ReadCloser, error) {
	if m.Tip.ID == s.ID {
		return openSessionFileAfter(m, plan), nil
	}
	steps, err := m.Project.TurnSnapshots(m.Tip.ID, s.Turn)
	if err != nil {
		return nil, err
	}
	for _, later := range slices.Backward(steps) {
		if later.ID == s.ID {
			break
		}
		meta, err := records.ReadSessionMeta(m.Project.Store, later.Record)
		if err != nil || meta.SessionID != plan.SourceMeta.SessionID || meta.Generation != plan.SourceMeta.Generation || meta.Length <= plan.SourceMeta.Length {
			continue
		}
		r, from, err := l.openOwnSessionFrom(m.Project, later.Record, m.Binding.SessionPath, plan.Cut.Length)
		if err != nil {
			return nil, err
		}
		if from > plan.Cut.Length { // the moment is in what was inherited
			return nil, r.Close()
		}
		if _, err := io.CopyN(io.Discard, r, plan.Cut.Length-from); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
	if m.Tip.Turn == s.Turn { // whatever was captured since, the prompt's line was not there yet
		return openSessionFileAfter(m, plan), nil
	}
	return nil, nil
}

// openSessionFileAfter is openConversationAfter in the agent's own file, nil if it has another session.
func openSessionFileAfter(m *projects.Mission, plan *ConversationPlan) io.ReadCloser {
	if m.Stored.Session != plan.SourceMeta.SessionID {
		return nil
	}
	file, _, err := disk.OpenRegular(m.Binding.SessionPath)
	if err != nil {
		return nil
	}
	if _, err := file.Seek(plan.Cut.Length, io.SeekStart); err != nil {
		file.Close()
		return nil
	}
	return file
}
