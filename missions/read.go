package missions

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// pathIn turns a path as the caller typed it into one of the workspace: as seen
// from the caller's directory if that is in the workspace, else from its root.
func (m *loaded) pathIn(c Caller, typed string) (string, error) {
	full := typed
	if !filepath.IsAbs(full) {
		base := m.bind.Workspace
		if dir := resolvedOr(c.Cwd); within(base, dir) {
			base = dir
		}
		full = filepath.Join(base, full)
	}
	full = filepath.Clean(full)
	if !within(m.bind.Workspace, full) {
		if r := resolvedOr(filepath.Dir(full)); within(m.bind.Workspace, r) {
			full = filepath.Join(r, filepath.Base(full))
		}
	}
	if !within(m.bind.Workspace, full) {
		return "", Errorf(KindUsage, "name a path below "+m.bind.Workspace, "%s is outside the workspace of %s", typed, m.Name)
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(full, m.bind.Workspace), "/")
	return filepath.ToSlash(rel), nil
}

// pathsIn is pathIn for several.
func (m *loaded) pathsIn(c Caller, typed []string) (paths []string, err error) {
	for _, one := range typed {
		rel, err := m.pathIn(c, one)
		if err != nil {
			return nil, err
		}
		paths = append(paths, rel)
	}
	return paths, nil
}

// Show gives a moment whole: what was asked, what was said, what changed.
func (l *Local) Show(ctx context.Context, r ShowRequest) (Shown, error) {
	at, err := l.findMoment(ctx, r.Caller, r.Moment, reading)
	if err != nil {
		return Shown{}, err
	}
	lines := at.project.differ(ctx, gitstore.DiffLines, nil)
	defer lines.Close()
	e, err := l.entry(ctx, at.loaded, at.step, lines)
	if err != nil {
		return Shown{}, err
	}
	e.Pins = append(e.Pins, at.project.pinsBySnapshot()[at.step.ID]...)
	shown := Shown{Entry: e}
	if err := l.showRecord(&shown, at); err != nil {
		return Shown{}, err
	}
	var from gitstore.ID
	if parent := at.step.Parent(); !parent.IsZero() {
		prev, err := at.project.store.Snapshot(parent)
		if err != nil {
			return Shown{}, err
		}
		from = prev.Tree
	}
	paths, err := at.pathsIn(r.Caller, r.Paths)
	if err != nil {
		return Shown{}, err
	}
	d, err := at.project.difference(ctx, from, at.step.Tree, paths, diffDetail(!r.Brief))
	shown.Files, shown.Patch, shown.Unpaired = d.files, d.patch, d.unpaired
	return shown, err
}

// showRecord fills in what the snapshot's record says.
func (l *Local) showRecord(shown *Shown, at found) error {
	info, err := at.project.snapshotInfo(at.step.Snapshot)
	if err != nil {
		return err
	}
	shown.Prompt, shown.Changing = info.Prompt, info.Changing
	g, _, err := at.project.gitOf(at.step.Snapshot)
	if err != nil {
		return err
	}
	shown.Git = GitState{Head: g.Head, Branch: trimRef(g.Branch), Operation: g.Operation}
	doc, err := at.project.recordDoc(at.step.Snapshot, skippedDoc)
	if err != nil {
		return err
	}
	skipped, err := capture.ParseSkipped(doc)
	if err != nil {
		return Errorf(KindDamaged, "umbra doctor", "snapshot %s: %w", at.step.ID.Short(), err)
	}
	for _, s := range skipped.All() {
		shown.Skipped = append(shown.Skipped, Kept{Path: s.Path, Reason: string(s.Reason)})
	}
	c, err := l.conversation(at.loaded, at.step.Snapshot)
	if err != nil {
		return err
	}
	shown.NotTakenUp = queuedIn(c.Queued)
	shown.Conversation, err = l.lastTurn(at.project, at.step.Snapshot, c.Turns)
	return err
}

// Cat gives a file as it was.
func (l *Local) Cat(ctx context.Context, r CatRequest) ([]byte, error) {
	at, err := l.findMoment(ctx, r.Caller, r.Moment, reading)
	if err != nil {
		return nil, err
	}
	if r.FromTop {
		r.Caller.Cwd = at.bind.Workspace
	}
	rel, err := at.pathIn(r.Caller, r.Path)
	if err != nil {
		return nil, err
	}
	entry, err := at.project.store.Lookup(at.step.Tree, rel)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, Errorf(KindNotFound, "umbra git -- ls-tree -r --name-only "+at.step.ID.Short(), "%s is not in snapshot %s", rel, at.step.ID.Short())
	}
	if err != nil {
		return nil, Errorf(KindDamaged, "umbra doctor", "%s in snapshot %s: %w", rel, at.step.ID.Short(), err)
	}
	if entry.Mode.IsDir() {
		return nil, Errorf(KindUsage, "umbra git -- ls-tree "+at.step.ID.Short()+" "+rel+"/", "%s is a directory", path.Clean("./"+rel))
	}
	return at.project.store.Blob(entry.ID)
}

// Diff compares two moments, or a moment with the workspace as it is now.
func (l *Local) Diff(ctx context.Context, r DiffRequest) (Difference, error) {
	from, to, err := l.diffEnds(ctx, r)
	if err != nil {
		return Difference{}, err
	}
	if to != nil && to.project.ID != from.project.ID {
		return Difference{}, Errorf(KindUsage, "compare moments of one project", "%s and %s are in different projects", from.Name, to.Name)
	}
	d := Difference{From: from.step.ID.String()}
	var tree gitstore.ID
	p := from.project
	if to != nil {
		d.To, tree = to.step.ID.String(), to.step.Tree
	} else {
		looked, done, err := l.glimpse(from.loaded)
		if err != nil {
			return Difference{}, err
		}
		defer done()
		p = looked.project
		if tree, err = l.presentTree(ctx, looked); err != nil {
			return Difference{}, err
		}
	}
	paths, err := from.pathsIn(r.Caller, r.Paths)
	if err != nil {
		return Difference{}, err
	}
	changed, err := p.difference(ctx, from.step.Tree, tree, paths, diffDetail(r.Patch))
	if err != nil {
		return Difference{}, err
	}
	d.Files, d.Patch, d.Unpaired = changed.files, changed.patch, changed.unpaired
	d.Conversation, err = l.saidBetween(from, to, r.Conversation)
	return d, err
}

// diffEnds resolves what to compare. A nil end is the workspace now.
func (l *Local) diffEnds(ctx context.Context, r DiffRequest) (found, *found, error) {
	if r.Turn != 0 {
		base := r.From
		before, err := l.findMoment(ctx, r.Caller, base+"@"+itoa(r.Turn)+".0", reading)
		if err != nil {
			return found{}, nil, err
		}
		after, err := before.project.endOf(before.Name, before.tip.ID, r.Turn)
		if err != nil {
			steps, terr := before.project.turnSteps(before.tip.ID, r.Turn)
			if terr != nil || len(steps) == 0 {
				return found{}, nil, err
			}
			after = steps[len(steps)-1] // the turn goes on: as far as it is known
		}
		return before, &found{before.loaded, after}, nil
	}
	if r.From == "" {
		from, err := l.beforeLastPrompt(ctx, r.Caller)
		return from, nil, err
	}
	from, err := l.findMoment(ctx, r.Caller, r.From, reading)
	if err != nil || r.To == "" {
		return from, nil, err
	}
	to, err := l.findMoment(ctx, r.Caller, r.To, reading)
	return from, &to, err
}

// beforeLastPrompt is the snapshot before the last turn of the default mission.
func (l *Local) beforeLastPrompt(ctx context.Context, c Caller) (found, error) {
	m, err := l.findMission(ctx, c, "", reading)
	if err != nil {
		return found{}, err
	}
	steps, err := m.project.turnSteps(m.tip.ID, m.tip.Turn)
	if err != nil {
		return found{}, err
	}
	if len(steps) == 0 {
		return found{}, Errorf(KindDamaged, "umbra doctor", "%s has no snapshot in its own turn %d", m.Name, m.tip.Turn)
	}
	return found{m, steps[0]}, nil
}

// changed is what differs between two trees.
type changed struct {
	files    []FileChange
	patch    string
	unpaired int
}

// diffDetail is how much is to be told of changes.
func diffDetail(patch bool) gitstore.DiffDetail {
	if patch {
		return gitstore.DiffPatch
	}
	return gitstore.DiffLines
}

// differ compares trees of a project: what is below some paths, or all.
func (p *project) differ(ctx context.Context, detail gitstore.DiffDetail, paths []string) *gitstore.Differ {
	if slices.Contains(paths, "") {
		paths = nil
	}
	return p.store.Differ(ctx, detail, paths...)
}

// difference tells what differs between two trees.
func (p *project) difference(ctx context.Context, from, to gitstore.ID, paths []string, detail gitstore.DiffDetail) (changed, error) {
	d := p.differ(ctx, detail, paths)
	defer d.Close()
	return compared(d, from, to)
}

func compared(d *gitstore.Differ, from, to gitstore.ID) (changed, error) {
	diff, err := d.Trees(from, to)
	if err != nil {
		return changed{}, notCompared(from, to, err)
	}
	c := changed{files: []FileChange{}, patch: diff.Patch, unpaired: diff.Unpaired}
	for _, f := range diff.Files {
		c.files = append(c.files, FileChange{
			Path: f.Path, OldPath: f.OldPath, Similarity: f.Similarity, Type: changeType(f), Added: f.LinesAdded, Deleted: f.LinesDeleted, Binary: f.Binary,
		})
	}
	return c, nil
}

// notCompared says why git did not compare two trees.
func notCompared(from, to gitstore.ID, err error) error {
	if errors.Is(err, gitstore.ErrNoGit) {
		return Errorf(KindFailed, "install git 2.38 or newer", "%w", err)
	}
	if _, ok := errors.AsType[*gitstore.GitError](err); ok {
		return Errorf(KindDamaged, "umbra doctor", "compare %s and %s: %w", from.Short(), to.Short(), err)
	}
	return err
}

func changeType(f gitstore.FileDiff) string {
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
