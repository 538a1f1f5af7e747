package projects

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Resembles reports whether a directory that is another one than the mission's workspace
// was holds what that held: a commit that the mission's HEAD was at, if it was at any, and
// at least half of its files as they were.
func (m *Mission) Resembles(g Directory) (bool, error) {
	if m.Tip == nil {
		return false, nil
	}
	known, hadCommits, err := m.knowsRepository(g)
	if err != nil || hadCommits && !known {
		return false, err
	}
	files, err := m.comparedFiles()
	if err != nil || len(files) == 0 {
		return known, err
	}
	is := func(same func(path string, f comparedFile) bool) func(int) bool {
		return func(i int) bool { return same(filepath.Join(g.Dir, files[i].path), files[i]) }
	}
	// What is not there at all costs a look: no file of most other directories is read.
	there := func(path string, _ comparedFile) bool { _, err := os.Lstat(path); return err == nil }
	return isHalf(len(files), is(there)) && isHalf(len(files), is(func(path string, f comparedFile) bool { return f.isAt(path) })), nil
}

// isHalf reports whether at least half of some things are so. It asks of no more of them
// than that takes.
func isHalf(of int, isSo func(i int) bool) bool {
	yes := 0
	for i := range of {
		if isSo(i) {
			yes++
		}
		switch no := i + 1 - yes; {
		case yes*2 >= of:
			return true
		case no*2 > of:
			return false
		}
	}
	return of == 0
}

// knowsRepository reports whether the directory's repository has a commit that the
// mission's HEAD was at, and whether that was at any. An error is of objects that can't be
// read.
func (m *Mission) knowsRepository(g Directory) (known, hadCommits bool, err error) {
	var user *objects.Reader
	if g.Repo != nil && g.Repo.CommonDir != "" {
		if user, err = objects.Open(g.Repo.CommonDir); err != nil {
			return false, false, err
		}
		defer user.Close()
	}
	tried := map[string]bool{"": true}
	for s, err := range m.Project.SnapshotCache.WalkHistory(m.Project.Store, m.Tip.ID) {
		if err != nil {
			return false, hadCommits, err
		}
		id, err := gitstore.ParseID(s.GitHead)
		if tried[s.GitHead] || err != nil {
			continue
		}
		if tried[s.GitHead], hadCommits = true, true; user == nil {
			return false, true, nil
		}
		if _, err := user.Commit(id); err == nil {
			return true, true, nil
		}
	}
	return false, hadCommits, nil
}

// maxComparedMissions is how many missions of a project are compared with a directory.
const maxComparedMissions = 8

// resembles reports whether the directory holds what one of the project's missions held
// there: it is a copy of the project's own, as after a backup was restored.
func (r *Registry) resembles(p *Project, g Directory) bool {
	at := func(path string) bool { return home.IsWithin(g.Top, path) }
	if p.Locations.CommonDir != g.Repo.CommonDir && !slices.ContainsFunc(p.Locations.Workspaces, func(l Location) bool { return at(l.Path) }) {
		return false
	}
	list, _ := r.missions.ProjectMissions(p)
	list = slices.DeleteFunc(list, func(m *Mission) bool { return !at(m.Binding.Workspace) })
	slices.SortFunc(list, func(a, b *Mission) int { return b.LastUsed().Compare(a.LastUsed()) })
	for _, m := range list[:min(len(list), maxComparedMissions)] {
		there, err := InspectDirectory(m.Binding.Workspace)
		if err != nil || there.Repo == nil || there.Repo.CommonDir != g.Repo.CommonDir || m.Binding.Identity.Is(there.Identity) {
			continue // of another repository, as one inside this one is, or in its place
		}
		if like, err := m.Resembles(there); err == nil && like {
			return true
		}
	}
	return false
}

// LostProblem says of a directory without a project that it holds what a workspace held
// that is not there any more; nil if none is known. So it is where a directory was moved to
// another disk.
func (r *Registry) LostProblem(g Directory) *missions.Problem {
	here, err := InspectDirectory(g.Top)
	if err != nil {
		return nil
	}
	all, _ := r.AllProjects()
	for _, p := range all {
		if _, err := os.Lstat(p.Locations.Path); err == nil {
			continue
		}
		list, _ := r.missions.ProjectMissions(p)
		list = slices.DeleteFunc(list, func(m *Mission) bool { return m.Binding.Workspace != p.Locations.Path })
		if len(list) == 0 {
			continue
		}
		newest := slices.MaxFunc(list, func(a, b *Mission) int { return a.LastUsed().Compare(b.LastUsed()) })
		if like, err := newest.Resembles(here); err == nil && like {
			return &missions.Problem{
				Project: p.Name, Message: g.Top + " holds what " + p.Locations.Path + " did, which is not there any more",
				Fix: newest.MoveCommand(g.Top) + " if it was moved",
			}
		}
	}
	return nil
}

// maxComparedFiles is how many files of a workspace are compared to find out whether a
// directory is a copy of it. maxComparedBytes is up to which size they are read.
const (
	maxComparedFiles = 1000
	maxComparedBytes = 1 << 20
)

// comparedFile is a file of a snapshot.
type comparedFile struct {
	path string
	id   gitstore.ID
}

func (f comparedFile) isAt(path string) bool { return holdsSameContent(path, f.id) }

// CountUnchangedFiles counts the files of the mission's newest snapshot that are the same
// in a directory, among those compared.
func (m *Mission) CountUnchangedFiles(dir string) (found, of int, err error) {
	files, err := m.comparedFiles()
	for _, f := range files {
		if f.isAt(filepath.Join(dir, f.path)) {
			found++
		}
	}
	return found, len(files), err
}

// comparedFiles are files with content of the mission's newest snapshot, picked from all
// directories.
func (m *Mission) comparedFiles() (picked []comparedFile, err error) {
	var files []comparedFile
	empty := gitstore.EmptyBlob()
	err = m.Project.Store.WalkTree(m.Tip.Tree, func(path string, e gitstore.TreeEntry) error {
		if !e.Mode.IsDir() && e.ID != empty { // there is one in each directory of some languages
			files = append(files, comparedFile{path, e.ID})
		}
		return nil
	})
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "read the newest snapshot of mission %s: %w", m.Name, err)
	}
	for i := 0; i < len(files); i += 1 + len(files)/maxComparedFiles {
		picked = append(picked, files[i])
	}
	return picked, nil
}

// holdsSameContent reports whether a file holds what it did. Of a large file it reports
// whether it is there.
func holdsSameContent(path string, id gitstore.ID) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return err == nil && gitstore.HashObject(gitstore.TypeBlob, []byte(target)) == id
	}
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() > maxComparedBytes {
		return true
	}
	have, err := gitstore.HashBlob(f, info.Size())
	return err == nil && have == id
}
