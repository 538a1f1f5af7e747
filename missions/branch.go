package missions

import (
	"errors"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

// cutOf cuts the conversation of a moment of the mission where an agent can go on from.
// Before a prompt its user may have gone back, of which some agents write nothing until
// the prompt itself: what followed the moment tells. Where that can't be read, the
// moment is none the worse for it.
func (l *Local) cutOf(m *loaded, s *gitstore.Snapshot) (*talkPlan, error) {
	plan, err := l.cutAt(m.project, s, m.bind.Session)
	if err != nil || plan.empty || !triggersOf(s).Has(TriggerPrompt) {
		return plan, err
	}
	a, ok := l.adapter(plan.source.Agent).(sessions.Branching)
	if !ok {
		return plan, nil
	}
	taker := l.takerOf(m, s)
	line, back, err := l.wentBack(taker, a, s, plan)
	if err != nil {
		l.log.Warn("look for a prompt that went back", "mission", taker.ID, "snapshot", s.ID.Short(), "error", err)
	}
	if back {
		if err := l.cutAfter(m.project, a, plan, line); err != nil {
			return nil, cutFailed(s, err)
		}
	}
	return plan, nil
}

// cutAfter moves a plan's cut to a line before it, if the conversation has that.
func (l *Local) cutAfter(p *project, a sessions.Branching, plan *talkPlan, line string) error {
	r, _, err := l.sessionBeside(p, plan.record, plan.beside)
	if err != nil {
		return err
	}
	defer r.Close()
	cut, ok, err := a.CutAfter(io.LimitReader(r, plan.cut.Length), line)
	if ok {
		plan.cut, plan.empty = cut, cut.Length == 0
	}
	return err
}

// wentBack reports whether the user had gone back before the prompt of a snapshot of
// the mission, and the line that it goes on from. Of the conversation before, as much
// is read as tells.
func (l *Local) wentBack(m *loaded, a sessions.Branching, s *gitstore.Snapshot, plan *talkPlan) (line string, back bool, err error) {
	told := false
	for tail := int64(cutTail); !told; tail *= 8 {
		all := tail >= plan.cut.Length
		line, back, told, err = l.wentBackFrom(m, a, s, plan, tail, all)
		if all || err != nil {
			break
		}
	}
	return line, back && told, err
}

// wentBackFrom is wentBack by the last so many bytes before the cut, or by all.
func (l *Local) wentBackFrom(m *loaded, a sessions.Branching, s *gitstore.Snapshot, plan *talkPlan, tail int64, all bool) (line string, back, told bool, err error) {
	after, err := l.talkAfter(m, s, plan)
	if err != nil || after == nil {
		return "", false, true, err
	}
	defer after.Close()
	var end *joined
	from := int64(0)
	if all {
		end, _, err = l.sessionBeside(m.project, plan.record, m.bind.Session)
	} else {
		end, from, err = l.talkFrom(m.project, plan.record, m.bind.Session, plan.cut.Length-tail)
	}
	if err != nil {
		return "", false, false, err
	}
	defer end.Close()
	return a.WentBack(io.LimitReader(end, plan.cut.Length-from), after, plan.source.Length-plan.cut.Length)
}

// takerOf is the mission that a snapshot was taken of: m, or the one that m has inherited
// it from. What followed the snapshot is in its history.
func (l *Local) takerOf(m *loaded, s *gitstore.Snapshot) *loaded {
	if s.Mission == m.ID {
		return m
	}
	if source, err := l.loadAny(m.project, s.Mission); err == nil {
		return source
	}
	return m
}

// talkAfter opens what was said in the same session after the cut of a snapshot's
// conversation, as the last snapshot of its turn has it, or the agent's own file if
// nothing has followed yet. It is nil if that is not known.
func (l *Local) talkAfter(m *loaded, s *gitstore.Snapshot, plan *talkPlan) (io.ReadCloser, error) {
	if m.tip.ID == s.ID {
		return m.presentAfter(plan), nil
	}
	steps, err := m.project.turnSteps(m.tip.ID, s.Turn)
	if err != nil {
		return nil, err
	}
	for _, later := range slices.Backward(steps) {
		if later.ID == s.ID {
			break
		}
		meta, err := m.project.store.SessionMeta(later.Record)
		if err != nil || meta.SessionID != plan.source.SessionID || meta.Generation != plan.source.Generation || meta.Length <= plan.source.Length {
			continue
		}
		r, from, err := l.talkFrom(m.project, later.Record, m.bind.Session, plan.cut.Length)
		if err != nil {
			return nil, err
		}
		if from > plan.cut.Length { // the moment is in what was inherited
			return nil, r.Close()
		}
		if _, err := io.CopyN(io.Discard, r, plan.cut.Length-from); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
	if m.tip.Turn == s.Turn { // whatever was captured since, the prompt's line was not there yet
		return m.presentAfter(plan), nil
	}
	return nil, nil
}

// presentAfter is talkAfter in the agent's own file, nil if it has another session.
func (m *loaded) presentAfter(plan *talkPlan) io.ReadCloser {
	if m.stored.Session != plan.source.SessionID {
		return nil
	}
	file, _, err := disk.OpenRegular(m.bind.Session)
	if err != nil {
		return nil
	}
	if _, err := file.Seek(plan.cut.Length, io.SeekStart); err != nil {
		file.Close()
		return nil
	}
	return file
}
