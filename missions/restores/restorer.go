// Package restores plans a restore, does it, and takes it back: files, conversation, or
// both. When it is done, and what becomes of a live agent, is decided above.
package restores

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// New makes a Restorer.
func New(d *projects.Desk, c *conversations.Library, s *snapshots.Taker, p *presence.Observer, u *updates.Courier) *Restorer {
	return &Restorer{Desk: d, Neighbours: &Neighbours{d, p}, conversations: c, snapshots: s, presence: p, updates: u}
}

// Restorer plans and does restores in workspaces that its caller holds.
type Restorer struct {
	*projects.Desk
	*Neighbours
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	updates       *updates.Courier

	RestoreStep func(name string) error // restore.Work.Step, for tests
}

// RunRestore carries a planned restore out and records it.
func (rs *Restorer) RunRestore(ctx context.Context, m *projects.Mission, j *Job, c missions.Caller) (missions.RestoreResult, error) {
	if (j.Files == nil || j.Files.isEmpty()) && j.Conversation == nil && !j.isMerge() {
		j.Result.Done = true
		j.Result.Notes = append(j.Result.Notes, j.nothingToDo())
		rs.clearPending(m)
		return j.Result, nil
	}
	doc, err := rs.NewJournalDoc(m, j)
	if err != nil {
		return j.Result, err
	}
	work, outcome, err := rs.applyRestore(ctx, m, doc, j)
	if err != nil {
		return j.Result, err
	}
	defer work.Close()
	j.addOutcome(outcome)
	if work.Document != nil {
		j.Result.Modify, j.Result.Create, j.Result.Delete = work.changedPaths(outcome)
		j.Result = j.Result.WithEmptyLists()
	}
	if err := rs.completeRestore(ctx, m, work, outcome, j); err != nil {
		return j.Result, err
	}
	if err := rs.conversations.ImportConversation(ctx, m, c); err != nil {
		j.Result.Notes = append(j.Result.Notes, conversations.NotImportedNote(m, err))
	}
	return j.Result, nil
}

// nothingToDo says why a restore did nothing.
func (j *Job) nothingToDo() string {
	switch {
	case len(j.Result.Kept) > 0 || j.Files != nil && len(j.Files.ignoredSince.paths) > 0:
		return "nothing was changed: all that differs stays as it is"
	case j.Files != nil && j.Files.ignoredSince.isCut:
		return "nothing that a snapshot holds differs; not all ignored files were looked at"
	}
	return "nothing differs"
}

// clearPending drops the queued restore, and why one was not done. What was asked for
// later has been done, and the end of the turn must not take it back. If the agent has
// ended, the directory outside in which it worked is forgotten too. The caller holds
// the workspace.
func (rs *Restorer) clearPending(m *projects.Mission) {
	m.Live.QueuedRestore, m.Live.NotRestoredReason = nil, ""
	if !missions.HasAgent(m.Lifecycle) {
		m.Live.Places = projects.WorkPlaces{}
	}
	rs.SaveLiveState(m)
}

// NoteActionNotDone keeps why an action was not done whose end nobody may see. Umbra shows it
// until something is restored or queued again, and the agent is told with its next prompt.
// The caller holds the workspace.
func (rs *Restorer) NoteActionNotDone(ctx context.Context, m *projects.Mission, a projects.Action, why error) {
	e := missions.AsError(why)
	what := a.Kind()
	if a.Kind() == string(missions.TriggerRestore) {
		what = fmt.Sprintf("restore of %.10s", a.Restore.Moment)
	}
	m.Live.NotRestoredReason = fmt.Sprintf("the %s was not done: %s", what, strings.Join(strings.Fields(e.Message), " "))
	if e.Hint != "" {
		m.Live.NotRestoredReason += " (" + e.Hint + ")"
	}
	snapshots.SetNote(m, snapshots.NoteNotDone, "Umbra: "+m.Live.NotRestoredReason)
	rs.Logger.Warn("not done: "+a.Kind(), "mission", m.ID, "for", a.String(), "error", why)
	if err := rs.snapshots.WriteMetaRecord(ctx, m, "the "+a.Kind()+" was not done"); err != nil {
		rs.Logger.Warn("note it", "mission", m.ID, "error", err)
	}
}
