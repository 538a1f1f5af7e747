package missions

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
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// UsageRequest asks what Umbra takes on the disk.
type UsageRequest struct {
	Caller Caller `json:"caller"`
}

// Usage is what Umbra takes on the disk, in bytes. What is borrowed from the
// user's repositories is their own and counts nowhere but in Borrowed.
type Usage struct {
	Home     string         `json:"home"`
	Bytes    int64          `json:"bytes"` // all of the home
	Projects []ProjectUsage `json:"projects"`
	Other    []Weighed      `json:"other"` // what belongs to no project
	// Workspaces that Umbra made, beside the home.
	Workspaces []Weighed `json:"workspaces"`
	// Freeable is what can be given back, and by which command.
	Freeable []Weighed `json:"freeable"`
	Problems []Problem `json:"problems"`
}

// ProjectUsage is one shadow repository.
type ProjectUsage struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	ShadowRepo string `json:"shadow_repo"`
	Bytes      int64  `json:"bytes"`
	Borrowed   int64  `json:"borrowed_bytes"` // shared with the user's repository
	// Shared is what several missions have in common, such as a fork and its source.
	Shared int64 `json:"shared_bytes"`
	// Rest is what no mission leads to, and what Git needs to find things.
	Rest     int64          `json:"rest_bytes"`
	Missions []MissionUsage `json:"missions"`
}

// MissionUsage is what is stored of one mission alone.
type MissionUsage struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	State   StateName `json:"state"`
	Removed bool      `json:"removed"` // it is in the trash
	Files   int64     `json:"files_bytes"`
	Records int64     `json:"conversation_bytes"` // and what else is recorded with snapshots
}

// Weighed is something that takes room.
type Weighed struct {
	What  string `json:"what"`
	Path  string `json:"path,omitempty"`
	Bytes int64  `json:"bytes"`
	Fix   string `json:"command,omitempty"` // what gives it back
}

// Usage measures all of it: it looks at each file of the home and of forks'
// workspaces, and at every commit and tree of the snapshots. What can't be read is
// counted past, and is in Problems.
func (l *Local) Usage(ctx context.Context, _ UsageRequest) (Usage, error) {
	u := Usage{Home: l.home.Dir, Projects: []ProjectUsage{}, Other: []Weighed{}, Workspaces: []Weighed{}, Freeable: []Weighed{}, Problems: []Problem{}}
	projects, problems := l.allProjects()
	u.Problems = append(u.Problems, problems...)
	for _, p := range projects {
		if err := l.weighProject(ctx, p, &u); err != nil {
			return u, err
		}
	}
	u.weighHome(l.home)
	u.Bytes += sum(u.Other) + projectsSum(u.Projects)
	slices.SortFunc(u.Projects, func(a, b ProjectUsage) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return u, ctx.Err()
}

func sum(list []Weighed) (total int64) {
	for _, w := range list {
		total += w.Bytes
	}
	return total
}

func projectsSum(list []ProjectUsage) (total int64) {
	for _, p := range list {
		total += p.Bytes
	}
	return total
}

// weighProject measures a shadow repository and the workspaces that were made for
// its forks.
func (l *Local) weighProject(ctx context.Context, p *project, u *Usage) error {
	w := ProjectUsage{ID: p.ID, Name: p.Name, Path: p.hints.Path, ShadowRepo: p.shadow(), Missions: []MissionUsage{}}
	w.Bytes, w.Borrowed = u.measure(p.Dir), borrowedBytes(p.shadow())
	list, problems := l.missionsOf(p)
	u.Problems = append(u.Problems, problems...)
	removed, problems := l.removedFrom(p)
	u.Problems = append(u.Problems, problems...)
	var groups [][]gitstore.ID
	for _, m := range append(list, removed...) {
		w.Missions = append(w.Missions, MissionUsage{ID: m.ID, Name: m.Name, State: State(m.life), Removed: m.removed})
		groups = append(groups, []gitstore.ID{m.tip.ID}, []gitstore.ID{m.record})
		u.weighWorkspace(m)
	}
	weight, err := p.store.Weigh(ctx, groups)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		weight = gitstore.Weight{Alone: make([]int64, len(groups))}
		u.Problems = append(u.Problems, Problem{Invariant: "I3", Project: p.Name, Message: fmt.Sprintf("what each mission of %s takes can't be told: %v", p.Name, err), Fix: "umbra doctor"})
	}
	w.Shared, w.Rest = weight.Shared, w.Bytes-weight.Shared
	for n := range w.Missions {
		m := &w.Missions[n]
		m.Files, m.Records = weight.Alone[2*n], weight.Alone[2*n+1]
		w.Rest -= m.Files + m.Records
	}
	w.Rest = max(0, w.Rest)
	u.Projects = append(u.Projects, w)
	return nil
}

// removedFrom are the missions of a project that are in the trash, and what could
// not be read of them.
func (l *Local) removedFrom(p *project) ([]*loaded, []Problem) {
	problem := func(mission string, err error) Problem {
		return Problem{Invariant: "I3", Project: p.Name, Mission: mission, Message: "in the trash: " + err.Error(), Fix: "umbra doctor"}
	}
	refs, err := p.store.Refs(gitstore.RefTrashAgent)
	if err != nil {
		return nil, []Problem{problem("", err)}
	}
	var list []*loaded
	var problems []Problem
	for _, bad := range refs.Bad {
		problems = append(problems, problem("", &bad))
	}
	for _, ref := range refs.Refs {
		id := ref.Name.Mission()
		if _, err := p.store.Ref(gitstore.AgentRef(id)); err == nil {
			continue // a removal, or the way back, was cut off: it is there
		}
		m, err := l.loadRemoved(p, id)
		if err != nil {
			problems = append(problems, problem(id, err))
			continue
		}
		list = append(list, m)
	}
	return list, problems
}

// namedUnread is how many places are named that could not be read.
const namedUnread = 3

// measure is diskUsage that goes on past whatever it can't read, and says so.
func (u *Usage) measure(dir string) int64 {
	bytes, unread := weigh(dir)
	if n := len(unread) - namedUnread; n > 0 {
		unread = append(unread[:namedUnread], fmt.Sprintf("%d more", n))
	}
	if len(unread) > 0 {
		u.Problems = append(u.Problems, Problem{Message: fmt.Sprintf("%s takes more than is said, since not all can be read: %s", dir, strings.Join(unread, ", "))})
	}
	return bytes
}

// weigh is what the files below dir take on disk, and the places that could not be
// read, each with the reason.
func weigh(dir string) (bytes int64, unread []string) {
	var m measuring
	last := "" // a directory is met twice: to be looked at, and to be read
	_ = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		refused := m.refused
		failed := m.entry(at, e, err)
		if m.refused > refused {
			failed = fs.ErrPermission
		}
		if failed != nil && at != last {
			unread, last = append(unread, fmt.Sprintf("%s (%v)", at, userfile.Reason(failed))), at
		}
		return nil
	})
	return m.bytes, unread
}

// weighWorkspace measures one that Umbra made, while it stands.
func (u *Usage) weighWorkspace(m *loaded) {
	if m.removed || !m.bind.Made || m.bind.Workspace == "" || m.workspaceGone() {
		return
	}
	w := Weighed{What: "the workspace of " + m.Name, Path: m.bind.Workspace, Bytes: u.measure(m.bind.Workspace)}
	if !HasAgent(m.life) {
		w.Fix = "umbra mission rm " + m.Name + " --workspace, then umbra trash empty"
		u.Freeable = append(u.Freeable, w)
	}
	u.Workspaces = append(u.Workspaces, w)
}

// weighHome measures what is in the home beside projects.
func (u *Usage) weighHome(home Home) {
	for _, part := range []struct{ what, name, fix string }{
		{"the trash: workspaces of removed missions", "trash", "umbra trash empty"},
		{"the index: made again when it is missing", "index", "umbra doctor --rebuild"},
		{"what is known of workspaces' files", "statcache", ""},
		{"operations, and what restores took away", "journal", ""},
		{"agents' configurations", "agents", ""},
	} {
		w := Weighed{What: part.what, Path: home.path(part.name), Bytes: u.measure(home.path(part.name)), Fix: part.fix}
		u.Other = append(u.Other, w)
		if entries, err := os.ReadDir(home.path(part.name)); part.name == "trash" && err == nil && len(entries) > 0 {
			u.Freeable = append(u.Freeable, w)
		}
	}
	all, _ := weigh(home.Dir) // its parts have said what they lack
	rest := max(0, all-sum(u.Other)-projectsSum(u.Projects))
	u.Other = append(u.Other, Weighed{What: "logs, locks and the rest", Path: home.Dir, Bytes: rest})
}

// borrowedBytes is what files of a shadow repository take that have another name,
// in the user's repository; measure says what can't be read.
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
