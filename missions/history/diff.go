package history

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/comparisons"
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
	if to == nil {
		if to, err = keptIn(from.Mission); err != nil {
			return missions.Difference{}, err
		}
	}
	d := missions.Difference{From: from.Snapshot.ID.String()}
	var tree gitstore.ID
	var skipped *documents.SkippedSet
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
	changed, err := comparisons.CompareTrees(ctx, p, from.Snapshot.Tree, tree, paths, comparisons.PatchDetail(r.Patch))
	if err = strictly(changed, err, r.Tolerant); err != nil {
		return missions.Difference{}, err
	}
	d.Files, d.Patch, d.Unpaired, d.Lost = changed.Files, changed.Patch, changed.Unpaired, changed.Lost
	for _, out := range snapshots.LeftOutChanges(snapshots.RecordedSkipped(from.Project, from.Snapshot.Snapshot), skipped) {
		if len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return p == "" || home.IsWithin(p, out.Path) }) {
			d.LeftOut = append(d.LeftOut, out)
		}
	}
	d.Conversation, err = rd.conversations.ConversationDiff(from, to, r.Conversation)
	return d, err
}

// keptIn is the snapshot that stands for the workspace of a mission whose files are in none; nil
// for any other mission.
func keptIn(m *projects.Mission) (*addresses.ResolvedMoment, error) {
	kept, err := m.KeptIn()
	if kept == nil || err != nil {
		return nil, err
	}
	return &addresses.ResolvedMoment{Mission: m, Snapshot: projects.NumberedSnapshot{Snapshot: kept}}, nil
}

// strictly is an error where something of a comparison is lost, unless that is tolerated.
func strictly(c comparisons.TreeChanges, err error, tolerant bool) error {
	if err != nil || tolerant || len(c.Lost) == 0 {
		return err
	}
	return missions.Errorf(missions.KindDamaged, "umbra doctor", "%s: %s", gitstore.QuotePath(c.Lost[0].Path), c.Lost[0].Reason)
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
