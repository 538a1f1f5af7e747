package conversations

import (
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Messages finds single messages in the conversations of missions.
type Messages struct{ *Library }

// MessageMoment is the moment that a message belongs to.
type MessageMoment struct {
	addresses.ResolvedMoment
	Plan  *ConversationPlan // its conversation, cut after the message; nil: all that the moment has
	IsOld bool              // the message was said before the mission's first snapshot
}

// Find finds the moment of a message in a session of the mission's: the first
// snapshot that has the message, and what an agent can go on from of what was said until
// then. What can't be gone on from, such as a prompt without its answer, is of the moment
// before. It is nil where no snapshot has the message.
func (l Messages) Find(m *projects.Mission, session, message string) (*MessageMoment, error) {
	a, ok := l.Adapter(m.Agent).(sessions.Addressed)
	if !ok {
		return nil, nil
	}
	var history []*gitstore.Snapshot
	for s, err := range m.Project.SnapshotCache.WalkHistory(m.Project.Store, m.Tip.ID) {
		if err != nil {
			return nil, err
		}
		history = append(history, s)
	}
	slices.Reverse(history)
	f := messageFinder{l.Library, m, a, history, message}
	return f.find(session)
}

// FileHas reports whether the agent's own file of a mission has a message.
func (l Messages) FileHas(m *projects.Mission, message string) bool {
	a, ok := l.Adapter(m.Agent).(sessions.Addressed)
	if !ok {
		return false
	}
	file, _, err := disk.OpenRegular(m.Binding.SessionPath)
	if err != nil {
		return false
	}
	defer file.Close()
	_, end, err := a.CutAfter(file, message)
	return err == nil && end > 0
}

type messageFinder struct {
	*Library
	mission *projects.Mission
	adapter sessions.Addressed
	history []*gitstore.Snapshot // oldest first
	message string
}

// growth is a series of a session's snapshots whose conversation only grew.
type growth struct {
	metas map[int]records.SessionMeta // by the snapshots' places in the history
	last  int
}

// growths are those of a session, the oldest first.
func (f messageFinder) growths(session string) (list []growth, err error) {
	for i, s := range f.history {
		if s.Session != session {
			continue
		}
		meta, err := records.ReadSessionMeta(f.mission.Project.Store, s.Record)
		if errors.Is(err, gitstore.ErrNoEntry) || err == nil && meta.SessionID != session {
			continue
		}
		if err != nil {
			return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation of snapshot %s: %w", s.ID.Short(), err)
		}
		if n := len(list); n == 0 || !goesOn(list[n-1].metas[list[n-1].last], meta) {
			list = append(list, growth{metas: map[int]records.SessionMeta{}})
		}
		g := &list[len(list)-1]
		g.metas[i], g.last = meta, i
	}
	return list, nil
}

// goesOn reports whether one state of a session's file is the beginning of a later one.
func goesOn(before, after records.SessionMeta) bool {
	return before.Generation == after.Generation && before.Length-before.Torn <= after.Length && inheritedRecord(before) == inheritedRecord(after)
}

func inheritedRecord(meta records.SessionMeta) gitstore.ID {
	if meta.Inherited == nil {
		return gitstore.ID{}
	}
	return meta.Inherited.Record
}

// find looks for the message in a session. What a copy has inherited was said in the
// session that it was made of: its moment is there, where the copy kept the id.
func (f messageFinder) find(session string) (*MessageMoment, error) {
	list, err := f.growths(session)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		cut, end, shift, err := f.cut(f.history[g.last].Record)
		if err != nil {
			return nil, err
		}
		if end == 0 {
			continue
		}
		if in := g.metas[g.last].Inherited; in != nil && end-shift <= in.Length {
			source, err := records.ReadSessionMeta(f.mission.Project.Store, in.Record)
			if err == nil && source.SessionID != session {
				if found, err := f.find(source.SessionID); found != nil || err != nil {
					return found, err
				}
			}
		}
		return f.moment(g, cut, end-shift, shift)
	}
	return nil, nil
}

// cut cuts what a record holds of a conversation after the message. shift is by how much
// places in the newest file stand later in the whole.
func (f messageFinder) cut(record gitstore.ID) (cut sessions.Cut, end, shift int64, err error) {
	r, _, err := f.openConversationWithFile(f.mission.Project, record, f.mission.Binding.SessionPath)
	if err != nil {
		return sessions.Cut{}, 0, 0, err
	}
	defer r.Close()
	cut, end, err = f.adapter.CutAfter(r, f.message)
	return cut, end, r.offsetInWhole, err
}

// moment is that of a message which ends at a place of the newest file: the first snapshot
// from the beginning of its turn on that has what is kept.
func (f messageFinder) moment(g growth, cut sessions.Cut, end, shift int64) (*MessageMoment, error) {
	length := func(i int) int64 { return g.metas[i].Length - g.metas[i].Torn }
	holder := g.last
	for i := range f.history {
		if _, has := g.metas[i]; has && length(i) >= end {
			holder = i
			break
		}
	}
	at := f.beginOfTurn(holder)
	for ; at < holder; at++ {
		if _, has := g.metas[at]; cut.Length == 0 || has && length(at) >= cut.Length-shift {
			break
		}
	}
	moment, err := addresses.MomentBack(f.mission, f.history[at].ID, 0)
	if err != nil {
		return nil, err
	}
	found := &MessageMoment{ResolvedMoment: moment, IsOld: holder == 0}
	if _, has := g.metas[at]; has && length(at) >= end {
		found.Plan = &ConversationPlan{Record: f.history[at].Record, agentFile: f.mission.Binding.SessionPath, SourceMeta: g.metas[at], Cut: cut, IsEmpty: cut.Length == 0}
	}
	return found, nil
}

// beginOfTurn is the place of the snapshot before a turn: nothing of what the turn did is in
// it. A restore begins anew what comes after it.
func (f messageFinder) beginOfTurn(i int) int {
	for ; i > 0 && f.history[i].RestoredFrom.IsZero() && f.history[i-1].Turn == f.history[i].Turn; i-- {
	}
	heard := projects.TriggersOf(f.history[i]).Has(missions.TriggerPrompt)
	if i > 0 && !heard && f.history[i].RestoredFrom.IsZero() {
		i-- // nothing had changed when the prompt came, or no hook told of it
	}
	return i
}
