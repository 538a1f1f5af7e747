package restores

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Job is a planned restore.
type Job struct {
	Kind           string // restore, promote, merge, undo, redo
	target         *gitstore.Snapshot
	safetySnapshot *gitstore.Snapshot              // nil in a preview
	Files          *FilesPlan                      // nil: files stay
	Conversation   *conversations.ConversationPlan // nil: the conversation stays
	takesBack      projects.Operation              // of an undo or redo
	paths          []gitstore.Text                 // what was asked for; empty for all files
	part           string                          // what alone was asked for; empty for files and conversation
	promotion      *promotion                      // nil: a restore, merge, undo or redo
	merge          *missions.Merge                 // nil: no merge
	returns        bool                            // it gives the mission back what its agent knows
	Refusals       []error
	Result         missions.RestoreResult
}

// Refusal is the first reason not to go on that the user has not overridden.
func (j *Job) Refusal(r missions.RestoreRequest) error {
	if !r.Force && len(j.Refusals) > 0 {
		return joinRefusals(j.Refusals)
	}
	e := j.ContestedError(r)
	if e == nil {
		return nil
	}
	return j.Result.Explain(e)
}

// ContestedError refuses to restore paths that others changed, until the user says
// whose changes count. It is nil where no path is contested.
func (j *Job) ContestedError(r missions.RestoreRequest) *missions.Error {
	if len(j.Result.Foreign) == 0 || r.KeepOthers || r.All {
		return nil
	}
	if j.promotion != nil {
		return j.promotion.conflictError(len(j.Result.Foreign))
	}
	changed := "1 path was changed"
	if n := len(j.Result.Foreign); n > 1 {
		changed = missions.Itoa(n) + " paths were changed"
	}
	return missions.Errorf(missions.KindConflict, "--keep-others keeps them as they are, --all puts these back too", "%s by others since then", changed)
}

// joinRefusals says every reason that --force overrides.
func joinRefusals(list []error) error {
	first := missions.AsError(list[0])
	var reasons []string
	for _, err := range list {
		reasons = append(reasons, missions.AsError(err).Message)
	}
	return missions.Errorf(first.Kind, first.Hint, "%s", strings.Join(reasons, "; "))
}

// PlanRestore takes the safety snapshot and works out what is to be done. A preview
// takes no snapshot.
func (rs *Restorer) PlanRestore(ctx context.Context, m *projects.Mission, target *gitstore.Snapshot, r missions.RestoreRequest) (*Job, error) {
	j := &Job{Kind: "restore", target: target, part: r.Part()}
	j.Result = missions.RestoreResult{
		Target: target.ID.String(), TargetAddress: AddressOfSnapshot(m, target.ID),
		Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace,
	}
	if r.Promotion != nil {
		if err := beginPromotion(ctx, rs, m, j, *r.Promotion); err != nil {
			return nil, err
		}
	}
	if j.merge = r.Merge; j.merge != nil {
		j.Kind, j.Result.TargetAddress = string(missions.TriggerMerge), ""
	}
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
	paths, putBack, err := findPutBack(m, j, r)
	if err != nil {
		return err
	}
	present, err := rs.captureSafety(ctx, m, j, putBack, r.Preview)
	if err != nil {
		return err
	}
	switch {
	case j.promotion != nil:
		err = j.promotion.planFiles(ctx, j, present, r)
	case j.merge != nil:
		err = planMergedFiles(rs, m, j, present)
	case r.Displaced:
		err = planDisplaced(ctx, rs, m, j, present, r)
	default:
		err = rs.planRestoredFiles(ctx, m, j, present, paths, r)
		if err != nil {
			break
		}
		if logs := j.Files.UncapturedLogs(); len(logs) > 0 {
			if present, err = rs.captureSafety(ctx, m, j, slices.Concat(putBack, logs), r.Preview); err != nil {
				return err
			}
			err = rs.planRestoredFiles(ctx, m, j, present, paths, r)
		}
	}
	if err != nil {
		return err
	}
	j.Files.describeTo(&j.Result)
	if note := snapshots.HeldNote(m, present); note != "" {
		j.Result.Notes = append(j.Result.Notes, note)
	}
	if !r.Displaced && j.merge == nil {
		j.noteTornFiles(m)
	}
	return nil
}

// findPutBack resolves the paths that a restore is limited to, and lists the target's files
// that the newest snapshot lacks. What is there now may be ignored by now: it is captured
// before the restore takes its place.
func findPutBack(m *projects.Mission, j *Job, r missions.RestoreRequest) (paths, putBack []string, err error) {
	if j.promotion != nil || j.merge != nil || r.Displaced {
		return nil, nil, nil // these say themselves which paths they take
	}
	for _, typed := range r.Paths {
		rel, err := m.WorkspacePath(r.Caller, typed)
		if err != nil {
			return nil, nil, err
		}
		paths = append(paths, rel)
		j.paths = append(j.paths, gitstore.Text(rel))
	}
	if slices.Contains(paths, "") {
		j.paths = nil // the workspace itself was named
	}
	if putBack, err = snapshots.FilesBeside(m.Project.Store, m.Tip.Tree, j.target.Tree); err != nil {
		return nil, nil, planError(j.target, err)
	}
	return paths, slices.DeleteFunc(putBack, func(path string) bool { return !isWanted(paths, path) }), nil
}

// planRestoredFiles plans the files of a restore, whatever was changed since by whom.
func (rs *Restorer) planRestoredFiles(ctx context.Context, m *projects.Mission, j *Job, present restore.Side, paths []string, r missions.RestoreRequest) error {
	all := slices.Clone(paths)
	for _, path := range paths {
		files, err := restore.DatabaseFiles(m.Project.Store, []gitstore.ID{present.Tree, j.target.Tree}, path)
		if err != nil {
			return planError(j.target, err)
		}
		all = append(all, files...)
	}
	owners, err := rs.findOwners(ctx, m, j.target, present.Tree, all)
	if err != nil {
		return err
	}
	leave := map[string]string{}
	j.Result.Foreign = owners.foreignPaths()
	for _, f := range j.Result.Foreign {
		if r.KeepOthers {
			leave[f.Path] = f.Reason
		}
	}
	to, err := snapshots.RecordedSide(m.Project, j.target)
	if err != nil {
		return err
	}
	j.Files, err = rs.planPaths(m, j.target, sides{present, to}, paths, leave)
	if err == nil && len(j.paths) == 0 {
		j.Files.ignoredSince = findIgnoredSince(ctx, rs, m, j.target, sides{present, to})
	}
	return err
}

// noteTornFiles says which of the files that are put back were written to while the
// target's snapshot was taken, or that this is lost: the files are not.
func (j *Job) noteTornFiles(m *projects.Mission) {
	info, err := m.Project.ReadSnapshotInfo(j.target)
	if err != nil {
		j.Result.Notes = append(j.Result.Notes, "whether files changed while the snapshot was taken is lost: "+missions.AsError(err).Message)
		return
	}
	back := slices.Concat(j.Result.Modify, j.Result.Create, j.Files.Databases())
	torn := slices.DeleteFunc(info.ChangingPaths, func(path string) bool { return !slices.Contains(back, path) })
	if len(torn) > 0 {
		j.Result.Notes = append(j.Result.Notes,
			"changed while the snapshot was taken, so what is put back may be of different moments, and a database may be damaged: "+
				strings.Join(torn, ", ")+"; umbra undo "+m.Name+" takes it back")
	}
}

// captureSafety captures what is on disk, so that nothing is lost. It takes a snapshot;
// for a preview it only stores a tree. It holds the files at the paths putBack, whatever
// rule leaves them out.
func (rs *Restorer) captureSafety(ctx context.Context, m *projects.Mission, j *Job, putBack []string, preview bool) (restore.Side, error) {
	if preview {
		return rs.snapshots.PresentSideWith(ctx, m, putBack)
	}
	t, err := rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
		TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerManual, Lifecycle: m.Lifecycle, Message: "before the " + j.Kind, OnlyIfChanged: true, CompareModes: true},
		Triggers:     missions.Triggers{missions.TriggerManual}, PutBack: putBack,
	})
	if err != nil {
		return restore.Side{}, err
	}
	rs.SaveLiveState(m)
	j.safetySnapshot, j.Result.SafetySnapshot = t.Snapshot, t.Snapshot.ID.String()
	return t.Side(m.Project)
}

// targetText names the target in the subject of the snapshot.
func (j *Job) targetText(m *projects.Mission) string {
	if j.Result.OfDisplaced {
		return "of what was displaced"
	}
	if j.merge != nil {
		return strings.Join(j.merge.Names, ", ")
	}
	if j.promotion != nil {
		return cmp.Or(j.Result.TargetAddress, j.promotion.fork.Name)
	}
	if address := AddressOfSnapshot(m, j.target.ID); address != "" {
		return "to " + address
	}
	return "to " + j.target.ID.Short()
}

// AddressOfSnapshot is a snapshot's address in the mission's history, "" if it is not
// in that history.
func AddressOfSnapshot(m *projects.Mission, id gitstore.ID) string {
	if s, ok, err := m.Project.FindInHistory(m.Tip.ID, id); ok && err == nil {
		return s.Address(m.Name)
	}
	return ""
}
