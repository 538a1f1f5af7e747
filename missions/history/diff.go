package history

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Diff compares two moments, or a moment with the workspace as it is now.
func (rd *Reader) Diff(ctx context.Context, r missions.DiffRequest) (missions.Difference, error) {
	from, to, err := rd.diffEnds(ctx, r)
	if err != nil {
		return missions.Difference{}, err
	}
	if to != nil && to.Project.ID != from.Project.ID {
		return missions.Difference{}, missions.Errorf(missions.KindUsage, "compare moments of one project", "%s and %s are in different projects", from.Name, to.Name)
	}
	d := missions.Difference{From: from.Snapshot.ID.String()}
	var tree gitstore.ID
	var skipped *capture.SkippedSet
	p := from.Project
	if to != nil {
		d.To, tree = to.Snapshot.ID.String(), to.Snapshot.Tree
		skipped = snapshots.RecordedSkipped(to.Mission.Project, to.Snapshot.Snapshot)
	} else {
		looked, done, err := rd.snapshots.ScratchView(from.Mission)
		if err != nil {
			return missions.Difference{}, err
		}
		defer done()
		p = looked.Project
		if tree, skipped, err = rd.snapshots.CapturePresent(ctx, looked); err != nil {
			return missions.Difference{}, err
		}
	}
	paths, err := workspacePaths(from.Mission, r.Caller, r.Paths)
	if err != nil {
		return missions.Difference{}, err
	}
	changed, err := compareTrees(ctx, p, from.Snapshot.Tree, tree, paths, diffDetail(r.Patch))
	if err != nil {
		return missions.Difference{}, err
	}
	d.Files, d.Patch, d.Unpaired = changed.files, changed.patch, changed.unpaired
	for _, out := range snapshots.LeftOutChanges(snapshots.RecordedSkipped(from.Project, from.Snapshot.Snapshot), skipped) {
		if len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return p == "" || home.IsWithin(p, out.Path) }) {
			d.LeftOut = append(d.LeftOut, out)
		}
	}
	d.Conversation, err = rd.conversations.ConversationDiff(from, to, r.Conversation)
	return d, err
}

// diffEnds resolves what to compare. A nil end is the workspace now.
func (rd *Reader) diffEnds(ctx context.Context, r missions.DiffRequest) (addresses.ResolvedMoment, *addresses.ResolvedMoment, error) {
	if r.Turn != 0 {
		base := r.From
		before, err := rd.addresses.FindMoment(ctx, r.Caller, base+"@"+missions.Itoa(r.Turn)+".0", addresses.InAnyProject)
		if err != nil {
			return addresses.ResolvedMoment{}, nil, err
		}
		after, err := before.Project.TurnEnd(before.Name, before.Tip.ID, r.Turn)
		if err != nil {
			steps, terr := before.Project.TurnSnapshots(before.Tip.ID, r.Turn)
			if terr != nil || len(steps) == 0 {
				return addresses.ResolvedMoment{}, nil, err
			}
			after = steps[len(steps)-1] // the turn goes on: as far as it is known
		}
		return before, &addresses.ResolvedMoment{Mission: before.Mission, Snapshot: after}, nil
	}
	if r.From == "" {
		from, err := rd.momentBeforeLastPrompt(ctx, r.Caller)
		return from, nil, err
	}
	from, err := rd.addresses.FindMoment(ctx, r.Caller, r.From, addresses.InAnyProject)
	if err != nil || r.To == "" {
		return from, nil, err
	}
	to, err := rd.addresses.FindMoment(ctx, r.Caller, r.To, addresses.InAnyProject)
	return from, &to, err
}

// momentBeforeLastPrompt is the snapshot before the last turn of the default mission.
func (rd *Reader) momentBeforeLastPrompt(ctx context.Context, c missions.Caller) (addresses.ResolvedMoment, error) {
	m, err := rd.addresses.FindMission(ctx, c, "", addresses.InAnyProject)
	if err != nil {
		return addresses.ResolvedMoment{}, err
	}
	steps, err := m.Project.TurnSnapshots(m.Tip.ID, m.Tip.Turn)
	if err != nil {
		return addresses.ResolvedMoment{}, err
	}
	if len(steps) == 0 {
		return addresses.ResolvedMoment{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "%s has no snapshot in its own turn %d", m.Name, m.Tip.Turn)
	}
	return addresses.ResolvedMoment{Mission: m, Snapshot: steps[0]}, nil
}

// treeChanges are the differences between two trees.
type treeChanges struct {
	files    []missions.FileChange
	patch    string
	unpaired int
}

// diffDetail is the detail of a comparison, with the patch or without.
func diffDetail(patch bool) diff.Detail {
	if patch {
		return diff.Patch
	}
	return diff.Lines
}

// Differ compares trees of a project, below some paths or whole.
func Differ(ctx context.Context, p *projects.Project, detail diff.Detail, paths []string) *diff.Differ {
	if slices.Contains(paths, "") {
		paths = nil
	}
	return diff.New(ctx, p.Store, detail, paths...)
}

// compareTrees compares two trees once.
func compareTrees(ctx context.Context, p *projects.Project, from, to gitstore.ID, paths []string, detail diff.Detail) (treeChanges, error) {
	d := Differ(ctx, p, detail, paths)
	defer d.Close()
	return diffTrees(d, from, to)
}

func diffTrees(d *diff.Differ, from, to gitstore.ID) (treeChanges, error) {
	diff, err := d.Trees(from, to)
	if err != nil {
		return treeChanges{}, snapshots.NotCompared(from, to, err)
	}
	c := treeChanges{files: []missions.FileChange{}, patch: diff.Patch, unpaired: diff.Unpaired}
	for _, f := range diff.Files {
		c.files = append(c.files, missions.FileChange{
			Path: f.Path, OldPath: f.OldPath, Similarity: f.Similarity, Type: changeType(f), Added: f.LinesAdded, Deleted: f.LinesDeleted, Binary: f.Binary,
		})
	}
	return c, nil
}

func changeType(f diff.File) string {
	switch f.Type() {
	case gitstore.Added:
		return "added"
	case gitstore.Deleted:
		return "deleted"
	case gitstore.Renamed:
		return "renamed"
	}
	switch {
	case f.From.Mode == f.To.Mode:
		return "modified"
	case f.From.ID == f.To.ID && f.From.Mode.IsBlob() && f.To.Mode.IsBlob():
		return "mode"
	case f.From.Mode == gitstore.ModeSymlink || f.To.Mode == gitstore.ModeSymlink:
		return "type"
	}
	return "modified"
}

// workspacePaths is WorkspacePath for several paths.
func workspacePaths(m *projects.Mission, c missions.Caller, typed []string) (paths []string, err error) {
	for _, one := range typed {
		rel, err := m.WorkspacePath(c, one)
		if err != nil {
			return nil, err
		}
		paths = append(paths, rel)
	}
	return paths, nil
}
