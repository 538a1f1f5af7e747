package restores

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// planConversation plans the conversation's side of a restore: a new session, cut at
// the target. None where there is no conversation, or where the present one
// says no more than the target's.
func (rs *Restorer) planConversation(m *projects.Mission, j *Job) error {
	a := rs.Adapter(m.Agent)
	if a == nil || m.Stored.Session == "" {
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
	if plan.SourceMeta.SessionID == m.Stored.Session && plan.Cut.Length == now.Length || plan.IsEmpty && now.Events == 0 {
		return nil
	}
	for _, tool := range plan.Cut.Open {
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf("the files are of a moment when %s had begun; the conversation is cut before it", tool.Name))
	}
	j.Conversation = plan
	return nil
}

// placeAnnouncedCopy places the copy that a restore has announced. It may be there
// already, from a process that was killed.
func (rs *Restorer) placeAnnouncedCopy(m *projects.Mission, talk *conversationDoc, r conversations.CopyRecipe) (conversations.PlacedSession, error) {
	source, err := m.Project.Store.SessionMeta(talk.Record)
	if err != nil {
		return conversations.PlacedSession{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: %w", talk.Record.Short(), err)
	}
	plan := &conversations.ConversationPlan{Record: talk.Record, SourceMeta: source, Cut: sessions.Cut{Length: talk.Length}}
	done, err := rs.conversations.PlaceConversation(m.Project, plan, m.AdapterEnv(), r.AsRewrite())
	if errors.Is(err, fs.ErrExist) {
		return conversations.PlacedSession{ID: talk.Session, Path: talk.Path}, nil
	}
	return done, err
}

// restoreNote is what the agent is told with its next prompt, and that of a fork which
// remembers the same files.
func restoreNote(j *Job) string {
	if j.Files == nil || j.Files.isEmpty() {
		return ""
	}
	return fmt.Sprintf("Umbra has put files that you may remember back to an earlier state (%d changed, %d created, %d deleted). Read a file again before you rely on what you remember of it.",
		len(j.Result.Modify), len(j.Result.Create), len(j.Result.Delete))
}
