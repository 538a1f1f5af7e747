package history

import (
	"context"
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// logDiffer compares snapshots for a log, with as few processes of git as possible.
type logDiffer struct {
	project *projects.Project
	request missions.LogRequest

	lines   *diff.Differ
	changes *diff.Differ // below paths
	paths   []string
}

func (t *logDiffer) close() {
	for _, d := range []*diff.Differ{t.lines, t.changes} {
		if d != nil {
			d.Close()
		}
	}
}

// lineDiffer counts lines. It is nil if the request does not ask for them.
func (t *logDiffer) lineDiffer(ctx context.Context) *diff.Differ {
	if t.lines == nil && t.request.Lines {
		t.lines = comparisons.Differ(ctx, t.project, diff.Lines, nil)
	}
	return t.lines
}

// addChanges adds what a snapshot changed against the one before, below paths if
// there are any. The first snapshot of all has nothing before it.
func (t *logDiffer) addChanges(ctx context.Context, e *missions.Entry, s *gitstore.Snapshot, paths []string) error {
	parent := s.Parent()
	if parent.IsZero() {
		return nil
	}
	before, err := t.project.Store.Snapshot(parent)
	if err != nil {
		return err
	}
	if t.changes != nil && !slices.Equal(t.paths, paths) {
		t.changes.Close()
		t.changes = nil
	}
	if t.changes == nil {
		t.changes, t.paths = comparisons.Differ(ctx, t.project, comparisons.PatchDetail(t.request.Patch), paths), paths
	}
	c, err := comparisons.DiffTrees(t.changes, before.Tree, s.Tree)
	e.Changed, e.Patch, e.Unpaired = c.Files, c.Patch, c.Unpaired
	return err
}

// addConversations adds to the newest entry of each turn the lines of its conversation.
func (rd *Reader) addConversations(p *projects.Project, list []missions.Entry) error {
	type turnOfMission struct {
		mission string
		turn    int
	}
	done, read := map[turnOfMission]bool{}, &conversationReader{reader: rd, project: p}
	for i := range list {
		e := &list[i]
		at := turnOfMission{e.Mission, e.Turn}
		if done[at] || e.Turn == 0 || e.Operation != "" { // after a restore the conversation is an older one
			continue
		}
		done[at] = true
		id, err := gitstore.ParseID(e.ID)
		if err != nil {
			return err
		}
		s, err := p.SnapshotCache.ReadSnapshot(p.Store, id)
		if err != nil {
			return err
		}
		if e.ConversationLines, err = read.linesOfTurn(s); err != nil {
			return err
		}
	}
	return nil
}

// conversationReader reads the conversations of snapshots, newest first. A conversation
// holds those of earlier snapshots, as long as its file only grew: it is read once.
type conversationReader struct {
	reader       *Reader
	project      *projects.Project
	meta         records.SessionMeta
	conversation sessions.Conversation
}

// linesOfTurn are the lines of a snapshot's turn.
func (t *conversationReader) linesOfTurn(s *gitstore.Snapshot) ([]missions.ConversationLine, error) {
	meta, err := records.ReadSessionMeta(t.project.Store, s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, nil
	}
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation of snapshot %s: %w", s.ID.Short(), err)
	}
	grown := meta.SessionID == t.meta.SessionID && meta.Generation == t.meta.Generation && meta.Length <= t.meta.Length
	if a := t.reader.Adapter(meta.Agent); !grown || a == nil || conversations.MustCountWhole(a) {
		if t.conversation, err = t.reader.conversations.ReadConversation(&projects.Mission{Project: t.project}, s); err != nil {
			return nil, err
		}
		t.meta = meta
	}
	turns := t.conversation.Turns
	end := t.conversation.Length - (t.meta.Length - t.meta.Torn) + meta.Length // where the snapshot's conversation ends in the longer one
	if n := slices.IndexFunc(turns, func(turn sessions.Turn) bool { return turn.Start >= end }); n >= 0 {
		turns = turns[:n]
	}
	return t.reader.linesOfLastTurn(t.project, s, turns)
}

// linesOfLastTurn are the lines of a snapshot's own turn, the last of its conversation. A
// snapshot that was taken for a prompt may be older than the turn's first line: then
// there are none.
func (rd *Reader) linesOfLastTurn(p *projects.Project, s *gitstore.Snapshot, turns []sessions.Turn) ([]missions.ConversationLine, error) {
	if len(turns) == 0 {
		return nil, nil
	}
	last := turns[len(turns)-1]
	if projects.TriggersOf(s).Has(missions.TriggerPrompt) {
		info, err := p.ReadSnapshotInfo(s)
		if err != nil || last.Done || info.Prompt != projects.RedactText(last.Prompt) {
			return nil, err
		}
	}
	return conversations.ConversationLines(turns[len(turns)-1:]), nil
}
