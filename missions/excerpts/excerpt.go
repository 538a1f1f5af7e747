// Package excerpts copies missions without their conversations, for a remote or a file that
// is not to have them. A copy has the files of each snapshot, and of its record what a reader
// or a fork needs of those files. No prompt, answer, command line or message is in it, nor the
// id of a commit that has one: the commits are other ones.
package excerpts

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Excerpt holds copies of a project's snapshots and records in a store of its own, which has
// what the project's store has too. One history gives the same copies each time.
type Excerpt struct {
	from    *projects.Project
	store   *shadow.Store
	batch   *shadow.Batch
	copies  map[gitstore.ID]gitstore.ID // by the commit that each is of
	sources map[gitstore.ID]gitstore.ID // by the copy
	ends    []gitstore.ID
}

// Link is how far the copies of a mission have been sent. The next ones are made on top of
// it, also when pruning has dropped what came before.
type Link struct {
	Snapshot gitstore.ID `json:"snapshot"` // the newest that was sent, as it is here
	Record   gitstore.ID `json:"record"`
	// The copies of the two, as Git stores commits.
	SnapshotCopy []byte `json:"snapshot_copy"`
	RecordCopy   []byte `json:"record_copy"`
}

// Has reports whether two commits are the copies of a link.
func (l Link) Has(snapshot, record gitstore.ID) bool {
	return gitstore.HashObject(gitstore.TypeCommit, l.SnapshotCopy) == snapshot && gitstore.HashObject(gitstore.TypeCommit, l.RecordCopy) == record
}

// New makes an Excerpt, which ends before the project is closed.
func New(p *projects.Project) (*Excerpt, error) {
	store, err := p.Store.Scratch()
	if err != nil {
		return nil, err
	}
	return &Excerpt{from: p, store: store, batch: store.NewBatch(), copies: map[gitstore.ID]gitstore.ID{}, sources: map[gitstore.ID]gitstore.ID{}}, nil
}

// Close removes the copies.
func (e *Excerpt) Close() error {
	e.batch.Discard()
	return e.store.Close()
}

// Project is the project with the copies in it, to be read.
func (e *Excerpt) Project() *projects.Project { return e.from.Over(e.store) }

// CopyOf is the copy of a commit, or the zero ID.
func (e *Excerpt) CopyOf(commit gitstore.ID) gitstore.ID { return e.copies[commit] }

// SourceOf is the commit that a copy is of, or the zero ID.
func (e *Excerpt) SourceOf(made gitstore.ID) gitstore.ID { return e.sources[made] }

// Ends are the copies before which the store has none, since they were sent.
func (e *Excerpt) Ends() []gitstore.ID { return e.ends }

// Continue has the copies of a mission go on after those that were sent.
func (e *Excerpt) Continue(l Link) error {
	for _, one := range []struct {
		commit gitstore.ID
		data   []byte
	}{{l.Record, l.RecordCopy}, {l.Snapshot, l.SnapshotCopy}} {
		if _, err := gitstore.ParseCommit(one.data); err != nil {
			return err
		}
		id, err := e.batch.Write(gitstore.TypeCommit, one.data)
		if err != nil {
			return err
		}
		e.note(one.commit, id)
		e.ends = append(e.ends, id)
	}
	return nil
}

// LinkAt is the link for copies of a snapshot and a record that were sent.
func (e *Excerpt) LinkAt(snapshot, record gitstore.ID) (l Link, err error) {
	l.Snapshot, l.Record = snapshot, record
	if _, l.SnapshotCopy, err = e.store.Object(e.copies[snapshot]); err != nil {
		return l, err
	}
	_, l.RecordCopy, err = e.store.Object(e.copies[record])
	return l, err
}

func (e *Excerpt) note(commit, made gitstore.ID) { e.copies[commit], e.sources[made] = made, commit }

// Write makes what was copied readable.
func (e *Excerpt) Write(ctx context.Context) error { return e.batch.Flush(ctx) }

// Add copies a commit with all before it: a snapshot with the records, or a record.
func (e *Excerpt) Add(ctx context.Context, tip gitstore.ID) error {
	for waiting := []gitstore.ID{tip}; len(waiting) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := waiting[len(waiting)-1]
		if !e.copies[id].IsZero() {
			waiting = waiting[:len(waiting)-1]
			continue
		}
		commit, err := e.from.Store.Commit(id)
		if err != nil {
			return err
		}
		record, notRecord := gitstore.ParseRecord(commit)
		needs := slices.Clone(commit.Parents)
		snap := gitstore.ParseSnapshot(commit)
		if notRecord != nil && !snap.Record.IsZero() {
			needs = append(needs, snap.Record)
		}
		needs = slices.DeleteFunc(needs, func(id gitstore.ID) bool { return !e.copies[id].IsZero() })
		if len(needs) > 0 {
			waiting = append(waiting, needs...)
			continue
		}
		var made gitstore.ID
		switch {
		case notRecord == nil:
			made, err = e.copyRecord(record)
		case snap.Mission != "":
			made, err = e.copySnapshot(snap)
		default:
			err = fmt.Errorf("commit %s is no snapshot and no record", id)
		}
		if err != nil {
			return err
		}
		e.note(id, made)
	}
	return nil
}

// copiesOf are the copies of a commit's parents.
func (e *Excerpt) copiesOf(parents []gitstore.ID) (list []gitstore.ID) {
	for _, id := range parents {
		list = append(list, e.copies[id])
	}
	return list
}
