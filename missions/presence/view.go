package presence

import (
	"fmt"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// fetchedNotes say what a mission is that was fetched.
func fetchedNotes(m *projects.Mission) []string {
	notes := []string{m.CheckOwn().Error()}
	if m.ConversationLeftOut {
		notes = append(notes, "its conversation was left out by who sent it: it has the files alone")
	}
	return notes
}

// MissionView is the mission as the user sees it.
func (o *Observer) MissionView(m *projects.Mission) missions.Mission {
	v := missions.Mission{
		ID: m.ID, Name: m.Name, Agent: m.AgentName(), State: missions.StateOf(m.Lifecycle), StateSince: m.StateSince,
		Managed: missions.ManagedNone, Command: m.Command, Workspace: m.Binding.Workspace, Cwd: m.Cwd(),
		Project: m.Project.Name, ProjectID: m.Project.ID,
		Ref: string(gitstore.AgentRef(m.ID)), Head: m.Tip.ID.String(), HeadAddress: headAddress(m),
		SessionID: m.Stored.Session, SessionPath: m.Binding.SessionPath, Parent: m.Parent,
		Config: m.Config, ConfigFixed: m.ConfigFixed, Tally: conversations.MissionTally(&m.Stored),
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Turn: m.Lifecycle.LastTurn(),
		LastPrompt: m.LastPrompt, LastTool: m.LastTool, LastError: m.LastError,
		Diverged: m.Diverged, Git: missions.GitState{Head: m.Tip.GitHead, Branch: m.Tip.GitBranch},
		PendingPermissions: []missions.Permission{}, ShadowRepo: m.Project.ShadowRepo(), EnvNames: m.EnvNames,
		MadeByUmbra: m.Binding.MadeByUmbra, Branch: m.Binding.Branch, Contest: m.Contest, Remote: m.Remote,
	}
	if m.Remote != "" {
		v.Ref = string(gitstore.FetchedAgentRef(m.Remote, m.ID))
		v.Notes = append(v.Notes, fetchedNotes(m)...)
		fillViewState(&v, m)
		return v
	}
	if m.Live.ConfigCommit != "" {
		v.Config = m.Live.ConfigCommit
	}
	if m.Live.LastTool != nil {
		v.LastTool = m.Live.LastTool
	}
	v.PendingAction, v.PendingUpdates = PendingAction(m), len(o.updates.Waiting(m))
	if m.Live.NotRestoredReason != "" {
		v.Problems = append(v.Problems, m.Live.NotRestoredReason)
	}
	if m.Live.Problem != "" {
		v.Problems = append(v.Problems, m.Live.Problem)
	}
	if m.Live.RefusedCall != nil {
		v.Problems = append(v.Problems, m.Live.RefusedCall.String())
	}
	for _, problem := range UnkeptProblems(m) {
		v.Problems = append(v.Problems, problem.Message+"; "+problem.Fix)
	}
	if problem := o.missingHooksProblem(m); problem != "" {
		v.Problems = append(v.Problems, problem)
	}
	if _, err := o.CurrentConfig().Capture.NarrowedBy(m.Binding.Workspace); m.Binding.Workspace != "" && err != nil {
		v.Problems = append(v.Problems, err.Error()+"; it is not followed")
	}
	v.ClientVersion = m.Live.ClientVersion
	if note := UntriedClient(o.Adapter(m.Agent), m.Live.ClientVersion); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if err := m.CheckMachine(); err != nil && !m.InTrash {
		v.Notes = append(v.Notes, err.Error())
	}
	if v.PromptKept = m.FirstPrompt != ""; v.PromptKept {
		v.Notes = append(v.Notes, "a prompt that no agent has taken is kept; to send it: umbra mission resume "+m.Name)
	}
	if note := o.keptElsewhere(m); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if m.Diverged {
		v.Notes = append(v.Notes, "a second agent speaks in a conversation of it, whose turns are not counted")
	}
	if by, err := o.MissionByID(m.StartedBy); m.StartedBy != "" && err == nil {
		v.Notes = append(v.Notes, "it was begun by the agent of "+by.Name+", in the background or inside it")
	}
	fillViewState(&v, m)
	o.addSideForks(&v, m)
	return v
}

// addSideForks adds to the view which side fork a mission is parked for, or is itself.
func (o *Observer) addSideForks(v *missions.Mission, m *projects.Mission) {
	if fork := o.SideForkOf(m); fork != nil {
		v.SideFork = fork.Name
	}
	if parent := o.LenderOf(m); parent != nil && m.IsLodger() {
		v.Notes = append(v.Notes, "it works in the workspace of "+parent.Name+", which has its files back when it is left; what you change there yourself is its work too")
	}
	if err := o.LentError(m); err != nil && v.SideFork == "" {
		v.Problems = append(v.Problems, missions.AsError(err).Message+"; "+missions.AsError(err).Hint)
	}
	if m.IsBeside() {
		if parent, err := o.LoadMission(m.Project, m.Parent.Mission); err == nil {
			v.SideForkOf, v.Beside = parent.Name, true
		}
	}
	if parent := o.ParkedParent(m); parent != nil {
		v.SideForkOf = parent.Name
		if end := o.IdleEnd(m); !end.IsZero() {
			v.Notes = append(v.Notes, "nobody is at it: it is ended at "+end.Local().Format(time.TimeOnly)+", and reports to "+parent.Name+
				", unless its user types something there")
		}
	}
}

// fillViewState projects the lifecycle and the processes onto the view.
func fillViewState(v *missions.Mission, m *projects.Mission) {
	process, alive := m.Live.LivingProcess()
	switch l := m.Lifecycle.(type) {
	case missions.Running:
		v.PendingPermissions = append(v.PendingPermissions, l.Pending...)
		if l.Tool != nil {
			v.LastTool = l.Tool
		}
	case missions.Failed:
		v.LastError = l.Message
	case missions.Closed:
		v.CloseReason = l.Reason
		if l.Reason == missions.CloseReasonExit {
			code := l.ExitCode
			v.ExitCode = &code
		}
	}
	if alive {
		v.PID = process.PID
	}
	switch {
	case m.Live.HasKeeper():
		v.Managed = missions.ManagedKeeper
	case m.Live.HasHooks && missions.HasAgent(m.Lifecycle):
		v.Managed = missions.ManagedHooks
	}
	v.CanFork = true
	if m.Binding.Machine != "" {
		if _, err := os.Stat(m.Binding.Workspace); err != nil {
			v.ForkBlockedReason = "its workspace is missing: fork from a past moment, " + m.Name + "~0"
		}
	}
	if missions.InTurn(m.Lifecycle) {
		v.ForkBlockedReason = fmt.Sprintf("in turn %d: a fork waits for its end", m.Lifecycle.LastTurn())
	}
}

// headAddress is the address of the newest snapshot, "" where its record does not have its
// place in the turn: to find that place would take a walk.
func headAddress(m *projects.Mission) string {
	if m.TurnPosition == nil {
		return ""
	}
	return m.TurnPosition.NumberSnapshot(m.Tip).Address(m.Name)
}

// PendingAction is the restore that was asked for and not done yet, "" for none.
func PendingAction(m *projects.Mission) string {
	switch {
	case m.Live.QueuedRestore != nil:
		return m.Live.QueuedRestore.String()
	case m.Live.Handover.IsOpen():
		return m.Live.Handover.Action.String()
	}
	return ""
}

// ProjectView is the project as the user sees it.
func (o *Observer) ProjectView(p *projects.Project) missions.Project {
	v := missions.Project{ID: p.ID, Name: p.Name, Path: p.Locations.Path, CommonDir: p.Locations.CommonDir, ShadowRepo: p.ShadowRepo()}
	list, problems := o.ProjectMissions(p)
	v.Missions = len(list)
	for _, m := range list {
		if missions.HasAgent(m.Lifecycle) && !o.IsAgentGone(m) {
			v.Live++
		}
	}
	for _, problem := range problems {
		v.Problems = append(v.Problems, problem.Message)
	}
	if _, err := os.Stat(p.Locations.Path); p.Locations.Path != "" && err != nil {
		v.Problems = append(v.Problems, p.Locations.Path+" is not there; if it was moved: umbra project move "+p.Locations.Path+" NEW")
	}
	return v
}
