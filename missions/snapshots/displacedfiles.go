package snapshots

import (
	"errors"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// displacedDir holds, in the record of a restore, the bytes that somebody wrote where
// the restore wrote.
const displacedDir = "displaced"

// DisplacedFile is a file that another writer had put in a restore's way.
type DisplacedFile struct {
	Path string // of the workspace
	Mode gitstore.Mode
	Open func() (io.ReadCloser, int64, error)
}

// putDisplaced keeps displaced files in a record, under their own paths. The record of
// the next snapshot drops them: they stay in this one.
func putDisplaced(t *records.Tree, batch *shadow.Batch, list []DisplacedFile) error {
	if err := t.Remove(displacedDir); err != nil {
		return err
	}
	for _, d := range list {
		id, err := d.Store(batch)
		if err != nil {
			return err
		}
		if err := t.PutEntry(displacedDir+"/"+d.Path, d.Mode, id); err != nil {
			return err
		}
	}
	return nil
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

// DisplacedSince gathers the ids of the displaced files in the records of a mission's
// history, back to a snapshot. Bytes that are stored and in no record do not count:
// nobody would find them. A process that was killed before it published its record
// leaves such bytes.
func DisplacedSince(m *projects.Mission, since string) (map[gitstore.ID]bool, error) {
	known := map[gitstore.ID]bool{}
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		if s.Mission != m.ID || s.ID.String() == since {
			break
		}
		r, err := m.Project.Store.Record(s.Record)
		if err == nil {
			err = addDisplacedIDs(known, records.NewTree(m.Project.Store, r.Tree), displacedDir)
		}
		if err != nil {
			return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
		}
	}
	return known, nil
}

func addDisplacedIDs(known map[gitstore.ID]bool, t *records.Tree, dir string) error {
	entries, err := t.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Mode.IsDir() {
			known[e.ID] = true
		} else if err := addDisplacedIDs(known, t, dir+"/"+e.Name); err != nil {
			return err
		}
	}
	return nil
}
