package snapshots

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// DisplacedDir holds, in the record of a restore, the bytes that somebody wrote where
// the restore wrote.
const DisplacedDir = "displaced"

// DisplacedFile is a file that another writer had put in a restore's way.
type DisplacedFile struct {
	Path string // of the workspace
	Mode gitstore.Mode
	Open func() (io.ReadCloser, int64, error)
}

// putDisplaced keeps displaced files in a record, under their own paths as far as these
// are free. Those of earlier records stay in it until their bytes are back.
func putDisplaced(t *records.Tree, batch *shadow.Batch, m *projects.Mission, list []DisplacedFile) error {
	earlier, err := t.List(DisplacedDir)
	if err != nil {
		return err
	}
	var waiting []StoredDisplaced
	if len(earlier) > 0 && m.Tip != nil && m.Tip.Mission == m.ID { // a fork has none of its parent's
		if waiting, err = DisplacedFiles(m); err != nil {
			return err
		}
	}
	if err := t.Remove(DisplacedDir); err != nil {
		return err
	}
	for _, d := range list {
		id, err := d.Store(batch)
		if err != nil {
			return err
		}
		waiting = addDisplaced(waiting, StoredDisplaced{d.Path, d.Mode, id})
	}
	for _, d := range waiting {
		if err := t.PutEntry(DisplacedDir+"/"+d.Path, d.Mode, d.ID); err != nil {
			return err
		}
	}
	return nil
}

// addDisplaced adds a file to those that wait. Where another one has its place, it gets a
// name beside that which no editor and no cp --backup gives to a file of its own.
func addDisplaced(list []StoredDisplaced, d StoredDisplaced) []StoredDisplaced {
	path := d.Path
	for n := 1; ; n++ {
		if slices.Contains(list, d) {
			return list
		}
		i := slices.IndexFunc(list, func(other StoredDisplaced) bool {
			return home.IsWithin(other.Path, d.Path) || home.IsWithin(d.Path, other.Path)
		})
		if i < 0 {
			return append(list, d)
		}
		taken := list[i].Path
		if !home.IsWithin(taken, path) { // a directory of others
			taken = path
		}
		d.Path = fmt.Sprintf("%s.~umbra%d~%s", taken, n, strings.TrimPrefix(path, taken))
	}
}

// MaxDisplacedTries is how often the bytes of a writer that still writes are read
// again, until they do not change while they are read.
const MaxDisplacedTries = 100

func (d DisplacedFile) Store(batch *shadow.Batch) (id gitstore.ID, err error) {
	for range MaxDisplacedTries {
		if id, err = d.storeOnce(batch); !errors.Is(err, gitstore.ErrSizeChanged) {
			break
		}
	}
	return id, err
}

func (d DisplacedFile) storeOnce(batch *shadow.Batch) (gitstore.ID, error) {
	r, size, err := d.Open()
	if err != nil {
		return gitstore.ID{}, err
	}
	defer r.Close()
	return batch.BlobFrom(r, size)
}

// DisplacedSet is which bytes of which paths records hold: the same bytes at two paths are
// two files, each with an owner who looks for it at its own path.
type DisplacedSet map[displacedBytes]bool

type displacedBytes struct {
	path string
	id   gitstore.ID
}

// Holds reports whether a record holds these bytes of this path.
func (s DisplacedSet) Holds(path string, id gitstore.ID) bool { return s[displacedBytes{path, id}] }

// secondName is what addDisplaced adds to a path that is taken.
var secondName = missions.LazyPattern(`\.~umbra[0-9]+~`)

// DisplacedSince gathers the displaced files in the records of a mission's history, back
// to a snapshot. Bytes that are stored and in no record do not count: nobody would find
// them. A process that was killed before it published its record leaves such bytes.
func DisplacedSince(m *projects.Mission, since string) (DisplacedSet, error) {
	known := DisplacedSet{}
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		if s.Mission != m.ID || s.ID.String() == since {
			break
		}
		list, err := RecordedDisplaced(m.Project, s.Record)
		if err != nil {
			return nil, damagedRecordError(s, err)
		}
		for _, d := range list {
			known[displacedBytes{d.Path, d.ID}] = true
			known[displacedBytes{secondName().ReplaceAllString(d.Path, ""), d.ID}] = true
		}
	}
	return known, nil
}

// StoredDisplaced is a displaced file in a record.
type StoredDisplaced struct {
	Path string // of the workspace
	Mode gitstore.Mode
	ID   gitstore.ID
}

// RecordedDisplaced lists the displaced files that a record holds, sorted by path.
func RecordedDisplaced(p *projects.Project, record gitstore.ID) ([]StoredDisplaced, error) {
	if record.IsZero() {
		return nil, nil
	}
	r, err := p.Store.Record(record)
	if err != nil {
		return nil, err
	}
	top, err := p.Store.Lookup(r.Tree, DisplacedDir)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []StoredDisplaced
	err = p.Store.WalkTree(top.ID, func(path string, e gitstore.TreeEntry) error {
		if e.Mode.IsBlob() {
			list = append(list, StoredDisplaced{path, e.Mode, e.ID})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b StoredDisplaced) int { return strings.Compare(a.Path, b.Path) })
	return list, err
}

// DisplacedFiles lists what other programs lost to the mission's restores and that nobody
// has put back yet: neither the newest snapshot holds it nor, where that leaves the path
// out, the workspace.
func DisplacedFiles(m *projects.Mission) ([]StoredDisplaced, error) {
	list, err := RecordedDisplaced(m.Project, m.Record)
	var waiting []StoredDisplaced
	for _, d := range list {
		e, found := m.Project.Store.Lookup(m.Tip.Tree, d.Path)
		if found != nil && !errors.Is(found, gitstore.ErrNoEntry) {
			return nil, found
		}
		if e.ID != d.ID && (found == nil || !isInWorkspace(m, d)) {
			waiting = append(waiting, d)
		}
	}
	return waiting, err
}

// isInWorkspace reports whether the workspace has a displaced file's bytes at its path.
// A file of another size is not read.
func isInWorkspace(m *projects.Mission, d StoredDisplaced) bool {
	root, err := beneath.Open(m.Binding.Workspace)
	if err != nil {
		return false
	}
	defer root.Close()
	if d.Mode == gitstore.ModeSymlink {
		target, err := root.Readlink(d.Path)
		return err == nil && gitstore.HashObject(gitstore.TypeBlob, []byte(target)) == d.ID
	}
	file, st, err := root.Open(d.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	stored, size, err := m.Project.Store.BlobReader(d.ID)
	if err != nil {
		return false
	}
	defer stored.Close()
	if st.Size != size {
		return false
	}
	id, err := gitstore.HashBlob(file, size)
	return err == nil && id == d.ID
}

// FileProblems names the files that are where nobody looks for them: in no snapshot, or in
// records alone.
func (tk *Taker) FileProblems(m *projects.Mission) (list []missions.Problem) {
	for _, p := range []*missions.Problem{tk.BudgetProblem(m), displacedProblem(m), IgnoredWorkspaceProblem(m), UnreadIgnoreProblem(m)} {
		if p != nil {
			list = append(list, *p)
		}
	}
	return list
}

// displacedProblem names what other programs lost to the mission's restores, nil if there
// is nothing.
func displacedProblem(m *projects.Mission) *missions.Problem {
	list, err := DisplacedFiles(m)
	if err != nil || len(list) == 0 {
		return nil // doctor says what can't be read
	}
	p := &missions.Problem{Project: m.Project.Name, Mission: m.Name, Fix: "umbra restore --displaced --mission " + m.Name}
	for _, d := range list {
		p.Details = append(p.Details, d.Path)
	}
	first := p.Details[:min(len(p.Details), maxLeftOutPaths)]
	p.Message = "what other programs wrote while " + m.Name + " was restored is kept, and not in the workspace: " + strings.Join(first, ", ")
	if more := len(p.Details) - len(first); more > 0 {
		p.Message += " and " + missions.Itoa(more) + " more"
	}
	return p
}
