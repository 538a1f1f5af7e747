package conversations

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// CutTailBytes is how much of a conversation's end is read at first to find its cut;
// more only where that does not tell.
const CutTailBytes = 1 << 20

// PlanCutAtSnapshot cuts the conversation of a snapshot where an agent can go on from. The
// agent's own file, if there is one, makes it faster: see openConversationWithFile.
func (l *Library) PlanCutAtSnapshot(p *projects.Project, s *gitstore.Snapshot, beside string) (*ConversationPlan, error) {
	meta, err := records.ReadSessionMeta(p.Store, s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, sessions.ErrNoSession
	}
	if err != nil {
		return nil, cutError(s, err)
	}
	a := l.Adapter(meta.Agent)
	if a == nil {
		return nil, sessions.ErrNoSession
	}
	plan := &ConversationPlan{Record: s.Record, agentFile: beside, SourceMeta: meta}
	if plan.Moment, err = (toolCopies{l}).find(p, a, s); err != nil {
		return nil, err
	}
	told := false
	if info, err := p.ReadSnapshotInfo(s); err == nil && info.Events > 0 {
		plan.Cut, told, err = l.FindCutInTail(p, a, plan, info.Events)
		if err != nil {
			return nil, cutError(s, err)
		}
	}
	if told {
		return plan, nil
	}
	r, _, err := l.openConversationWithFile(p, s.Record, beside)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	plan.Cut, err = a.Cut(r)
	if errors.Is(err, sessions.ErrEmptyCut) {
		plan.IsEmpty = true
		return plan, nil
	}
	if err != nil {
		return nil, cutError(s, err)
	}
	return plan, nil
}

func cutError(s *gitstore.Snapshot, err error) error {
	return missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation of snapshot %s: %w", s.ID.Short(), err)
}

// FindCutInTail finds the cut in the end of a conversation of so many lines; false if
// that does not tell.
func (l *Library) FindCutInTail(p *projects.Project, a sessions.Adapter, plan *ConversationPlan, lines int) (sessions.Cut, bool, error) {
	cutter, ok := a.(sessions.EndCutting)
	if !ok {
		return sessions.Cut{}, false, nil
	}
	first := int64(0) // of the bytes that the record itself holds
	if in := plan.SourceMeta.Inherited; in != nil {
		first = in.Length
	}
	shift, err := l.offsetInConversation(p, plan)
	if err != nil {
		return sessions.Cut{}, false, err
	}
	for tail := int64(CutTailBytes); plan.SourceMeta.Length-tail > first; tail *= 8 {
		cut, told, err := l.findCutFromOffset(p, cutter, plan, plan.SourceMeta.Length-tail)
		if told {
			cut.Events, cut.Length = lines-cut.Dropped, cut.Length+shift
		}
		if told || err != nil {
			return cut, told, err
		}
	}
	return sessions.Cut{}, false, nil
}

// findCutFromOffset reads the conversation from about offset on.
func (l *Library) findCutFromOffset(p *projects.Project, a sessions.EndCutting, plan *ConversationPlan, offset int64) (sessions.Cut, bool, error) {
	r, from, err := l.openOwnSessionFrom(p, plan.Record, plan.agentFile, offset)
	if err != nil {
		return sessions.Cut{}, false, err
	}
	defer r.Close()
	return a.CutEnd(r, from)
}
