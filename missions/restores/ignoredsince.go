package restores

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// mostIgnoredNames bounds the names that ignoredFinder looks at in directories that are
// captured, and again those in ignored ones. Those near the top come first: what a person
// would miss is seldom far down.
const mostIgnoredNames = 2000

// ignoredFinder finds ignored files that were written since a moment. No snapshot says how
// they were then: their times alone tell.
type ignoredFinder struct {
	root            *beneath.Root
	present, target restore.Side
	holds           func(restore.Side, string) (bool, error)
	since, now      int64            // in nanoseconds since 1970
	mounts          []string         // as beneath.MountsIn lists them; a dead one lets nobody go who looks at it
	home            beneath.Identity // Umbra's own directory

	captured, ignored ignoredQueue
	found             map[string]bool // an ignored directory once, with a slash, for all that is in it
	isCut             bool            // there is more than was looked at
}

// ignoredQueue is the directories that are to be looked into, and how many names have been
// looked at.
type ignoredQueue struct {
	places []ignoredPlace
	names  int
}

// ignoredPlace is a directory, and the ignored directory that it is or lies in, "" for
// none.
type ignoredPlace struct{ path, ignored string }

// find looks for the files. What lies in captured directories comes first: an ignored one
// may be a thousand times larger.
func (f *ignoredFinder) find(ctx context.Context) error {
	f.found = map[string]bool{}
	f.captured.places = []ignoredPlace{{}}
	for _, q := range []*ignoredQueue{&f.captured, &f.ignored} {
		for len(q.places) > 0 {
			at := q.places[0]
			q.places = q.places[1:]
			if f.found[at.ignored] {
				continue
			}
			if q.names == mostIgnoredNames {
				f.isCut = true
				break
			}
			if err := f.lookInto(ctx, at, q); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookInto looks at the names of a directory. One that can't be listed, or lies on another
// file system, is passed over.
func (f *ignoredFinder) lookInto(ctx context.Context, at ignoredPlace, q *ignoredQueue) error {
	dir, err := f.root.OpenDir(at.path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	if st, err := dir.Stat(); err != nil || st.Device != f.root.Identity().Device {
		return nil
	}
	var names beneath.Listing
	if err := dir.ListSome(&names, mostIgnoredNames-q.names+1); err != nil {
		return nil
	}
	for i := 0; i < names.Len() && !f.found[at.ignored]; i++ {
		if q.names == mostIgnoredNames {
			f.isCut = true
			return nil
		}
		q.names++
		if err := errors.Join(ctx.Err(), f.lookAt(at, dir, &names, i)); err != nil {
			return err
		}
	}
	return nil
}

// lookAt looks at one name.
func (f *ignoredFinder) lookAt(at ignoredPlace, dir *beneath.Dir, names *beneath.Listing, i int) error {
	path, kind := string(names.Name(i)), names.Kind(i)
	if at.path != "" {
		path = at.path + "/" + path
	}
	if slices.Contains(f.mounts, f.root.Path()+"/"+path) {
		return nil
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
	if why == "" && isDir {
		q := &f.captured
		if at.ignored != "" {
			q = &f.ignored
		}
		q.places = append(q.places, ignoredPlace{path, at.ignored})
	}
	if why != documents.ReasonIgnored && why != documents.ReasonWithheld || kind == beneath.Special {
		return nil
	}
	st, err := dir.LstatListed(names, i)
	if err != nil || st.Identity() == f.home {
		return nil
	}
	found := path
	if isDir {
		found += "/"
	}
	found = cmp.Or(at.ignored, found)
	if isDir {
		f.ignored.places = append(f.ignored.places, ignoredPlace{path, found})
	}
	if st.Mtime <= f.since || st.Mtime > f.now { // a time to come says nothing
		return nil
	}
	known, err := f.isKnown(path)
	if err == nil && !known {
		f.found[found] = true
	}
	return err
}

// reasonLeftOut is why what is at a path was left out just now, "" if it was not.
func (f *ignoredFinder) reasonLeftOut(path string, isDir bool) (documents.Reason, error) {
	mode := gitstore.ModeFile
	if isDir {
		mode = gitstore.ModeDir
	}
	if isKept, why, err := f.present.Rules.Eligible(path, documents.Candidate{Mode: mode}); err != nil || !isKept {
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

// ignoredSince is what was found of the ignored files that were written since a moment.
type ignoredSince struct {
	paths []string // sorted
	isCut bool     // there are more names than were looked at
}

// findIgnoredSince looks for the ignored files that were written since a snapshot, and
// since the mission began: what came along with a fork has times of its own. A failure
// costs the note alone.
func findIgnoredSince(ctx context.Context, rs *Restorer, m *projects.Mission, target *gitstore.Snapshot, s sides) ignoredSince {
	info, err := m.Project.ReadSnapshotInfo(target)
	if err != nil {
		return ignoredSince{} // said with what is put back
	}
	root, err := OpenWorkspace(m)
	if err != nil {
		return ignoredSince{} // the plan says so
	}
	defer root.Close()
	finder := leftOutFinder{mission: m, root: root}
	f := ignoredFinder{
		root: root, present: s.present, target: s.to, holds: finder.holds,
		since: later(info.At, m.CreatedAt).UnixNano(), now: rs.Now().UnixNano(), mounts: beneath.MountsIn(root.Path()),
	}
	own, err := rs.Home.Identity()
	f.home = beneath.Identity(own)
	if err = errors.Join(err, f.find(ctx)); err != nil {
		rs.Logger.Warn("look for ignored files that were written since", "mission", m.ID, "error", err)
	}
	return ignoredSince{slices.Sorted(maps.Keys(f.found)), f.isCut}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// note says that ignored files are as they are now, "" for none.
func (i ignoredSince) note() string {
	if len(i.paths) == 0 {
		return ""
	}
	return "ignored, so in no snapshot, and written since then: " + missions.NameSome(i.paths) + "; ignored files stay as they are"
}
