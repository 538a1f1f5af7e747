package restores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// InTurnError refuses what would change files under an agent in its turn.
func InTurnError(m *projects.Mission) error {
	const now = "or --force to have it done now"
	if !missions.IsInKnownTurn(m.Lifecycle) {
		return missions.Errorf(missions.KindBusy, "add --when-idle to have it done when it is quiet, "+now, "%s is at work", m.Name)
	}
	return missions.Errorf(missions.KindBusy, "add --when-idle to have it done at the turn's end, "+now, "%s is in turn %d", m.Name, m.Lifecycle.LastTurn())
}

// CheckNeighbours refuses while the agent of another mission is at work in the
// same files: of any project, since a nested repository is one of its own.
func (rs *Restorer) CheckNeighbours(m *projects.Mission) error {
	others, err := rs.OverlappingMissions(m)
	if err != nil {
		return err
	}
	for _, o := range others {
		if (missions.InTurn(o.Lifecycle) || rs.presence.ActivityAfterTurn(o) == presence.AtWork) && !rs.presence.IsAgentGone(o) {
			hint := "wait for it: umbra mission wait " + o.Name
			if presence.HasUnknownProcess(o) {
				hint += "; if its agent is gone: umbra mission stop " + o.Name + " --force"
			}
			return missions.Errorf(missions.KindBusy, hint, "mission %s is in a turn in %s", o.Name, o.Binding.Workspace)
		}
	}
	return nil
}

// OverlappingMissions lists the other missions whose workspace holds m's, or is in it.
// One that can't be read may be such: nothing is known then.
func (rs *Restorer) OverlappingMissions(m *projects.Mission) ([]*projects.Mission, error) {
	list, problems := rs.findOverlappingMissions(m)
	if len(problems) > 0 {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor --fix; --force goes on without",
			"who else works in %s can't be told: %s", m.Binding.Workspace, problems[0].Message)
	}
	return list, nil
}

// findOverlappingMissions is overlapping as far as the missions can be read, and what can't be.
func (rs *Restorer) findOverlappingMissions(m *projects.Mission) (list []*projects.Mission, problems []missions.Problem) {
	projects, problems := rs.AllProjects()
	for _, p := range projects {
		all, more := rs.ProjectMissions(p)
		if p.ID == m.Project.ID || hasWorkspaceNear(p, m.Binding.Workspace) {
			problems = append(problems, more...)
		}
		for _, o := range all {
			if o.ID != m.ID && agents.PathsOverlap(o.Binding.Workspace, m.Binding.Workspace) {
				list = append(list, o)
			}
		}
	}
	return list, problems
}

// hasWorkspaceNear reports whether a workspace of the project is known to overlap path.
func hasWorkspaceNear(p *projects.Project, path string) bool {
	for _, h := range p.Locations.Workspaces {
		if agents.PathsOverlap(h.Path, path) {
			return true
		}
	}
	return false
}

// Job is a restore that was planned.
type Job struct {
	Kind           string // restore, undo, redo
	target         *gitstore.Snapshot
	safetySnapshot *gitstore.Snapshot              // nil in a preview
	Files          *FilesPlan                      // nil: files stay
	Conversation   *conversations.ConversationPlan // nil: the conversation stays
	takesBackID    string
	Refusals       []error
	Result         missions.RestoreResult
}

// Refusal is the first reason not to go on that was not overridden.
func (j *Job) Refusal(r missions.RestoreRequest) error {
	if !r.Force && len(j.Refusals) > 0 {
		return joinRefusals(j.Refusals)
	}
	e := j.ContestedError(r)
	if e == nil {
		return nil
	}
	e.Message += ":"
	for _, f := range j.Result.Foreign {
		e.Message += "\n  " + f.Path + " (" + f.Reason + ")"
	}
	e.Details, _ = json.Marshal(j.Result)
	return e
}

// ContestedError is the refusal where others changed what is to be restored and
// nobody has said whose changes count; nil where that is clear.
func (j *Job) ContestedError(r missions.RestoreRequest) *missions.Error {
	if len(j.Result.Foreign) == 0 || r.Mine || r.All {
		return nil
	}
	changed := "1 path was changed"
	if n := len(j.Result.Foreign); n > 1 {
		changed = missions.Itoa(n) + " paths were changed"
	}
	return missions.Errorf(missions.KindConflict, "--mine leaves them as they are, --all takes them back too", "%s by others since then", changed)
}

// joinRefusals tells every reason that --force would pass over.
func joinRefusals(list []error) error {
	first := missions.AsError(list[0])
	var reasons []string
	for _, err := range list {
		reasons = append(reasons, missions.AsError(err).Message)
	}
	return missions.Errorf(first.Kind, first.Hint, "%s", strings.Join(reasons, "; "))
}

// PlanRestore takes the safety snapshot (a preview only looks) and works out
// what is to be done.
func (rs *Restorer) PlanRestore(ctx context.Context, m *projects.Mission, target *gitstore.Snapshot, r missions.RestoreRequest) (*Job, error) {
	j := &Job{Kind: "restore", target: target}
	j.Result = missions.RestoreResult{Target: target.ID.String(), TargetAddress: AddressOfSnapshot(m, target.ID), Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace}
	if !r.ConversationOnly {
		if err := rs.planFiles(ctx, m, j, r); err != nil {
			return nil, err
		}
	}
	if !r.FilesOnly && len(r.Paths) == 0 {
		if err := rs.planConversation(m, j); err != nil {
			return nil, err
		}
	}
	if err := rs.PlanGit(ctx, m, j, target); err != nil {
		return nil, err
	}
	j.Result = j.Result.WithEmptyLists()
	return j, nil
}

// planFiles plans the files' side.
func (rs *Restorer) planFiles(ctx context.Context, m *projects.Mission, j *Job, r missions.RestoreRequest) error {
	present, err := rs.captureSafety(ctx, m, j, r.Preview)
	if err != nil {
		return err
	}
	var paths []string
	for _, typed := range r.Paths {
		rel, err := m.WorkspacePath(r.Caller, typed)
		if err != nil {
			return err
		}
		paths = append(paths, rel)
	}
	owners, err := rs.findOwners(ctx, m, j.target, present.Tree, paths)
	if err != nil {
		return err
	}
	leave := map[string]string{}
	j.Result.Foreign = owners.foreignPaths()
	for _, f := range j.Result.Foreign {
		if r.Mine {
			leave[f.Path] = f.Reason
		}
	}
	if j.Files, err = rs.planPaths(m, present, j.target, paths, leave); err != nil {
		return err
	}
	j.Files.describeTo(&j.Result)
	return nil
}

// captureSafety captures what is on disk, so that nothing is lost: as a snapshot, or
// for a preview as a tree that nothing names.
func (rs *Restorer) captureSafety(ctx context.Context, m *projects.Mission, j *Job, preview bool) (restore.Side, error) {
	if preview {
		return rs.snapshots.PresentSide(ctx, m)
	}
	t, err := rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
		TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerManual, Lifecycle: m.Lifecycle, Message: "before " + j.Kind, OnlyIfChanged: true},
		Triggers:     missions.Triggers{missions.TriggerManual},
	})
	if err != nil {
		return restore.Side{}, err
	}
	rs.SaveLiveState(m)
	j.safetySnapshot, j.Result.SafetySnapshot = t.Snapshot, t.Snapshot.ID.String()
	return rs.snapshots.RecordedSide(m.Project, t.Snapshot)
}

// targetText names the target for the snapshot's subject.
func (j *Job) targetText(m *projects.Mission) string {
	if address := AddressOfSnapshot(m, j.target.ID); address != "" {
		return "to " + address
	}
	return "to " + j.target.ID.Short()
}

// AddressOfSnapshot is a snapshot's address in the mission's history, "" if it is in
// none of its.
func AddressOfSnapshot(m *projects.Mission, id gitstore.ID) string {
	if s, ok, err := m.Project.FindInHistory(m.Tip.ID, id); ok && err == nil {
		return s.Address(m.Name)
	}
	return ""
}

// HandoverAdvice says how the agent goes on: a live one is not touched here, so its
// user is told what to type. One of an unknown process may have ended.
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

// PlanGit compares the user's repository then, at a snapshot, and now. A restore
// never moves HEAD or a branch, so where they moved the user decides. For an undo
// then is when what it takes back was done: the safety snapshot of that may be
// older, since it is one that was there if no file had changed.
func (rs *Restorer) PlanGit(ctx context.Context, m *projects.Mission, j *Job, at *gitstore.Snapshot) error {
	then, _, err := snapshots.ReadGitRecord(m.Project, at)
	if err != nil {
		return err
	}
	j.Result.Git.Then = missions.GitState{Head: then.Head, Branch: snapshots.BranchName(then.Branch), Operation: then.Operation}
	ws, err := rs.snapshots.RefreshWorkspace(ctx, m)
	if err != nil {
		return err
	}
	if ws.Repo == nil {
		return nil
	}
	head, err := ws.Repo.Head()
	if err != nil {
		j.Result.Notes = append(j.Result.Notes, "the repository's HEAD can't be read: "+err.Error())
		return nil
	}
	now := missions.GitState{Head: head.ID.String(), Branch: snapshots.BranchName(head.Branch())}
	if ops, err := ws.Repo.Operations(); err == nil && len(ops) > 0 {
		now.Operation = string(ops[0])
	}
	j.Result.Git.Now = now
	if j.Files == nil || j.Result.Git.Then.Head == "" && now.Head == "" {
		return nil
	}
	rs.addGitRefusals(ctx, ws, then.HeadUnreadReason(), j)
	return nil
}

// addGitRefusals gathers what speaks against restoring files over the repository's
// present state. Unread is why HEAD was not read then, "" if it was.
func (rs *Restorer) addGitRefusals(ctx context.Context, ws *snapshots.WorkspaceCache, unread string, j *Job) {
	then, now := j.Result.Git.Then, j.Result.Git.Now
	refuse := func(hint, format string, args ...any) {
		j.Refusals = append(j.Refusals, missions.Errorf(missions.KindConflict, hint+"; or --force", format, args...))
	}
	if now.Operation != "" && now.Operation != then.Operation {
		refuse("finish or abort it first", "a %s is in progress in %s", now.Operation, ws.Root)
	}
	if unread != "" {
		j.Result.Notes = append(j.Result.Notes, "HEAD of that moment could not be read ("+unread+"): whether the repository stood elsewhere then can't be told")
		return
	}
	if now.Branch != then.Branch {
		refuse(snapshots.BranchReturnHint(ctx, ws.Repo, then), "the repository is on %s now and was on %s then", branchName(now), branchName(then))
		return
	}
	if now.Head == then.Head || then.Head == "" {
		return
	}
	ok, err := snapshots.IsAncestor(ctx, ws.Repo, then.Head, now.Head)
	switch {
	case errors.Is(err, snapshots.ErrCommitGone):
		refuse("look with git log", "HEAD is %s now; %.10s, where it was then, is no longer in the repository", headName(now), then.Head)
	case err != nil:
		refuse("look with git log", "whether HEAD moved on from %.10s can't be told: %v", then.Head, err)
	case !ok:
		refuse("git log "+then.Head, "HEAD is %s now, which does not descend from %.10s of then", headName(now), then.Head)
	default:
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf("HEAD has moved on since: files go back, commits stay; git reset --soft %.10s would take the commits back too", then.Head))
	}
}

// headName is the commit of HEAD; a branch that is new has none.
func headName(g missions.GitState) string {
	if g.Head == "" {
		return "at no commit"
	}
	return fmt.Sprintf("%.10s", g.Head)
}

func branchName(g missions.GitState) string {
	if g.Branch == "" {
		return "no branch"
	}
	return "branch " + g.Branch
}

// sortKept orders kept paths.
func sortKept(list []missions.PathReason) []missions.PathReason {
	slices.SortFunc(list, func(a, b missions.PathReason) int { return strings.Compare(a.Path, b.Path) })
	return list
}
