package searches

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// sessionID is a session of an agent.
type sessionID struct{ agent, id string }

// run is a series of snapshots of a mission whose conversation only grew.
type run struct {
	mission   *projects.Mission
	snapshots []projects.NumberedSnapshot // oldest first
	before    []projects.NumberedSnapshot // the mission's snapshots before those, oldest first
	meta      records.SessionMeta         // of the newest
	lengths   map[int]int64               // of conversations, by the places of their snapshots
	sides     map[int]map[string]gitstore.ID
}

// conversationSources are the sessions of a project. What forks share is said once: each
// has of its conversation what is its own. Sessions that several runs hold, since the agent
// wrote its file anew or another mission took the session up, are read together.
func (s *scope) conversationSources(p *past, bySession map[sessionID][]*run) (sources []source) {
	for id, runs := range bySession {
		meant := (s.agent == "" || s.agent == id.agent) && slices.ContainsFunc(runs, func(r *run) bool { return s.isMeant(r.mission) })
		if !meant {
			continue
		}
		var newest time.Time
		for _, r := range runs {
			if at := newestIn(r.snapshots); at.After(newest) {
				newest = at
			}
			if r.presentFile() != "" {
				newest = s.Now()
			}
		}
		slices.SortStableFunc(runs, compareRuns)
		t := &conversationSearch{scope: s, project: p.project, runs: runs, known: bySession, newest: newest}
		sources = append(sources, source{newest, t.search})
		if _, ok := s.delegating(runs[0]); ok {
			sources = append(sources, source{newest, t.searchSubagents})
		}
	}
	return sources
}

func compareRuns(a, b *run) int { return a.snapshots[0].At.Compare(b.snapshots[0].At) }

// findRuns finds the runs of a project's snapshots.
func findRuns(ctx context.Context, p *past, all []ownedSnapshot) (list []*run) {
	byMission := map[*projects.Mission][]projects.NumberedSnapshot{}
	for _, s := range all {
		byMission[s.mission] = append(byMission[s.mission], s.NumberedSnapshot)
	}
	for _, m := range p.missions {
		mine := byMission[m]
		own := mine
		for len(own) > 0 {
			n := slices.IndexFunc(own, func(s projects.NumberedSnapshot) bool { return s.Session != own[0].Session })
			if n < 0 {
				n = len(own)
			}
			if own[0].Session != "" {
				found, err := splitRuns(m, own[:n])
				if err != nil {
					notifyUnread(ctx, m, err)
				}
				for _, r := range found {
					r.before = mine[:slices.IndexFunc(mine, func(s projects.NumberedSnapshot) bool { return s.ID == r.snapshots[0].ID })]
				}
				list = append(list, found...)
			}
			own = own[n:]
		}
	}
	return list
}

// splitRuns makes runs of snapshots that name one session. Only where the first and the
// last differ are those between them read.
func splitRuns(m *projects.Mission, list []projects.NumberedSnapshot) ([]*run, error) {
	first, err := sessionOf(m.Project, list[0])
	if err != nil {
		return nil, err
	}
	last, err := sessionOf(m.Project, list[len(list)-1])
	if err != nil {
		return nil, err
	}
	if isOneRun(first, last) || len(list) == 1 {
		if last.SessionID == "" {
			return nil, nil
		}
		return []*run{{mission: m, snapshots: list, meta: last, lengths: map[int]int64{}, sides: map[int]map[string]gitstore.ID{}}}, nil
	}
	half := len(list) / 2
	before, err := splitRuns(m, list[:half])
	if err != nil {
		return nil, err
	}
	after, err := splitRuns(m, list[half:])
	if err != nil || len(before) == 0 || len(after) == 0 {
		return append(before, after...), err
	}
	if left, right := before[len(before)-1], after[0]; isOneRun(left.meta, right.meta) {
		left.snapshots, left.meta = list[half-len(left.snapshots):half+len(right.snapshots)], right.meta
		after = after[1:]
	}
	return append(before, after...), nil
}

// isOneRun reports whether a conversation is the beginning of a later one of the session.
func isOneRun(a, b records.SessionMeta) bool {
	same := a.Agent == b.Agent && a.SessionID == b.SessionID && a.Generation == b.Generation
	if a.Inherited == nil || b.Inherited == nil {
		return same && a.Inherited == b.Inherited
	}
	return same && a.Inherited.Record == b.Inherited.Record && a.Inherited.Length == b.Inherited.Length
}

// sessionOf says which conversation a snapshot holds, a zero one if none.
func sessionOf(p *projects.Project, s projects.NumberedSnapshot) (records.SessionMeta, error) {
	meta, err := records.ReadSessionMeta(p.Store, s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return records.SessionMeta{}, nil
	}
	return meta, err
}

// newest is the last snapshot of a run: it holds the whole conversation.
func (r *run) newest() projects.NumberedSnapshot { return r.snapshots[len(r.snapshots)-1] }

// presentFile is the agent's own file of a session that the mission is in now: it may hold
// what no snapshot does yet.
func (r *run) presentFile() string {
	m := r.mission
	if m.InTrash || m.Remote != "" || m.Stored.Session != r.meta.SessionID || m.Tip.ID != r.newest().ID {
		return ""
	}
	return m.Binding.SessionPath
}

// holder is the first snapshot whose conversation holds the byte before a place; the newest
// one where none does yet.
func (r *run) holder(place int64) int {
	at := sort.Search(len(r.snapshots), func(i int) bool {
		length, known := r.lengths[i]
		if !known {
			meta, err := sessionOf(r.mission.Project, r.snapshots[i])
			if length = meta.Length - meta.Torn; err != nil {
				length = 0
			}
			r.lengths[i] = length
		}
		return length >= place
	})
	return min(at, len(r.snapshots)-1)
}

// momentOf is the snapshot that shows what was said at a place: the one before a prompt was
// answered, that at which it was typed while the agent worked, and else the first that has
// it. No hook may have told of what was typed then: only the prompt that opens its turn has
// the place before the turn.
func (r *run) momentOf(place int64, prompt string, opens bool) projects.NumberedSnapshot {
	at := r.holder(place)
	if in := r.meta.Inherited; prompt == "" || in != nil && place <= in.Length {
		return r.snapshots[at] // what a copy begins with was typed elsewhere
	}
	nearest := r.snapshots[at]
	found := false
	for s := range r.backFrom(at) {
		if s.Turn != r.snapshots[at].Turn {
			break
		}
		begins := projects.TriggersOf(s.Snapshot).Has(missions.TriggerPrompt)
		if !begins && !strings.HasPrefix(s.Message, missions.MessageTyped) {
			continue
		}
		if begins && opens && !found {
			nearest, found = s, true
		}
		if info, err := r.mission.Project.ReadSnapshotInfo(s.Snapshot); err == nil && (begins && info.Prompt == prompt || info.Typed == prompt) {
			return s
		}
	}
	return nearest
}

// backFrom are the mission's snapshots from one of the run backwards. Before the first
// prompt of a session its file is not there yet.
func (r *run) backFrom(at int) iter.Seq[projects.NumberedSnapshot] {
	return func(yield func(projects.NumberedSnapshot) bool) {
		for _, list := range [][]projects.NumberedSnapshot{r.snapshots[:at+1], r.before} {
			for _, s := range slices.Backward(list) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// turnsOf is what of a run's conversation is to be read. What was said in a session that is
// known is left out, though the copy may be one of a session that is not.
func (sr *Searcher) turnsOf(r *run, known map[sessionID][]*run) (conversations.TurnRange, error) {
	t := conversations.TurnRange{Record: r.newest().Record, File: r.presentFile()}
	if r.meta.Inherited == nil {
		return t, nil
	}
	isKnown := func(agent, session string) bool { return known[sessionID{agent, session}] != nil }
	source, err := records.ReadSessionMeta(r.mission.Project.Store, r.meta.Inherited.Record)
	if t.Inherited = err != nil || !isKnown(source.Agent, source.SessionID); t.Inherited {
		t.Said, err = sr.conversations.SaidBefore(r.mission.Project, t.Record, isKnown)
	}
	return t, err
}
