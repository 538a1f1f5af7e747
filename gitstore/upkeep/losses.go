package upkeep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Loss is something that snapshots hold and that can't be read.
type Loss struct {
	ID  gitstore.ID
	Err error
	// Mission is whose snapshots hold it, "" if no ref of a mission leads to it.
	Mission string
	// Path is where it stands in the workspace, or in the record if Record is
	// set; "" for a commit, or the tree of one.
	Path   string
	Record bool
	// Snapshots are those that hold it, the newest first.
	Snapshots []gitstore.ID
	// Known is set if AcceptLost was called for it.
	Known bool
	// Remote is where the mission was fetched from, if no snapshot of this home's missions
	// is among those: it may be fetched again.
	Remote string
}

// lostFile lists the ids of what is lost for good, one a line.
const lostFile = "umbra/lost"

// AcceptLost notes what is lost for good, and that the user was told of it.
func AcceptLost(ctx context.Context, s *shadow.Store, lost []Loss) error {
	return s.Rewrite(ctx, lostFile, func() ([]byte, error) {
		known, err := KnownLost(s)
		for _, l := range lost {
			known[l.ID] = true
		}
		return shadow.IDLines(known), err
	})
}

// KnownLost is what AcceptLost has noted; what a power cut has torn is noted again.
func KnownLost(s *shadow.Store) (map[gitstore.ID]bool, error) {
	text, err := disk.ReadFile(filepath.Join(s.Dir(), lostFile))
	known := map[gitstore.ID]bool{}
	for line := range bytes.Lines(text) {
		if id, err := gitstore.ParseID(string(bytes.TrimSpace(line))); err == nil {
			known[id] = true
		}
	}
	return known, gitstore.Ignoring(err, fs.ErrNotExist)
}

// ForgetFound takes from what AcceptLost has noted what can be read again, so that it is told
// if it is lost once more.
func ForgetFound(ctx context.Context, s *shadow.Store) error {
	known, err := KnownLost(s)
	if err != nil || len(known) == 0 {
		return err
	}
	return s.Rewrite(ctx, lostFile, func() ([]byte, error) {
		known, err := KnownLost(s)
		for id := range known {
			unread := readable(s, id)
			if errors.Is(unread, gitstore.ErrWrongType) {
				_, _, unread = s.Object(id)
			}
			if unread == nil {
				delete(known, id)
			}
		}
		return shadow.IDLines(known), err
	})
}

// IsKnown reports whether an error says that something can't be read of which AcceptLost was
// called. Known is what KnownLost gives.
func IsKnown(err error, known map[gitstore.ID]bool) bool {
	for about := (*gitstore.ObjectError)(nil); errors.As(err, &about); err = about.Err {
		if known[about.ID] {
			return true
		}
	}
	return false
}

// Losses reads everything that refs and roots lead to and lists what can't be
// read, each object with every place that it has in snapshots. It takes as long
// as reading takes.
func Losses(ctx context.Context, s *shadow.Store, roots ...gitstore.ID) ([]Loss, error) {
	s.ForgetRecent()
	if err := s.Rescan(); err != nil {
		return nil, err
	}
	r, err := s.Reach(ctx, roots)
	if err != nil {
		return nil, err
	}
	for id, kind := range r.Seen {
		if kind != gitstore.TypeBlob {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := readable(s, id); err != nil {
			r.Unread[id] = err
		}
	}
	if len(r.Unread) == 0 {
		return nil, nil
	}
	known, err := KnownLost(s)
	if err != nil {
		return nil, err
	}
	l := &lossLister{ctx: ctx, store: s, known: known, unread: r.Unread, below: map[gitstore.ID][]lostAt{}, at: map[lossKey]int{}, has: map[gitstore.ID]bool{}}
	return l.all()
}

// readable reads a blob to its end.
func readable(s *shadow.Store, id gitstore.ID) error {
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
	store  *shadow.Store
	unread map[gitstore.ID]error
	known  map[gitstore.ID]bool
	below  map[gitstore.ID][]lostAt // by tree
	at     map[lossKey]int
	has    map[gitstore.ID]bool // by what is found
	found  []Loss
}

type lossKey struct {
	id      gitstore.ID
	mission string
	path    string
	record  bool
	remote  string
}

// lostAt is an object that can't be read, by its path below a tree.
type lostAt struct {
	path string
	id   gitstore.ID
}

func (l *lossLister) all() ([]Loss, error) {
	list, err := l.store.Refs("")
	if err != nil {
		return nil, err
	}
	seen := map[gitstore.ID]bool{}
	// What this home's missions have too is theirs: what was fetched comes after them.
	for _, kinds := range [][]gitstore.RefKind{{gitstore.RefAgent, gitstore.RefTrashAgent, gitstore.RefPin}, {gitstore.RefFetchedAgent}} {
		for _, ref := range list.Refs {
			if !slices.Contains(kinds, ref.Name.Kind()) {
				continue
			}
			if err := l.history(ref, seen); err != nil {
				return nil, err
			}
		}
	}
	for _, kind := range []gitstore.RefKind{gitstore.RefRecord, gitstore.RefTrashRecord, gitstore.RefFetchedRecord} {
		for _, ref := range list.Refs {
			if ref.Name.Kind() != kind {
				continue
			}
			if err := l.records(ref); err != nil {
				return nil, err
			}
		}
	}
	for id, err := range l.unread {
		if !l.has[id] {
			l.add(lossKey{id: id}, gitstore.ID{}, err)
		}
	}
	return l.found, nil
}

// records goes through the records that a ref leads to, for what no snapshot names. It tells
// of one that was fetched whose it is.
func (l *lossLister) records(ref gitstore.Ref) error {
	note := func(id gitstore.ID, path string, err error) {
		key := lossKey{id: id}
		if remote := ref.Name.Remote(); remote != "" {
			key = lossKey{id, ref.Name.Mission(), path, true, remote}
		}
		if !l.has[id] {
			l.add(key, gitstore.ID{}, err)
		}
	}
	for record, err := range l.store.History(ref.ID, shadow.HistoryOptions{}) {
		if err != nil {
			var object *gitstore.ObjectError
			if errors.As(err, &object) && l.unread[object.ID] != nil {
				note(object.ID, "", object)
			}
			break // what is before it is out of reach
		}
		for _, lost := range l.in(record.Tree) {
			note(lost.id, lost.path, l.unread[lost.id])
		}
	}
	return l.ctx.Err()
}

// history goes through the snapshots that a ref leads to, each once.
func (l *lossLister) history(ref gitstore.Ref, seen map[gitstore.ID]bool) error {
	remote := ref.Name.Remote()
	for snap, err := range l.store.Snapshots(ref.ID, shadow.HistoryOptions{}) {
		if err != nil {
			var object *gitstore.ObjectError
			if errors.As(err, &object) && l.unread[object.ID] != nil {
				l.add(lossKey{id: object.ID, mission: ref.Name.Mission(), remote: remote}, gitstore.ID{}, object)
			}
			return l.ctx.Err() // what is before it is out of reach
		}
		if seen[snap.ID] {
			return l.ctx.Err()
		}
		seen[snap.ID] = true
		for _, lost := range l.in(snap.Tree) {
			l.add(lossKey{lost.id, snap.Mission, lost.path, false, remote}, snap.ID, l.unread[lost.id])
		}
		record, err := l.store.Commit(snap.Record)
		if err != nil {
			l.add(lossKey{snap.Record, snap.Mission, "", true, remote}, snap.ID, err)
			continue
		}
		for _, lost := range l.in(record.Tree) {
			l.add(lossKey{lost.id, snap.Mission, lost.path, true, remote}, snap.ID, l.unread[lost.id])
		}
	}
	return l.ctx.Err()
}

// in lists what can't be read of a tree.
func (l *lossLister) in(tree gitstore.ID) []lostAt {
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

func (l *lossLister) add(key lossKey, snapshot gitstore.ID, err error) {
	i, ok := l.at[key]
	if !ok {
		i = len(l.found)
		l.at[key], l.has[key.id] = i, true
		l.found = append(l.found, Loss{ID: key.id, Err: err, Mission: key.mission, Path: key.path, Record: key.record, Known: l.known[key.id], Remote: key.remote})
	}
	if !snapshot.IsZero() {
		l.found[i].Snapshots = append(l.found[i].Snapshots, snapshot)
	}
}
