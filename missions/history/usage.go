package history

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// Usage measures the home: it looks at each file there and in forks' workspaces, and at
// every commit and tree of the snapshots. Files that can't be read are left out, and are
// in Problems.
func (rd *Reader) Usage(ctx context.Context, r missions.UsageRequest) (missions.Usage, error) {
	u := missions.Usage{Home: rd.Home.Dir, Projects: []missions.ProjectUsage{}, Other: []missions.UsageItem{}, Workspaces: []missions.UsageItem{}, Freeable: []missions.UsageItem{}, Problems: []missions.Problem{}}
	projects, problems := rd.AllProjects()
	u.Problems = append(u.Problems, problems...)
	for _, p := range projects {
		if err := rd.measureProject(ctx, p, &u); err != nil {
			return u, err
		}
	}
	if rd.Prunable != nil {
		old, problems := rd.Prunable(ctx, r.Caller)
		u.Freeable, u.Problems = append(u.Freeable, old...), append(u.Problems, problems...)
	}
	u.Prunings, u.TrashExpiry, u.ForkExpiry = rd.Prunings(), rd.TrashExpiry(), rd.ForkExpiry()
	u.Tightening = rd.Tightening()
	measureHome(&u, rd.Home)
	u.Bytes += sumBytes(u.Other) + sumProjectBytes(u.Projects)
	u.Budget = rd.Space.BudgetAt(u.Bytes, rd.Now())
	slices.SortFunc(u.Projects, func(a, b missions.ProjectUsage) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return u, ctx.Err()
}

func sumBytes(list []missions.UsageItem) (total int64) {
	for _, w := range list {
		total += w.Bytes
	}
	return total
}

func sumProjectBytes(list []missions.ProjectUsage) (total int64) {
	for _, p := range list {
		total += p.Bytes
	}
	return total
}

// measureProject measures a shadow repository and the workspaces that were made for
// its forks.
func (rd *Reader) measureProject(ctx context.Context, p *projects.Project, u *missions.Usage) error {
	w := missions.ProjectUsage{ID: p.ID, Name: p.Name, Path: p.Locations.Path, ShadowRepo: p.ShadowRepo(), Missions: []missions.MissionUsage{}}
	w.Bytes, w.Borrowed = MeasureDir(u, p.Dir), borrowedBytes(p.ShadowRepo())
	list, problems := rd.ProjectMissions(p)
	u.Problems = append(u.Problems, problems...)
	removed, problems := rd.RemovedMissionsIn(p)
	u.Problems = append(u.Problems, problems...)
	var groups [][]gitstore.ID
	for _, m := range append(list, removed...) {
		w.Missions = append(w.Missions, missions.MissionUsage{ID: m.ID, Name: m.Name, State: missions.StateOf(m.Lifecycle), Removed: m.InTrash})
		groups = append(groups, []gitstore.ID{m.Tip.ID}, []gitstore.ID{m.Record})
		measureWorkspace(u, m)
	}
	weight, err := upkeep.Weigh(ctx, p.Store, groups)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		weight = upkeep.Weight{Alone: make([]int64, len(groups))}
		u.Problems = append(u.Problems, missions.Problem{Invariant: "I3", Project: p.Name, Message: fmt.Sprintf("what each mission of %s takes can't be told: %v", p.Name, err), Fix: "umbra doctor"})
	}
	w.Shared, w.Double, w.Rest = weight.Shared, weight.Double, w.Bytes-weight.Shared-weight.Double
	for n := range w.Missions {
		m := &w.Missions[n]
		m.Files, m.Records = weight.Alone[2*n], weight.Alone[2*n+1]
		w.Rest -= m.Files + m.Records
	}
	w.Rest = max(0, w.Rest)
	u.Projects = append(u.Projects, w)
	return nil
}

// MaxNamedUnread is how many unreadable places a problem names.
const MaxNamedUnread = 3

// MeasureDir is DiskUsage that leaves out what it can't read, and adds a problem then.
func MeasureDir(u *missions.Usage, dir string) int64 {
	bytes, unread := measureReadable(dir)
	if n := len(unread) - MaxNamedUnread; n > 0 {
		unread = append(unread[:MaxNamedUnread], fmt.Sprintf("%d more", n))
	}
	if len(unread) > 0 {
		u.Problems = append(u.Problems, missions.Problem{Message: fmt.Sprintf("%s takes more than is said, since not all can be read: %s", dir, strings.Join(unread, ", "))})
	}
	return bytes
}

// measureReadable measures the files below dir, and lists the places that could not be
// read, each with the reason.
func measureReadable(dir string) (bytes int64, unread []string) {
	var m home.DiskMeter
	last := "" // a directory is met twice: to be looked at, and to be read
	_ = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		refused := m.Unreadable
		failed := m.AddEntry(at, e, err)
		if m.Unreadable > refused {
			failed = m.Why
		}
		if failed != nil && at != last {
			unread, last = append(unread, fmt.Sprintf("%s (%v)", at, userfile.Reason(failed))), at
		}
		return nil
	})
	return m.Bytes, unread
}

// measureWorkspace measures a mission's workspace, if Umbra made it and it is there.
func measureWorkspace(u *missions.Usage, m *projects.Mission) {
	if m.InTrash || !m.Binding.MadeByUmbra || m.Binding.Workspace == "" || m.IsWorkspaceGone() {
		return
	}
	w := missions.UsageItem{What: "the workspace of " + m.Name, Path: m.Binding.Workspace, Bytes: MeasureDir(u, m.Binding.Workspace)}
	if !missions.HasAgent(m.Lifecycle) {
		w.Fix = "umbra mission rm " + m.Name + " --workspace, then umbra trash empty"
		u.Freeable = append(u.Freeable, w)
	}
	u.Workspaces = append(u.Workspaces, w)
}

// measureHome measures everything in the home but projects.
func measureHome(u *missions.Usage, home home.Home) {
	for _, part := range []struct{ what, name, fix string }{
		{"the trash: workspaces of removed missions", "trash", "umbra trash empty"},
		{"the index: made again when it is missing", "index", "umbra doctor --rebuild"},
		{"what is known of workspaces' files", "statcache", ""},
		{"operations, and what restores took away", "journal", ""},
		{"agents' configurations", "agents", ""},
	} {
		w := missions.UsageItem{What: part.what, Path: home.Path(part.name), Bytes: MeasureDir(u, home.Path(part.name)), Fix: part.fix}
		u.Other = append(u.Other, w)
		if entries, err := os.ReadDir(home.Path(part.name)); part.name == "trash" && err == nil && len(entries) > 0 {
			u.Freeable = append(u.Freeable, w)
		}
	}
	for _, place := range home.TrashedElsewhere() {
		u.Freeable = append(u.Freeable, missions.UsageItem{What: "the trash, on another disk", Path: place, Bytes: MeasureDir(u, place), Fix: "umbra trash empty"})
	}
	all, _ := measureReadable(home.Dir) // its parts have said what they lack
	rest := max(0, all-sumBytes(u.Other)-sumProjectBytes(u.Projects))
	u.Other = append(u.Other, missions.UsageItem{What: "logs, locks and the rest", Path: home.Dir, Bytes: rest})
}

// borrowedBytes measures the files of a shadow repository that are hard links to the
// user's repository. MeasureDir reports files that can't be read.
func borrowedBytes(shadow string) (bytes int64) {
	_ = filepath.WalkDir(filepath.Join(shadow, "objects"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
			bytes += st.Blocks * 512
		}
		return nil
	})
	return bytes
}
