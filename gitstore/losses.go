package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Loss is something that snapshots hold and that can't be read.
type Loss struct {
	ID  ID
	Err error
	// Mission is whose snapshots hold it, "" if no ref of a mission leads to it.
	Mission string
	// Path is where it stands in the workspace, or in the record if Record is
	// set; "" for a commit, or the tree of one.
	Path   string
	Record bool
	// Snapshots are those that hold it, the newest first.
	Snapshots []ID
	// Known is set if AcceptLost was called for it.
	Known bool
}

// lostFile lists the ids of what is lost for good, one a line.
const lostFile = "umbra/lost"

// AcceptLost notes what is lost for good, and that the user was told of it.
func (s *Store) AcceptLost(ctx context.Context, lost []Loss) error {
	return s.rewrite(ctx, lostFile, func() ([]byte, error) {
		known, err := s.knownLost()
		for _, l := range lost {
			known[l.ID] = true
		}
		return idLines(known), err
	})
}

// knownLost is what AcceptLost has noted; what a power cut has torn is noted again.
func (s *Store) knownLost() (map[ID]bool, error) {
	text, err := disk.ReadFile(filepath.Join(s.dir, lostFile))
	known := map[ID]bool{}
	for line := range bytes.Lines(text) {
		if id, err := ParseID(string(bytes.TrimSpace(line))); err == nil {
			known[id] = true
		}
	}
	return known, ignoring(err, fs.ErrNotExist)
}

// Losses reads everything that refs and roots lead to and lists what can't be
// read, each object with every place that it has in snapshots. It takes as long
// as reading takes.
func (s *Store) Losses(ctx context.Context, roots ...ID) ([]Loss, error) {
	s.recent.forget()
	if err := s.rescan(); err != nil {
		return nil, err
	}
	r, err := s.reach(ctx, roots)
	if err != nil {
		return nil, err
	}
	for id, kind := range r.seen {
		if kind != TypeBlob {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.readable(id); err != nil {
			r.unread[id] = err
		}
	}
	if len(r.unread) == 0 {
		return nil, nil
	}
	known, err := s.knownLost()
	if err != nil {
		return nil, err
	}
	l := &lossLister{ctx: ctx, store: s, known: known, unread: r.unread, below: map[ID][]lostAt{}, at: map[lossKey]int{}}
	return l.all()
}

// readable reads a blob to its end.
func (s *Store) readable(id ID) error {
	r, _, err := s.BlobReader(id)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		// Of a damaged copy there may be a whole one.
		_, err = s.Blob(id)
		return err
	}
	return nil
}

// lossLister finds where objects that can't be read stand in snapshots.
type lossLister struct {
	ctx    context.Context
	store  *Store
	unread map[ID]error
	known  map[ID]bool
	below  map[ID][]lostAt // by tree
	at     map[lossKey]int
	found  []Loss
}

type lossKey struct {
	id      ID
	mission string
	path    string
	record  bool
}

// lostAt is an object that can't be read, by its path below a tree.
type lostAt struct {
	path string
	id   ID
}

func (l *lossLister) all() ([]Loss, error) {
	list, err := l.store.Refs("")
	if err != nil {
		return nil, err
	}
	seen := map[ID]bool{}
	for _, ref := range list.Refs {
		if kind := ref.Name.Kind(); kind == RefAgent || kind == RefTrashAgent || kind == RefPin {
			if err := l.history(ref, seen); err != nil {
				return nil, err
			}
		}
	}
	for id, err := range l.unread {
		if !slices.ContainsFunc(l.found, func(loss Loss) bool { return loss.ID == id }) {
			l.add(lossKey{id: id}, ID{}, err)
		}
	}
	return l.found, nil
}

// history goes through the snapshots that a ref leads to, each once.
func (l *lossLister) history(ref Ref, seen map[ID]bool) error {
	for snap, err := range l.store.Snapshots(ref.ID, HistoryOptions{}) {
		if err != nil {
			var object *ObjectError
			if errors.As(err, &object) && l.unread[object.ID] != nil {
				l.add(lossKey{id: object.ID, mission: ref.Name.Mission()}, ID{}, object)
			}
			return l.ctx.Err() // what is before it is out of reach
		}
		if seen[snap.ID] {
			return l.ctx.Err()
		}
		seen[snap.ID] = true
		for _, lost := range l.in(snap.Tree) {
			l.add(lossKey{lost.id, snap.Mission, lost.path, false}, snap.ID, l.unread[lost.id])
		}
		record, err := l.store.Commit(snap.Record)
		if err != nil {
			l.add(lossKey{snap.Record, snap.Mission, "", true}, snap.ID, err)
			continue
		}
		for _, lost := range l.in(record.Tree) {
			l.add(lossKey{lost.id, snap.Mission, lost.path, true}, snap.ID, l.unread[lost.id])
		}
	}
	return l.ctx.Err()
}

// in lists what can't be read of a tree.
func (l *lossLister) in(tree ID) []lostAt {
	if known, ok := l.below[tree]; ok {
		return known
	}
	if l.unread[tree] != nil {
		return []lostAt{{id: tree}}
	}
	var list []lostAt
	entries, err := l.store.Tree(tree)
	if err != nil {
		return []lostAt{{id: tree}}
	}
	for _, e := range entries {
		switch {
		case e.Mode.IsDir():
			for _, lost := range l.in(e.ID) {
				path := e.Name
				if lost.path != "" {
					path += "/" + lost.path
				}
				list = append(list, lostAt{path, lost.id})
			}
		case l.unread[e.ID] != nil:
			list = append(list, lostAt{e.Name, e.ID})
		}
	}
	l.below[tree] = list
	return list
}

func (l *lossLister) add(key lossKey, snapshot ID, err error) {
	i, ok := l.at[key]
	if !ok {
		i = len(l.found)
		l.at[key] = i
		l.found = append(l.found, Loss{ID: key.id, Err: err, Mission: key.mission, Path: key.path, Record: key.record, Known: l.known[key.id]})
	}
	if !snapshot.IsZero() {
		l.found[i].Snapshots = append(l.found[i].Snapshots, snapshot)
	}
}
