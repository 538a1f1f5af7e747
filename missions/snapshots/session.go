package snapshots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SessionRecorder brings conversations into records.
type SessionRecorder struct {
	*projects.Desk
	conversations *conversations.Library
}

// PutSession brings the conversation in a record up to what the agent's file holds now.
// A mission without a session file has no conversation in its record. The whole file is
// compared where nobody compares it later: at the end of a mission, and without a
// watcher at each idle point.
func (sr *SessionRecorder) PutSession(
	t *records.Tree, m *projects.Mission, take missions.TakeSnapshot, ws *WorkspaceCache, batch *shadow.Batch,
) (conversations.SessionState, error) {
	a := sr.Adapter(m.Agent)
	if a == nil || m.Binding.SessionPath == "" {
		return conversations.SessionState{}, nil
	}
	conversations.FindSessionFile(m, a)
	file, info, err := disk.OpenRegular(m.Binding.SessionPath)
	if errors.Is(err, fs.ErrNotExist) {
		return sr.conversations.KeepMissingSession(t, m)
	}
	if err != nil {
		return sr.conversations.SkipUnreadSession(t, m, err)
	}
	defer file.Close()
	before, _ := t.SessionMeta()
	if !m.SessionRecord.IsZero() {
		if err := t.ContinueSession(m.SessionRecord); err != nil {
			return conversations.SessionState{}, fmt.Errorf("session of %s: %w", m.Name, err)
		}
	}
	identity, idle := home.IdentityOf(info), !missions.InTurn(take.Lifecycle)
	whole := take.CompareWholeSession || identity == (home.FileIdentity{}) || idle && ws.isUnwatched() || !missions.HasAgent(take.Lifecycle)
	meta, err := t.AppendSession(batch, records.SessionSource{
		Agent: m.Agent, SessionID: m.Stored.Session, File: file, Length: info.Size(),
		SameFile: identity == m.Binding.SessionIdentity && !whole && m.SessionRecord.IsZero(), Idle: idle, Inherited: m.InheritedSession,
	})
	if err != nil {
		return conversations.SessionState{}, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	events, err := sr.conversations.CountEvents(m, file, before, meta)
	if err != nil {
		return conversations.SessionState{}, err
	}
	m.Binding.SessionIdentity, m.InheritedSession, m.SessionRecord = identity, nil, gitstore.ID{}
	return conversations.SessionState{Events: events, Meta: meta}, sr.putSideFiles(t, a, m, ws, batch)
}

// isConversationRecorded reports whether the newest snapshot holds all of the session's
// files.
func (sr *SessionRecorder) isConversationRecorded(m *projects.Mission, ws *WorkspaceCache) bool {
	a := sr.Adapter(m.Agent)
	if a == nil || m.Binding.SessionPath == "" {
		return true
	}
	conversations.FindSessionFile(m, a)
	info, err := os.Stat(m.Binding.SessionPath)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	meta, err := records.ReadSessionMeta(m.Project.Store, m.Tip.Record)
	if err != nil || meta.SessionID != m.Stored.Session || meta.Length != info.Size() {
		return false
	}
	same, err := sr.areSideFilesRecorded(m, a, ws)
	return same && err == nil // the snapshot says what is wrong
}
