package restores

import (
	"encoding/json"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// JournalKind is a restore's, undo's or redo's kind in the journal.
const JournalKind = "restore"

// JournalDoc is a restore in flight, in the journal. It holds all that another process
// needs to finish the restore, and is durable before the first change.
type JournalDoc struct {
	Project           string                 `json:"project"` // the directory in Umbra's home
	Mission           string                 `json:"mission"`
	WorkspaceIdentity home.DirectoryIdentity `json:"workspace"`
	TipBefore         string                 `json:"expected"` // the mission's newest snapshot when it began
	Operation         projects.Operation     `json:"operation"`
	Files             *restore.Document      `json:"files,omitempty"`
	Conversation      *conversationDoc       `json:"conversation,omitempty"`
	Subject           string                 `json:"describes"`
	Note              string                 `json:"note,omitempty"`
	Owner             lock.Owner             `json:"owner"` // the process that carries it out
}

// isIn reports whether the restore is one in the mission's workspace.
func (d *JournalDoc) isIn(m *projects.Mission) bool {
	now := m.Binding.Identity
	return d.Project == m.Project.Dir && (d.WorkspaceIdentity.Is(now) || d.WorkspaceIdentity.IsRenumbered(now))
}

// conversationDoc is the session that the mission goes on in. If the session does not
// exist already, it says what the session is made of.
type conversationDoc struct {
	Session string          `json:"session"`
	Path    string          `json:"path"`
	Record  gitstore.ID     `json:"record,omitzero"`
	Length  int64           `json:"length,omitempty"`
	Recipe  json.RawMessage `json:"recipe,omitempty"`
	// Moment is set where programs of the user's make it: then it is there before any file
	// is restored.
	Moment conversations.ToolMoment `json:"moment,omitzero"`
}

// isToolCopy reports whether programs of the user's make the session.
func (c *conversationDoc) isToolCopy() bool {
	return c != nil && c.Recipe != nil && c.Moment != conversations.ToolMoment{}
}

// NewJournalDoc writes down what is to be done.
func (rs *Restorer) NewJournalDoc(m *projects.Mission, j *Job) (JournalDoc, error) {
	op := projects.Operation{
		ID: rs.NewID(), Kind: j.Kind, Target: j.target.ID.String(), ReversedOperation: j.takesBack.ID,
		Merge: j.takesBack.Merge, Merged: j.takesBack.Merged, Kept: j.Result.Kept, Paths: j.paths, Part: j.part,
	}
	if j.merge != nil {
		op.Merge, op.Merged = j.merge.ID, j.merge.Tips
	}
	if m.Live.Handover.IsOpen() {
		op.HandoverID = m.Live.Handover.ID
	}
	if j.safetySnapshot != nil {
		op.SafetySnapshot = j.safetySnapshot.ID.String()
	} else {
		op.SafetySnapshot = m.Tip.ID.String()
	}
	doc := JournalDoc{
		Project: m.Project.Dir, Mission: m.ID, WorkspaceIdentity: m.Binding.Identity, TipBefore: m.Tip.ID.String(),
		Subject: j.Kind + " " + j.targetText(m), Note: restoreNote(j), Owner: rs.Self,
	}
	var err error
	if j.Files != nil && !j.Files.isEmpty() {
		if err := j.Files.rememberAttributes(m); err != nil {
			return doc, err
		}
		if op.Plan, err = j.Files.document(); err != nil {
			return doc, err
		}
	}
	if j.Conversation != nil {
		op.SessionBefore, op.SessionBeforePath = m.Stored.Session, m.Binding.SessionPath
		if doc.Conversation, err = rs.newConversationDoc(m, j.target, j.Conversation); err != nil {
			return doc, err
		}
		op.SessionAfter, op.SessionAfterPath = doc.Conversation.Session, doc.Conversation.Path
	}
	doc.Operation = op
	return doc, nil
}

// openRestoreWork opens a journal entry of a restore in the mission's workspace; nil for
// any other.
func (rs *Restorer) openRestoreWork(m *projects.Mission, entry *journal.Operation) (*RestoreWork, error) {
	if entry.Kind() != JournalKind {
		return nil, nil
	}
	work := &RestoreWork{Work: &restore.Work{Objects: m.Project.Store, Entry: entry}}
	if err := entry.Document(&work.Doc); err != nil {
		return nil, err
	}
	if !work.Doc.isIn(m) {
		return nil, nil
	}
	root, err := OpenWorkspace(m)
	if err != nil {
		return nil, err
	}
	work.Root, work.Document = root, work.Doc.Files
	if work.Document != nil && work.Document.Root.Inode == root.Identity().Inode {
		work.Document.Root = root.Identity() // its device may have another number by now
	}
	return work, nil
}

// EachUnfinishedRestore calls fn for each restore in the mission's workspace that has
// not ended, and reports whether there were any.
func (rs *Restorer) EachUnfinishedRestore(m *projects.Mission, fn func(*journal.Operation, journal.Phase) error) (found bool, err error) {
	entries, _, err := rs.Journal.List()
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range entries {
		phase, _ := entry.Phase()
		if entry.Kind() != JournalKind || phase == journal.Done {
			continue
		}
		var doc JournalDoc
		if err := entry.Document(&doc); err != nil {
			rs.Logger.Warn("read a restore that was cut off", "operation", entry.ID(), "error", err) // doctor says it too
			continue
		}
		if !doc.isIn(m) {
			continue
		}
		found = true
		if err := fn(entry, phase); err != nil {
			return found, err
		}
	}
	return found, nil
}
