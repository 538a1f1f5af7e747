package restores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// promotion is what makes a restore a promotion: its target is a fork's, and what the
// mission changed since both were the same is merged into it.
type promotion struct {
	restorer *Restorer
	fork     *projects.Mission
	into     *projects.Mission // its parent
	base     *mergeBase
	tree     gitstore.ID // the fork's
	modes    []byte      // in a preview, what tree can't hold; nil if it is the target's
}

// beginPromotion makes a job a promotion of a fork.
func beginPromotion(ctx context.Context, rs *Restorer, m *projects.Mission, j *Job, p missions.Promotion) error {
	fork, err := rs.LoadMissionOrRemoved(m.Project, p.Fork)
	if err != nil {
		return err
	}
	base, err := findMergeBase(ctx, m, fork, fork.Parent.Snapshot)
	if err != nil {
		return err
	}
	tree := j.target.Tree
	if p.Tree != "" {
		if tree, err = gitstore.ParseID(p.Tree); err != nil {
			return err
		}
	}
	j.Kind, j.promotion = string(missions.TriggerPromote), &promotion{restorer: rs, fork: fork, into: m, base: base, tree: tree, modes: p.Modes}
	j.Result.TargetAddress, j.Result.Merged = AddressOfSnapshot(fork, j.target.ID), []string{}
	return nil
}

// IsPromoted reports whether a promotion of all that a fork's newest snapshot has stands in its
// parent: nothing was left out of it, taken back or put back since.
func IsPromoted(parent, fork *projects.Mission) (bool, error) {
	if fork.Parent == nil {
		return false, nil
	}
	point, err := gitstore.ParseID(fork.Parent.Snapshot)
	if err != nil {
		return false, err
	}
	for op, err := range broughtSince(parent, point) {
		if err != nil {
			return false, err
		}
		if op.Kind != string(missions.TriggerPromote) || len(op.Kept)+len(op.Paths)+len(op.back) > 0 {
			continue
		}
		brought, err := parent.Project.Store.Snapshot(op.ids[0])
		if projects.IsObjectLost(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		if brought.Mission == fork.ID && brought.Tree == fork.Tip.Tree {
			return true, nil
		}
	}
	return false, nil
}

// planFiles plans the files.
func (p *promotion) planFiles(ctx context.Context, j *Job, present restore.Side, r missions.RestoreRequest) error {
	m := p.into
	to, err := snapshots.RecordedSide(m.Project, j.target)
	if err != nil {
		return err
	}
	if p.modes != nil {
		if to.Modes, err = documents.ParseModes(p.modes); err != nil {
			return err
		}
	}
	then, err := p.base.writeTree(ctx)
	if err != nil {
		return err
	}
	merged, err := merge.Trees(ctx, m.Project.Store, merge.Sides{Base: then, Ours: present.Tree, Theirs: p.tree}, r.KeepOthers)
	if err != nil {
		return MergeError(err, fmt.Sprintf("merge what changed in %s with what %s did", p.into.Name, p.fork.Name), p.restorer.snapshots.FreeSpaceHint())
	}
	if to.Tree = merged.Tree; merged.Tree != j.target.Tree {
		if to.Rules, err = snapshots.RecordedRulesIn(m.Project, j.target, merged.Tree); err != nil {
			return err
		}
	}
	if to.Modes, err = merge.Modes(m.Project.Store, merged.Tree, merge.SideModes{Tree: then, Modes: p.base.modes},
		merge.SideModes{Tree: present.Tree, Modes: present.Modes}, merge.SideModes{Tree: p.tree, Modes: to.Modes}); err != nil {
		return err
	}
	if j.Files, err = p.restorer.planPaths(m, j.target, sides{present, to}, nil, nil); err != nil {
		return err
	}
	j.Result.Merged = append(j.Result.Merged, merged.Taken...)
	for _, path := range merged.Conflicts {
		both := missions.PathReason{Path: path, Reason: fmt.Sprintf("changed in %s and in %s", m.Name, p.fork.Name)}
		j.Result.Foreign = append(j.Result.Foreign, both)
		if r.KeepOthers {
			j.Result.Kept = append(j.Result.Kept, both)
		}
	}
	return nil
}

// MergeError says why git could not merge, and what helps; room is how the disk gets some.
func MergeError(err error, what, room string) error {
	failed, ran := errors.AsType[*git.Error](err)
	hint := ""
	switch {
	case errors.Is(err, git.ErrNotInstalled), ran && failed.ExitCode == usageCode:
		hint = "install git 2.38 or newer"
	case home.IsDiskFull(err), ran && strings.Contains(failed.Stderr, "No space left on device"):
		hint = room + ", or of " + os.TempDir() + ", and try again"
	case ran:
		hint = "umbra doctor says what is damaged"
	default:
		return err
	}
	return missions.Errorf(missions.KindFailed, hint, "%s: %w; nothing was changed", what, err)
}

// usageCode is the exit code of a git that does not know a flag, since it is too old.
const usageCode = 129

// conflictError refuses to choose between the mission's changes and its fork's.
func (p *promotion) conflictError(paths int) *missions.Error {
	changed := "1 path was changed"
	if paths > 1 {
		changed = missions.Itoa(paths) + " paths were changed"
	}
	return missions.Errorf(missions.KindConflict,
		fmt.Sprintf("--keep-others keeps what %[1]s has there, --all takes what %[2]s has; "+
			"to look at both: umbra diff %[2]s@fork %[1]s and umbra diff %[2]s@fork %[2]s", p.into.Name, p.fork.Name),
		"%s in %s and in its fork %s", changed, p.into.Name, p.fork.Name)
}

// planConversation completes the plan of a conversation that comes from a fork.
// It reports false where the mission's own stays: the fork has none, or another agent's,
// or the same.
func (p *promotion) planConversation(j *Job, plan *conversations.ConversationPlan, now sessions.Conversation) (bool, error) {
	rs, m, fork := p.restorer, p.into, p.fork
	stays := missions.ConversationRestore{EventsKept: now.Events}
	becomes := missions.ConversationRestore{EventsKept: plan.Cut.Events, FromFork: true}
	j.Result.Conversation = stays
	switch {
	case plan.IsEmpty:
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf("nothing was said in %s: the conversation of %s stays", fork.Name, m.Name))
		return false, nil
	case rs.Adapter(plan.SourceMeta.Agent) != rs.Adapter(m.Agent):
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf(
			"the conversation of %s is one of %s, which %s can't go on with: the conversation of %s stays", fork.Name, plan.SourceMeta.Agent, m.AgentName(), m.Name))
		return false, nil
	}
	if same, err := p.saysTheSame(plan, now); same || err != nil {
		return false, err
	}
	if common, err := rs.conversations.PlanCut(m, p.base.snapshot); err == nil {
		becomes.EventsDropped = max(0, now.Events-common.Cut.Events)
	}
	var err error
	if becomes.EventsDropped > 0 {
		becomes.TurnsDropped, err = turnsSince(m, p.base.snapshot)
	}
	j.Result.Conversation = becomes
	return err == nil, err
}

// saysTheSame reports whether the mission's conversation is a copy of the planned one to
// which nothing was added, or the reverse.
func (p *promotion) saysTheSame(plan *conversations.ConversationPlan, now sessions.Conversation) (bool, error) {
	m := p.into
	mine, err := records.ReadSessionMeta(m.Project.Store, m.Tip.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if in := mine.Inherited; in != nil && mine.SessionID == m.Stored.Session && in.Record == plan.Record {
		return in.SourceLength == plan.Cut.Length && in.Length == now.Length, nil
	}
	in := plan.SourceMeta.Inherited
	if in == nil || in.Length != plan.Cut.Length || in.SourceLength != now.Length {
		return false, nil
	}
	source, err := records.ReadSessionMeta(m.Project.Store, in.Record)
	return err == nil && source.SessionID == m.Stored.Session, err
}

// note is what the agent is told with its next prompt.
func (p *promotion) note(j *Job) string {
	m, fork := p.into, p.fork
	var text []string
	if j.Conversation != nil {
		text = append(text, fmt.Sprintf(
			"Umbra: what mission %s did is mission %s's now, and you are its agent: you work in %s, and may change files there.", fork.Name, m.Name, m.Cwd()))
	}
	if files := j.countsText(); files != "" {
		text = append(text, fmt.Sprintf("Umbra has put the files of mission %s here (%s).", fork.Name, files))
	}
	if j.Conversation == nil && len(text) > 0 || len(j.Result.Merged)+len(j.Result.Kept) > 0 {
		text = append(text, "Files may be other than you remember them: read a file again before you rely on what you remember of it.")
	}
	return strings.Join(text, " ")
}
