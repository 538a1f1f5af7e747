package restores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// planConversation plans the conversation of a restore: a new session, cut at the
// target. There is none if the mission has no conversation, or if the present
// conversation is the target's already.
func (rs *Restorer) planConversation(m *projects.Mission, j *Job) error {
	a := rs.Adapter(m.Agent)
	if a == nil || m.Stored.Session == "" {
		if j.promotion != nil && j.promotion.fork.Stored.Session != "" {
			j.Result.Notes = append(j.Result.Notes, fmt.Sprintf("%s has no conversation that this could become: that of %s stays where it is",
				m.Name, j.promotion.fork.Name))
		}
		return nil
	}
	if !m.CanCopyConversation(a) {
		if m.Binding.SessionPath != "" {
			j.Result.Notes = append(j.Result.Notes, m.NoCopyReason())
		}
		return nil
	}
	plan, err := rs.conversations.PlanCut(m, j.target)
	if errors.Is(err, sessions.ErrNoSession) {
		plan, err = &conversations.ConversationPlan{IsEmpty: true}, nil
	}
	if err != nil {
		return err
	}
	now, err := rs.conversations.ReadPresentConversation(m)
	if err != nil {
		return err
	}
	j.Result.Conversation = missions.ConversationRestore{EventsKept: plan.Cut.Events, EventsDropped: max(0, now.Events-plan.Cut.Events)}
	if j.target.Mission == m.ID && j.Result.Conversation.EventsDropped > 0 {
		if j.Result.Conversation.TurnsDropped, err = turnsSince(m, j.target); err != nil {
			return err
		}
	}
	if plan.SourceMeta.SessionID == m.Stored.Session && plan.Cut.Length == now.Length || plan.IsEmpty && now.Events == 0 {
		return nil
	}
	if j.promotion != nil {
		if takes, err := j.promotion.planConversation(j, plan, now); !takes || err != nil {
			return err
		}
	}
	for _, tool := range plan.Cut.Open {
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf("the files are of a moment when %s had begun; the conversation is cut before it", tool.Name))
	}
	j.Conversation = plan
	return nil
}

// newConversationDoc chooses the session that the mission goes on in.
func (rs *Restorer) newConversationDoc(m *projects.Mission, target *gitstore.Snapshot, plan *conversations.ConversationPlan) (*conversationDoc, error) {
	if plan.ReturnSession != "" {
		return &conversationDoc{Session: plan.ReturnSession, Path: plan.ReturnPath}, nil
	}
	a := rs.Adapter(m.Agent)
	id := rs.NewSession(a)
	conversation := &conversationDoc{Session: id, Path: a.Path(m.AdapterEnv(), projects.ResolveLinks(m.Cwd()), id)}
	if plan.IsEmpty {
		return conversation, nil
	}
	to, err := rs.conversations.PlanMove(m, target, sessions.Rewrite{
		OldID: plan.SourceMeta.SessionID, NewID: id, NewCwd: m.Cwd(), NewRoot: m.Binding.Workspace, Version: a.RewriteVersion(),
	})
	if err != nil {
		return nil, err
	}
	recipe, err := json.Marshal(conversations.RecipeOf(plan.SourceMeta.Agent, to))
	conversation.Record, conversation.Length, conversation.Recipe, conversation.Moment = plan.Record, plan.Cut.Length, recipe, plan.Moment
	return conversation, err
}

// placeAnnouncedCopy places the copy of a conversation that the journal announced. A
// process that was killed may have placed it already.
func (rs *Restorer) placeAnnouncedCopy(ctx context.Context, m *projects.Mission, conversation *conversationDoc, r conversations.CopyRecipe) (conversations.PlacedSession, error) {
	source, err := records.ReadSessionMeta(m.Project.Store, conversation.Record)
	if err != nil {
		return conversations.PlacedSession{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: %w", conversation.Record.Short(), err)
	}
	plan := &conversations.ConversationPlan{Record: conversation.Record, SourceMeta: source, Cut: sessions.Cut{Length: conversation.Length}, Moment: conversation.Moment}
	done, err := rs.conversations.PlaceConversation(ctx, m.Project, plan, m.AdapterEnv(), r.AsRewrite())
	if errors.Is(err, fs.ErrExist) {
		return conversations.PlacedSession{ID: conversation.Session, Path: conversation.Path}, nil
	}
	return done, err
}

// CompleteConversation gives the mission its conversation, placing the copy if it is
// not there yet. The former session's file stays where it is.
func (rs *Restorer) CompleteConversation(ctx context.Context, m *projects.Mission, doc JournalDoc) error {
	if doc.Note != "" {
		snapshots.SetNote(m, snapshots.NoteRestore, doc.Note)
	}
	conversation := doc.Conversation
	if conversation == nil || m.Stored.Session == conversation.Session {
		return nil
	}
	var r conversations.CopyRecipe
	if conversation.Recipe != nil {
		if err := json.Unmarshal(conversation.Recipe, &r); err != nil {
			return missions.Errorf(missions.KindDamaged, "umbra doctor", "restore %s: recipe: %w", doc.Operation.ID, err)
		}
		done, err := rs.placeAnnouncedCopy(ctx, m, conversation, r)
		if err != nil {
			return err
		}
		m.InheritedSession = done.Inherited
	} else {
		m.SessionRecord = recordOfSession(m, doc.Operation.Target, conversation.Session)
	}
	conversations.SwitchSession(m, conversation.Session, conversation.Path)
	conversations.ResetLeftTally(m, doc.Operation.Target)
	rs.refreshLastPrompt(m, doc)
	rs.snapshots.NoteForkAgain(m)
	rs.updates.Follow(m, doc.Operation, r.OldID)
	return nil
}

// placeToolCopy places a copy that programs of the user's make before anything is restored:
// if they fail, the restore does.
func placeToolCopy(ctx context.Context, rs *Restorer, m *projects.Mission, conversation *conversationDoc) error {
	if !conversation.isToolCopy() {
		return nil
	}
	var r conversations.CopyRecipe
	if err := json.Unmarshal(conversation.Recipe, &r); err != nil {
		return err
	}
	_, err := rs.placeAnnouncedCopy(ctx, m, conversation, r)
	return err
}

// endTakenBack ends the entry of a restore after which all is as it was.
func endTakenBack(ctx context.Context, rs *Restorer, m *projects.Mission, work *RestoreWork) error {
	if c := work.Doc.Conversation; c.isToolCopy() && m.Stored.Session != c.Session {
		if err := (conversations.PlacedSession{ID: c.Session, Path: c.Path, Files: []string{c.Path}}).Remove(); err != nil {
			return err
		}
	}
	return rs.endRestore(ctx, m, work)
}

// recordOfSession is the record of a snapshot if it holds that session, else zero.
func recordOfSession(m *projects.Mission, snapshot, session string) gitstore.ID {
	s, err := addresses.SnapshotByID(m.Project, snapshot)
	if err != nil {
		return gitstore.ID{}
	}
	if meta, err := records.ReadSessionMeta(m.Project.Store, s.Record); err != nil || meta.Agent != m.Agent || meta.SessionID != session {
		return gitstore.ID{}
	}
	return s.Record
}

// refreshLastPrompt makes the mission show the last prompt and tool of its new
// conversation. It fails nothing.
func (rs *Restorer) refreshLastPrompt(m *projects.Mission, doc JournalDoc) {
	conversation := doc.Conversation
	m.LastPrompt, m.LastTool, m.Live.LastTool, m.Live.ProvisionalPrompt = nil, nil, nil, nil
	if conversation.Recipe == nil && conversation.Record.IsZero() && doc.Operation.Kind == string(missions.TriggerRestore) {
		return // it begins anew
	}
	if turns, ok := rs.conversations.ReadTurns(m); ok {
		conversations.TakeLastPrompt(m, turns)
		return
	}
	target, err := addresses.SnapshotByID(m.Project, doc.Operation.Target)
	if err != nil {
		return
	}
	if then, err := conversations.ReadStoredBeforePrompt(m.Project, target); err == nil {
		m.LastPrompt, m.LastTool = then.LastPrompt, then.LastTool
	}
}

// HandoverAdvice says how the agent goes on. A restore does not touch a live agent
// here, so the user is told what to type. If the agent's process is not known, it may
// have ended.
func (rs *Restorer) HandoverAdvice(m *projects.Mission, j *Job) *missions.Handover {
	if j.Conversation == nil || m.Live.IsInSession(m.Stored.Session) { // which an undo has returned to
		return &missions.Handover{How: "none"}
	}
	resume := "umbra mission resume " + m.Name
	_, alive := m.Live.LivingProcess()
	switch {
	case m.Live.IsOrphaned():
		return &missions.Handover{How: "resume", Type: "umbra mission stop " + m.Name + " && " + resume}
	case alive:
		switcher, ok := rs.Adapter(m.Agent).(sessions.Switcher)
		switch {
		case !ok:
			return &missions.Handover{How: "resume", Type: "end " + m.AgentName() + ", then " + resume}
		case j.Conversation.IsEmpty:
			return &missions.Handover{How: "type", Type: switcher.Switch("")}
		}
		return &missions.Handover{How: "type", Type: switcher.Switch(m.Stored.Session)}
	case missions.HasAgent(m.Lifecycle) && presence.HasUnknownProcess(m):
		return &missions.Handover{How: "resume", Type: "end " + m.AgentName() + " if it still runs, then " + resume}
	}
	return &missions.Handover{How: "resume", Type: resume}
}

// restoreNote is what the agent is told with its next prompt. The agent of a fork that
// remembers the same files is told it too.
func restoreNote(j *Job) string {
	if j.returns {
		return ""
	}
	if j.promotion != nil {
		return j.promotion.note(j)
	}
	if j.merge != nil {
		return mergeNote(j)
	}
	if j.Files == nil || j.Files.isEmpty() {
		return ""
	}
	return fmt.Sprintf("Umbra has put files that you may remember back to an earlier state (%s). "+
		"Read a file again before you rely on what you remember of it.", j.countsText())
}

// countsText counts the files that a job changes, "" if it changes none.
func (j *Job) countsText() string {
	if j.Files == nil || j.Files.isEmpty() {
		return ""
	}
	return fmt.Sprintf("%d changed, %d created, %d deleted", len(j.Result.Modify), len(j.Result.Create), len(j.Result.Delete))
}
