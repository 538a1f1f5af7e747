package history

import (
	"context"
	"errors"
	"path"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Show gives everything about a moment: prompt, conversation, changes.
func (rd *Reader) Show(ctx context.Context, r missions.ShowRequest) (missions.ShowResult, error) {
	at, err := rd.addresses.FindMoment(ctx, r.Caller, r.Moment, addresses.InAnyProject)
	if err != nil {
		return missions.ShowResult{}, err
	}
	lines := comparisons.Differ(ctx, at.Project, diff.Lines, nil)
	defer lines.Close()
	e, err := rd.snapshots.LogEntry(ctx, at.Mission, at.Snapshot, lines)
	if err != nil {
		return missions.ShowResult{}, err
	}
	e.Pins = append(e.Pins, at.Project.PinsBySnapshot()[at.Snapshot.ID]...)
	e.Prompt = "" // the result has it
	e.TakenBack = restores.IsTakenBack(at.Mission, at.Snapshot.ID)
	shown := missions.ShowResult{Entry: e}
	for _, from := range []gitstore.ID{at.Snapshot.RestoredFrom, at.Snapshot.ForkedFrom, at.Snapshot.PromotedFrom} {
		if !from.IsZero() && shown.From == "" {
			shown.From = rd.addresses.AddressOf(at.Project, from)
		}
	}
	if err := rd.addRecord(&shown, at); err != nil {
		return missions.ShowResult{}, err
	}
	var from gitstore.ID
	if parent := at.Snapshot.Parent(); !parent.IsZero() {
		prev, err := at.Project.Store.Snapshot(parent)
		if err != nil {
			return missions.ShowResult{}, err
		}
		from = prev.Tree
	}
	paths, err := workspacePaths(at.Mission, r.Caller, r.Paths)
	if err != nil {
		return missions.ShowResult{}, err
	}
	d, err := comparisons.CompareTrees(ctx, at.Project, from, at.Snapshot.Tree, paths, comparisons.PatchDetail(!r.Brief))
	shown.Files, shown.Patch, shown.Unpaired, shown.Lost = d.Files, d.Patch, d.Unpaired, d.Lost
	return shown, strictly(d, err, r.Tolerant)
}

// addRecord fills in the result from the snapshot's record.
func (rd *Reader) addRecord(shown *missions.ShowResult, at addresses.ResolvedMoment) error {
	info, err := at.Project.ReadSnapshotInfo(at.Snapshot.Snapshot)
	if err != nil {
		return err
	}
	shown.Prompt, shown.Changing = info.Prompt, info.ChangingPaths
	if shown.Displaced, err = newlyDisplaced(at.Project, at.Snapshot.Snapshot); err != nil {
		return err
	}
	g, _, err := snapshots.ReadGitRecord(at.Project, at.Snapshot.Snapshot)
	if err != nil {
		return err
	}
	shown.Git = missions.GitState{Head: g.Head, Branch: snapshots.BranchName(g.Branch), Operation: g.Operation}
	doc, err := at.Project.ReadRecordDoc(at.Snapshot.Snapshot, projects.SkippedDoc)
	if err != nil {
		return err
	}
	skipped, err := documents.ParseSkipped(doc)
	if err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "snapshot %s: %w", at.Snapshot.ID.Short(), err)
	}
	for _, s := range skipped.All() {
		shown.Skipped = append(shown.Skipped, missions.PathReason{Path: s.Path, Reason: string(s.Reason)})
	}
	c, err := rd.conversations.ReadConversation(at.Mission, at.Snapshot.Snapshot)
	if err != nil {
		return err
	}
	shown.NotTakenUp = restores.PromptsOf(c.Queued)
	shown.Conversation, err = rd.linesOfLastTurn(at.Project, at.Snapshot.Snapshot, c.Turns)
	return err
}

// Cat gives a file as it was.
func (rd *Reader) Cat(ctx context.Context, r missions.CatRequest) ([]byte, error) {
	at, err := rd.addresses.FindMoment(ctx, r.Caller, r.Moment, addresses.InAnyProject)
	if err != nil {
		return nil, err
	}
	if r.FromTop {
		r.Caller.Cwd = at.Binding.Workspace
	}
	rel, err := at.WorkspacePath(r.Caller, r.Path)
	if err != nil {
		return nil, err
	}
	if r.Displaced {
		return catDisplaced(at, rel)
	}
	entry, err := at.Project.Store.Lookup(at.Snapshot.Tree, rel)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, missions.Errorf(missions.KindNotFound, "umbra git ls-tree -r --name-only "+at.Snapshot.ID.Short(), "%s is not in snapshot %s", rel, at.Snapshot.Address(at.Name))
	}
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "%s in snapshot %s: %w", rel, at.Snapshot.ID.Short(), err)
	}
	if entry.Mode.IsDir() {
		return nil, missions.Errorf(missions.KindUsage, "umbra git ls-tree "+at.Snapshot.ID.Short()+" "+rel+"/", "%s is a directory", path.Clean("./"+rel))
	}
	return at.Project.Store.Blob(entry.ID)
}
