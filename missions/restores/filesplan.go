package restores

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// FilesPlan is the files' side of a restore.
type FilesPlan struct {
	*restore.Plan
	unreadable []missions.PathReason // what could not be read now, and so is left as it is
	leftOut    []missions.PathReason // what no snapshot holds, and so is left as it is
	inTheWay   []string              // where the target has files, and what is there now can't be kept

	ignoredSince ignoredSince
}

func (f *FilesPlan) isEmpty() bool { return f.Plan.Empty() }

// describeTo adds the plan to the result that the user is shown.
func (f *FilesPlan) describeTo(r *missions.RestoreResult) {
	r.Modify = f.Paths(restore.Replace, restore.Chmod)
	r.Create = f.Paths(restore.Create)
	r.Delete = f.Paths(restore.Delete)
	if open := f.Databases(); len(open) > 0 {
		r.Notes = append(r.Notes, "a program that has "+missions.NameSome(open)+" open goes on with what was there before: start it again")
	}
	for _, k := range f.Keep {
		if slices.ContainsFunc(f.unreadable, func(u missions.PathReason) bool { return home.IsWithin(u.Path, k.Path) }) {
			continue // said with all that is in it
		}
		r.Kept = append(r.Kept, missions.PathReason{Path: k.Path, Reason: string(k.Reason)})
	}
	r.Kept = append(r.Kept, f.unreadable...)
	for _, out := range f.leftOut {
		if !slices.ContainsFunc(r.Kept, func(k missions.PathReason) bool { return k.Path == out.Path }) {
			r.Kept = append(r.Kept, out)
		}
	}
	if note := f.ignoredSince.note(); note != "" {
		r.Notes = append(r.Notes, note)
	}
	if len(f.inTheWay) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf(
			"to have %s back: move away what is there now, or make it readable, and type the restore again", missions.NameSome(f.inTheWay)))
	}
}

// findInTheWay lists the paths at which the target has a file and something is now that no
// snapshot can hold: a FIFO, a socket, a device, or a file that may not be read or is over
// the cap.
func (f *FilesPlan) findInTheWay(s *shadow.Store, target gitstore.ID) error {
	for _, k := range f.Keep {
		switch k.Reason {
		case restore.ReasonUnreadable, restore.Reason(documents.ReasonSpecial), restore.Reason(documents.ReasonSize):
		default:
			continue
		}
		then, err := entryAt(s, target, k.Path)
		if err != nil {
			return err
		}
		if !then.ID.IsZero() {
			f.inTheWay = append(f.inTheWay, k.Path)
		}
	}
	return nil
}

// unreadableNow lists what can't be read now and could be read at the target's moment.
// The restore leaves it and says so, whether the target holds it or not. Of a directory
// that can't be read, the target's paths may not be all that is in it.
func unreadableNow(present, target restore.Side, plan *restore.Plan) []missions.PathReason {
	if present.Skipped == nil {
		return nil
	}
	var list []missions.PathReason
	for _, s := range present.Skipped.All() {
		if s.Reason != documents.ReasonUnreadable || slices.ContainsFunc(plan.Keep, func(k restore.Kept) bool { return k.Reason != restore.ReasonWorkspace && home.IsWithin(k.Path, s.Path) }) {
			continue
		}
		if target.Skipped != nil {
			if then, ok := target.Skipped.Covers(s.Path); ok && then.Reason == documents.ReasonUnreadable {
				continue
			}
		}
		list = append(list, missions.PathReason{Path: s.Path, Reason: string(s.Reason)})
	}
	return list
}

// OpenWorkspace opens the mission's workspace, and proves that no other directory is in
// its place.
func OpenWorkspace(m *projects.Mission) (*beneath.Root, error) {
	root, err := beneath.Open(m.Binding.Workspace)
	if err != nil {
		return nil, m.WorkspaceOpenError(err)
	}
	if home.FileIdentity(root.Identity()) != m.Binding.Identity.FileIdentity {
		root.Close()
		return nil, projects.WorkspaceMovedError(m, "another directory is in its place")
	}
	return root, nil
}

// sides are what is on disk, and what a restore makes of it.
type sides struct{ present, to restore.Side }

// planPaths plans the files of a restore. What it can't plan is said of the target.
func (rs *Restorer) planPaths(m *projects.Mission, target *gitstore.Snapshot, s sides, paths []string, leave map[string]string) (*FilesPlan, error) {
	present, to := s.present, s.to
	root, err := OpenWorkspace(m)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	finder := leftOutFinder{mission: m, root: root, present: present, target: to, paths: paths}
	named, err := finder.named()
	if err != nil {
		return nil, err
	}
	r := restore.Request{From: present, To: to, Paths: paths, Leave: map[string]restore.Reason{}, Stays: rs.nestedWorkspaceCheck(m)}
	for path, why := range leave {
		r.Leave[path] = restore.Reason(why)
	}
	plan, err := restore.Make(m.Project.Store, root, r)
	if err != nil {
		return nil, planError(target, err)
	}
	files := &FilesPlan{Plan: plan}
	if len(paths) == 0 {
		files.unreadable = unreadableNow(present, to, plan)
	}
	if files.leftOut, err = finder.differing(); err != nil {
		return nil, planError(target, err)
	}
	files.leftOut = append(files.leftOut, named...)
	if err := files.findInTheWay(m.Project.Store, to.Tree); err != nil {
		return nil, planError(target, err)
	}
	return files, nil
}

// planError is an error of planning. It says that nothing was changed.
func planError(target *gitstore.Snapshot, err error) error {
	return missions.Errorf(missions.KindDamaged, "umbra doctor", "restore %s: %w; nothing was changed", target.ID.Short(), err)
}

// planInverse plans to take back the files of an operation.
func (rs *Restorer) planInverse(m *projects.Mission, present restore.Side, op projects.Operation, target *gitstore.Snapshot) (*FilesPlan, error) {
	of := &restore.Plan{}
	if err := json.Unmarshal(op.Plan, of); err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "the plan of operation %s: %w", op.ID, err)
	}
	root, err := OpenWorkspace(m)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rules, err := snapshots.RecordedRules(m.Project, target)
	if err != nil {
		rs.Logger.Warn("undo without the rules of then", "mission", m.ID, "error", err) // they are lost, the files are not
	}
	plan, err := restore.Inverse(m.Project.Store, root, restore.InverseRequest{Now: present, Of: of, Rules: rules, Stays: rs.nestedWorkspaceCheck(m)})
	if err != nil {
		return nil, planError(target, err)
	}
	return &FilesPlan{Plan: plan}, nil
}

// rememberAttributes adds to the plan what is to be taken away has beside its content.
func (f *FilesPlan) rememberAttributes(m *projects.Mission) error {
	root, err := OpenWorkspace(m)
	if err != nil {
		return err
	}
	defer root.Close()
	return f.Remember(root)
}

// document is the plan as the record keeps it.
func (f *FilesPlan) document() (json.RawMessage, error) {
	raw, err := json.Marshal(f.Plan)
	if err != nil {
		return nil, fmt.Errorf("write down the plan: %w", err)
	}
	return raw, nil
}

// sortKept sorts paths.
func sortKept(list []missions.PathReason) []missions.PathReason {
	slices.SortFunc(list, func(a, b missions.PathReason) int { return strings.Compare(a.Path, b.Path) })
	return list
}
