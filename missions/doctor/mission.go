package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/worktrees"
)

// CheckMission checks that a mission's snapshots can be restored, that their conversations
// can be read, and that nothing of Umbra's is left in its workspace.
func (x *Examination) CheckMission(ctx context.Context, m *projects.Mission) error {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil {
			return nil // reported by the store's own check
		}
		if s.Mission != m.ID {
			break // the parent's, checked there
		}
		x.Result.Snapshots++
		if err := x.checkRestorable(m, s); err != nil && !x.isReportedLost(err) {
			x.report(missions.Problem{Invariant: "I7", Project: m.Project.Name, Mission: m.Name, Message: fmt.Sprintf("snapshot %s could not be restored: %v", s.ID.Short(), err)}, nil)
		}
		if err := x.checkConversation(m, s); err != nil && !x.isReportedLost(err) {
			x.report(missions.Problem{Invariant: "I3", Project: m.Project.Name, Mission: m.Name, Message: fmt.Sprintf("snapshot %s: %v", s.ID.Short(), err)}, nil)
		}
	}
	if err := x.CheckWorkspace(ctx, m); err != nil {
		return err
	}
	if x.Examiner.rooms.Presence.IsAgentGone(m) && x.Examiner.rooms.Presence.IsAgentStillGone(m) {
		x.report(missions.Problem{Invariant: "I6", Project: m.Project.Name, Mission: m.Name, Message: "its agent is gone without a word"}, func() error { return x.Examiner.rooms.Presence.CloseLostMission(ctx, m) })
	}
	return ctx.Err()
}

// checkRestorable proves that a snapshot's record holds all that a restore needs: rules,
// skipped paths and modes (I7).
func (x *Examination) checkRestorable(m *projects.Mission, s *gitstore.Snapshot) error {
	side, err := snapshots.RecordedSide(m.Project, s)
	if err != nil {
		return err
	}
	if side.Modes == nil || side.Rules == nil || side.Skipped == nil {
		return errors.New("its record is not whole")
	}
	return nil
}

// checkConversation proves that a snapshot's conversation can be read: every chunk is
// there, and the inherited part comes out as it was. Parts that snapshots share are read
// once.
func (x *Examination) checkConversation(m *projects.Mission, s *gitstore.Snapshot) error {
	own, err := records.OpenSession(m.Project.Store, s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil
	}
	if err == nil {
		err = own.Check(x.Chunks)
	}
	if err != nil || own.Meta.Inherited == nil {
		return err
	}
	in := *own.Meta.Inherited
	part := Inheritance{in.SHA256, in.Record, in.SourceLength, string(in.Recipe)}
	if x.Inherited[part] {
		return nil
	}
	r, err := x.Examiner.rooms.Conversations.RemakeInherited(m.Project, in)
	if err != nil {
		return fmt.Errorf("its inherited part: %w", err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fmt.Errorf("its inherited part: %w", err)
	}
	x.Inherited[part] = true
	return nil
}

// Inheritance is an inherited part of a conversation, and how it is made.
type Inheritance struct {
	sha256 string
	record gitstore.ID
	length int64
	recipe string
}

// CheckWorkspace checks that the workspace is there, and looks for stray files in it.
func (x *Examination) CheckWorkspace(ctx context.Context, m *projects.Mission) error {
	if m.Binding.Workspace == "" {
		return nil
	}
	if problem := m.WorkspaceProblem(x.request.Caller.Cwd); problem != nil && !worktrees.IsGone(x.Examiner.Home, m) {
		x.report(*problem, nil)
	}
	if m.IsWorkspaceGone() {
		return nil
	}
	if err := x.Examiner.LentError(m); err != nil && x.Examiner.SideForkOf(m) == nil {
		e := missions.AsError(err)
		x.report(missions.Problem{Project: m.Project.Name, Mission: m.Name, Message: e.Message, Fix: e.Hint}, nil)
	}
	problem, err := x.Examiner.rooms.Snapshots.GitProblem(ctx, m)
	if err != nil {
		return err
	}
	if problem != nil && !snapshots.HasFix(x.Result.Problems, problem.Fix) {
		x.report(*problem, nil)
	}
	for _, problem := range []*missions.Problem{snapshots.IgnoredWorkspaceProblem(m), snapshots.UnreadIgnoreProblem(m)} {
		if problem != nil {
			x.report(*problem, nil)
		}
	}
	if missions.HasAgent(m.Lifecycle) {
		for _, problem := range presence.UnkeptProblems(m) {
			x.report(problem, nil)
		}
	}
	if problem := x.Examiner.rooms.Snapshots.BudgetProblem(m); problem != nil {
		x.report(*problem, nil)
	}
	x.checkStrays(m)
	if out := snapshots.RuledOutFiles(m); out != nil {
		x.Result.RuledOut = append(x.Result.RuledOut, *out)
	}
	if withheld := snapshots.WithheldPaths(m); withheld != nil {
		x.Result.Withheld = append(x.Result.Withheld, *withheld)
	}
	return nil
}

// checkStrays looks for staged files in a workspace whose restore is over (I5).
func (x *Examination) checkStrays(m *projects.Mission) {
	dirs := []string{""}
	err := m.Project.Store.WalkTree(m.Tip.Tree, func(path string, e gitstore.TreeEntry) error {
		if e.Mode.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		return // reported by the store's own check
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(m.Binding.Workspace, dir))
		if err != nil {
			continue // not there now, or not readable: no name of ours was left in it that we could see
		}
		for _, e := range entries {
			if operation, _, ok := beneath.ParseScratch(e.Name()); ok && !x.isOperationInFlight(operation) {
				stray := filepath.Join(m.Binding.Workspace, dir, e.Name())
				x.reportStray(m, stray, operation)
			}
		}
	}
}

// reportStray reports a file, and removes it if what it holds is stored.
func (x *Examination) reportStray(m *projects.Mission, file, operation string) {
	p := missions.Problem{
		Invariant: "I5", Project: m.Project.Name, Mission: m.Name,
		Message: fmt.Sprintf("%s was left by operation %s, which is over", file, operation),
		Fix:     "look at the file; what it holds may be in no snapshot",
	}
	if stored, err := x.isStored(m, file); err != nil || !stored {
		x.report(p, nil)
		return
	}
	x.report(p, func() error { return os.Remove(file) })
}

// isStored reports whether a regular file's content is in the project's store.
func (x *Examination) isStored(m *projects.Mission, file string) (bool, error) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	id, err := gitstore.HashBlob(f, info.Size())
	if err != nil {
		return false, err
	}
	return m.Project.Store.Has(id)
}

// isOperationInFlight reports whether the journal still has an operation, whose recovery
// removes its files. Only "not there" proves that it is over.
func (x *Examination) isOperationInFlight(operation string) bool {
	_, err := x.Examiner.Journal.Load(operation)
	return !errors.Is(err, fs.ErrNotExist)
}
