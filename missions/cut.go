package missions

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

// cutTail is how much of a conversation's end is read at first to find its cut;
// more only where that does not tell.
const cutTail = 1 << 20

// cutAt cuts the conversation of a snapshot where an agent can go on from. The
// agent's own file, if there is one, makes it faster: see sessionBeside.
func (l *Local) cutAt(p *project, s *gitstore.Snapshot, beside string) (*talkPlan, error) {
	meta, err := p.store.SessionMeta(s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, sessions.ErrNoSession
	}
	if err != nil {
		return nil, cutFailed(s, err)
	}
	a := l.adapter(meta.Agent)
	if a == nil {
		return nil, sessions.ErrNoSession
	}
	plan := &talkPlan{record: s.Record, beside: beside, source: meta}
	told := false
	if info, err := p.snapshotInfo(s); err == nil && info.Events > 0 {
		plan.cut, told, err = l.cutEnd(p, a, plan, info.Events)
		if err != nil {
			return nil, cutFailed(s, err)
		}
	}
	if told {
		return plan, nil
	}
	r, _, err := l.sessionBeside(p, s.Record, beside)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	plan.cut, err = a.Cut(r)
	if errors.Is(err, sessions.ErrEmptyCut) {
		plan.empty = true
		return plan, nil
	}
	if err != nil {
		return nil, cutFailed(s, err)
	}
	return plan, nil
}

func cutFailed(s *gitstore.Snapshot, err error) error {
	return Errorf(KindDamaged, "umbra doctor", "conversation of snapshot %s: %w", s.ID.Short(), err)
}

// cutEnd finds the cut in the end of a conversation of so many lines; false if
// that does not tell.
func (l *Local) cutEnd(p *project, a sessions.Adapter, plan *talkPlan, lines int) (sessions.Cut, bool, error) {
	cutter, ok := a.(sessions.EndCutting)
	if !ok {
		return sessions.Cut{}, false, nil
	}
	first := int64(0) // of the bytes that the record itself holds
	if in := plan.source.Inherited; in != nil {
		first = in.Length
	}
	shift, err := l.shiftOf(p, plan)
	if err != nil {
		return sessions.Cut{}, false, err
	}
	for tail := int64(cutTail); plan.source.Length-tail > first; tail *= 8 {
		cut, told, err := l.cutFrom(p, cutter, plan, plan.source.Length-tail)
		if told {
			cut.Events, cut.Length = lines-cut.Dropped, cut.Length+shift
		}
		if told || err != nil {
			return cut, told, err
		}
	}
	return sessions.Cut{}, false, nil
}

// cutFrom reads the conversation from about offset on.
func (l *Local) cutFrom(p *project, a sessions.EndCutting, plan *talkPlan, offset int64) (sessions.Cut, bool, error) {
	r, from, err := l.talkFrom(p, plan.record, plan.beside, offset)
	if err != nil {
		return sessions.Cut{}, false, err
	}
	defer r.Close()
	return a.CutEnd(r, from)
}

// talkFrom opens what a record holds of its session's newest file from about offset on,
// and says where that begins: what is inherited is no part of it. The file at path, if
// there is one, makes it faster: see sessionBeside.
func (l *Local) talkFrom(p *project, record gitstore.ID, path string, offset int64) (*joined, int64, error) {
	r, err := openRecorded(p, record, path)
	if err != nil {
		return nil, 0, err
	}
	return r, r.own.From(offset), nil
}

// openRecorded opens what a record itself holds of its session's newest file.
func openRecorded(p *project, record gitstore.ID, path string) (*joined, error) {
	own, err := p.store.OpenSession(record)
	if err != nil {
		return nil, err
	}
	r := &joined{Reader: own, own: own}
	if file, _, err := disk.OpenRegular(path); err == nil {
		own.Beside(file)
		r.closers = append(r.closers, file)
	}
	return r, nil
}
