package restores

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// mostIgnoredNames bounds the names that ignoredFinder looks at. Those near the top come
// first: what a person would miss is seldom far down.
const mostIgnoredNames = 2000

// ignoredFinder finds ignored files that were written since a moment. No snapshot says how
// they were then: their times alone tell.
type ignoredFinder struct {
	root            *beneath.Root
	present, target restore.Side
	holds           func(restore.Side, string) (bool, error)
	since           int64 // in nanoseconds since 1970
	names           int   // looked at
	queue           []ignoredPlace
	found           []string
}

// ignoredPlace is a directory to be looked into, and the ignored directory that it is or
// lies in, "" for none.
type ignoredPlace struct{ path, ignored string }

// find lists the files, sorted. An ignored directory is listed once, with a slash, for all
// that is in it.
func (f *ignoredFinder) find() ([]string, error) {
	f.queue = append(f.queue, ignoredPlace{})
	for len(f.queue) > 0 && f.names < mostIgnoredNames {
		at := f.queue[0]
		f.queue = f.queue[1:]
		if err := f.lookInto(at); err != nil {
			return nil, err
		}
	}
	slices.Sort(f.found)
	return f.found, nil
}

// lookInto looks at the names of a directory. One that can't be listed, or lies on another
// file system, is passed over.
func (f *ignoredFinder) lookInto(at ignoredPlace) error {
	dir, err := f.root.OpenDir(at.path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	if st, err := dir.Stat(); err != nil || st.Device != f.root.Identity().Device {
		return nil
	}
	var names beneath.Listing
	if err := dir.List(&names); err != nil {
		return nil
	}
	for i := 0; i < names.Len() && f.names < mostIgnoredNames; i++ {
		f.names++
		if at.ignored != "" && f.isFound(at.ignored) {
			return nil
		}
		if err := f.lookAt(at, dir, &names, i); err != nil {
			return err
		}
	}
	return nil
}

func (f *ignoredFinder) isFound(ignored string) bool { return slices.Contains(f.found, ignored) }

// lookAt looks at one name.
func (f *ignoredFinder) lookAt(at ignoredPlace, dir *beneath.Dir, names *beneath.Listing, i int) error {
	path, kind := string(names.Name(i)), names.Kind(i)
	if at.path != "" {
		path = at.path + "/" + path
	}
	if kind == beneath.Unknown {
		st, err := dir.LstatListed(names, i)
		if err != nil {
			return nil
		}
		kind = st.Kind()
	}
	isDir := kind == beneath.Directory
	why, err := f.reasonLeftOut(path, isDir)
	if err != nil {
		return err
	}
	isOut := why == capture.ReasonIgnored || why == capture.ReasonWithheld
	switch {
	case isDir && isOut && at.ignored == "":
		f.queue = append(f.queue, ignoredPlace{path, path + "/"})
	case isDir && (isOut || why == ""):
		f.queue = append(f.queue, ignoredPlace{path, at.ignored})
	}
	if !isOut || kind == beneath.Special {
		return nil
	}
	st, err := dir.LstatListed(names, i)
	if err != nil || st.Mtime <= f.since {
		return nil
	}
	if known, err := f.isKnown(path); known || err != nil {
		return err
	}
	switch {
	case at.ignored != "":
		path = at.ignored
	case isDir:
		path += "/"
	}
	f.found = append(f.found, path)
	return nil
}

// reasonLeftOut is why what is at a path was left out just now, "" if it was not.
func (f *ignoredFinder) reasonLeftOut(path string, isDir bool) (capture.Reason, error) {
	mode := gitstore.ModeFile
	if isDir {
		mode = gitstore.ModeDir
	}
	if isKept, why, err := f.present.Rules.Eligible(path, capture.Candidate{Mode: mode}); err != nil || !isKept {
		return why, err
	}
	if f.present.Skipped == nil {
		return "", nil
	}
	s, _ := f.present.Skipped.Covers(path)
	return s.Reason, nil
}

// isKnown reports whether one of the snapshots holds something at a path: then the restore
// itself says what becomes of it.
func (f *ignoredFinder) isKnown(path string) (bool, error) {
	for _, side := range []restore.Side{f.target, f.present} {
		if held, err := f.holds(side, path); held || err != nil {
			return held, err
		}
	}
	return false, nil
}

// findIgnoredSince lists the ignored files that were written since a snapshot, and since
// the mission began: what came along with a fork has times of its own. A failure costs
// the note alone.
func findIgnoredSince(rs *Restorer, m *projects.Mission, target *gitstore.Snapshot, s sides) []string {
	info, err := m.Project.ReadSnapshotInfo(target)
	if err != nil {
		return nil // said with what is put back
	}
	root, err := OpenWorkspace(m)
	if err != nil {
		return nil // the plan says so
	}
	defer root.Close()
	finder := leftOutFinder{mission: m, root: root}
	f := ignoredFinder{root: root, present: s.present, target: s.to, holds: finder.holds, since: later(info.At, m.CreatedAt).UnixNano()}
	list, err := f.find()
	if err != nil {
		rs.Logger.Warn("look for ignored files that were written since", "mission", m.ID, "error", err)
	}
	return list
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ignoredNote says that ignored files are as they are now, "" for none.
func ignoredNote(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "ignored, so in no snapshot, and written since then: " + missions.NameSome(paths) + "; what is there now stays"
}
