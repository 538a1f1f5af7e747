package missions

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// filesPlan is the files' side of a restore.
type filesPlan struct {
	*restore.Plan
	unread []Kept // what could not be read now, and so is left as it is
}

func (f *filesPlan) empty() bool { return f.Plan.Empty() }

// describe puts the plan into what the user is shown.
func (f *filesPlan) describe(r *RestoreResult) {
	r.Modify = f.Paths(restore.Replace, restore.Chmod)
	r.Create = f.Paths(restore.Create)
	r.Delete = f.Paths(restore.Delete)
	for _, k := range f.Keep {
		if slices.ContainsFunc(f.unread, func(u Kept) bool { return within(u.Path, k.Path) }) {
			continue // said with all that is in it
		}
		r.Keep = append(r.Keep, Kept{Path: k.Path, Reason: string(k.Reason)})
	}
	r.Keep = append(r.Keep, f.unread...)
}

// unreadNow is what cannot be read at present and could be at the target's moment:
// whether the target holds it or not, it is left, and that is said. Of a directory
// the target's paths are not all that may be in it.
func unreadNow(present, target restore.Side, plan *restore.Plan) []Kept {
	if present.Skipped == nil {
		return nil
	}
	var list []Kept
	for _, s := range present.Skipped.All() {
		if s.Reason != capture.ReasonUnreadable || slices.ContainsFunc(plan.Keep, func(k restore.Kept) bool { return k.Reason != restore.ReasonWorkspace && within(k.Path, s.Path) }) {
			continue
		}
		if target.Skipped != nil {
			if then, ok := target.Skipped.Covers(s.Path); ok && then.Reason == capture.ReasonUnreadable {
				continue
			}
		}
		list = append(list, Kept{Path: s.Path, Reason: string(s.Reason)})
	}
	return list
}

// presentSide is what is on disk, captured without publishing anything.
func (l *Local) presentSide(ctx context.Context, m *loaded) (restore.Side, error) {
	captured, err := l.capturePresent(ctx, m)
	if err != nil {
		return restore.Side{}, err
	}
	return captureSide(m.project, captured)
}

// capturePresent stores what is on disk, and publishes nothing.
func (l *Local) capturePresent(ctx context.Context, m *loaded) (*capture.Result, error) {
	ws, err := l.workspace(ctx, m)
	if err != nil {
		return nil, err
	}
	batch := m.project.store.NewBatch()
	defer batch.Discard()
	captured, err := ws.capture(ctx, m.project.store, batch, m.tip)
	if err != nil {
		return nil, l.captureFailed(m, err)
	}
	if err := batch.Flush(ctx); err != nil {
		ws.giveBack()
		return nil, err
	}
	if m.project.store.IsScratch() {
		ws.giveBack() // what a scratch holds the next capture must not rely on
	} else {
		ws.accept(captured)
	}
	return captured, nil
}

// openWorkspace opens the mission's workspace and proves that it is the one.
func (m *loaded) openWorkspace() (*beneath.Root, error) {
	root, err := beneath.Open(m.bind.Workspace)
	if err != nil {
		return nil, m.unopened(err)
	}
	if Place(root.Identity()) != m.bind.Place {
		root.Close()
		return nil, moved(m, "another directory is in its place")
	}
	return root, nil
}

// planPaths plans the files of a restore.
func (l *Local) planPaths(m *loaded, present restore.Side, target *gitstore.Snapshot, paths []string, leave map[string]string) (*filesPlan, error) {
	to, err := l.recordedSide(m.project, target)
	if err != nil {
		return nil, err
	}
	root, err := m.openWorkspace()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := restore.Request{From: present, To: to, Paths: paths, Leave: map[string]restore.Reason{}, Stays: l.nested(m)}
	for path, why := range leave {
		r.Leave[path] = restore.Reason(why)
	}
	plan, err := restore.Make(m.project.store, root, r)
	if err != nil {
		return nil, planFailed(target, err)
	}
	files := &filesPlan{Plan: plan}
	if len(paths) == 0 {
		files.unread = unreadNow(present, to, plan)
	}
	return files, nil
}

// nested tells which directories of m's workspace are that of another mission. Made
// anew they would be other directories, and those missions without a workspace. It
// looks when it is first asked.
func (l *Local) nested(m *loaded) func(dir string) bool {
	roots := sync.OnceValue(func() map[string]bool {
		list := map[string]bool{}
		others, _ := l.others(m) // what can't be read is said by neighbourInTurn
		for _, o := range others {
			list[o.bind.Workspace] = !o.workspaceGone()
		}
		return list
	})
	return func(dir string) bool { return roots()[filepath.Join(m.bind.Workspace, dir)] }
}

// planFailed is an error of planning: nothing was changed.
func planFailed(target *gitstore.Snapshot, err error) error {
	return Errorf(KindDamaged, "umbra doctor", "restore %s: %w; nothing was changed", target.ID.Short(), err)
}

// planInverse plans the taking back of an operation's files.
func (l *Local) planInverse(m *loaded, present restore.Side, op operation, target *gitstore.Snapshot) (*filesPlan, error) {
	of := &restore.Plan{}
	if err := json.Unmarshal(op.Plan, of); err != nil {
		return nil, Errorf(KindDamaged, "umbra doctor", "the plan of operation %s: %w", op.ID, err)
	}
	root, err := m.openWorkspace()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	plan, err := restore.Inverse(m.project.store, root, restore.InverseRequest{Now: present, Of: of, Stays: l.nested(m)})
	if err != nil {
		return nil, planFailed(target, err)
	}
	return &filesPlan{Plan: plan}, nil
}

// planDoc is the plan as the record keeps it.
func (f *filesPlan) doc() (json.RawMessage, error) {
	raw, err := json.Marshal(f.Plan)
	if err != nil {
		return nil, fmt.Errorf("write down the plan: %w", err)
	}
	return raw, nil
}
