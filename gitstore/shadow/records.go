package shadow

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
)

// WriteRecord adds a record commit to the batch: its subject is
// "record (<kind>): <message>", its trailers the mission and the kind. At is
// raised to the parent's time if it is earlier.
func (s *Store) WriteRecord(b *Batch, r *gitstore.Record) (gitstore.ID, error) {
	if r.Kind != gitstore.KindSnapshot && r.Kind != gitstore.KindMeta {
		return gitstore.ID{}, fmt.Errorf("record of unknown kind %q", r.Kind)
	}
	at := r.At
	if len(r.Parents) > 0 {
		parent, err := s.Commit(r.Parents[0])
		if err != nil {
			return gitstore.ID{}, err
		}
		at = gitstore.NotBefore(at, parent.Committer.When)
	}
	return b.Commit(gitstore.FormatRecord(r, at))
}

// Record reads a record commit; another commit is ErrNotRecord.
func (s *Store) Record(id gitstore.ID) (*gitstore.Record, error) {
	c, err := s.Commit(id)
	if err != nil {
		return nil, err
	}
	return gitstore.ParseRecord(c)
}

// RecordFile reads one file of a record; ErrNoEntry if it has none at path.
func (s *Store) RecordFile(record gitstore.ID, path string) ([]byte, error) {
	c, err := s.Commit(record)
	if err != nil {
		return nil, err
	}
	e, err := s.Lookup(c.Tree, path)
	if err != nil {
		return nil, err
	}
	if !e.Mode.IsBlob() {
		return nil, fmt.Errorf("%s: %w", path, gitstore.ErrNoEntry)
	}
	return s.Document(e.ID)
}

// RepairedRef is a records ref that RepairRecords moved.
type RepairedRef struct {
	Ref gitstore.RefName
	// Was is what stood there, for messages.
	Was string
	Now gitstore.ID
}

// RepairRecords puts right the records refs that a kill or a power cut left
// behind their missions, in the namespaces of live and of removed missions. It
// goes on over missions that cannot be repaired and joins their errors. Call it
// when a project is opened, before anything is appended.
func (s *Store) RepairRecords(ctx context.Context) ([]RepairedRef, error) {
	var out []RepairedRef
	var errs []error
	for _, ns := range []struct {
		agent  gitstore.RefKind
		record func(string) gitstore.RefName
	}{{gitstore.RefAgent, gitstore.RecordRef}, {gitstore.RefTrashAgent, gitstore.TrashRecordRef}} {
		list, err := s.Refs(ns.agent)
		if err != nil {
			return out, err
		}
		for _, ref := range list.Refs {
			r, err := s.repairRecord(ctx, ref.ID, ns.record(ref.Name.Mission()))
			if err != nil {
				errs = append(errs, err)
			}
			if r != nil {
				out = append(out, *r)
			}
		}
	}
	return out, errors.Join(errs...)
}

// repairRecord leaves ref if the record that the snapshot tip names is its value
// or an ancestor of it, and sets it to that record otherwise.
func (s *Store) repairRecord(ctx context.Context, tip gitstore.ID, ref gitstore.RefName) (*RepairedRef, error) {
	fail := func(err error) (*RepairedRef, error) { return nil, &gitstore.RefError{Ref: string(ref), Err: err} }
	snap, err := s.Snapshot(tip)
	if err != nil {
		return fail(err)
	}
	if snap.Record.IsZero() {
		return fail(fmt.Errorf("snapshot %s names no record", tip))
	}
	have, err := s.rawRef(string(ref))
	if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) && !errors.Is(err, gitstore.ErrRefBroken) {
		return fail(err)
	}
	was := have.String()
	if errors.Is(err, gitstore.ErrRefBroken) {
		was = "a broken value"
	}
	if err == nil && s.holdsRecord(have.id, snap.Record) {
		return nil, nil
	}
	if _, err := s.Record(snap.Record); err != nil {
		return fail(err)
	}
	same := func(now refValue, err error) error {
		if err == nil && now != have {
			return &gitstore.RefMovedError{Want: was, Have: now.String()}
		}
		if errors.Is(err, gitstore.ErrRefBroken) || errors.Is(err, gitstore.ErrRefNotFound) {
			return nil
		}
		return err
	}
	if err := s.swap(ctx, ref, same, refValue{id: snap.Record}, gitstore.Durable); err != nil {
		if errors.Is(err, gitstore.ErrRefMoved) {
			// Another process appends or repairs at this moment.
			return nil, nil
		}
		return nil, err
	}
	return &RepairedRef{Ref: ref, Was: was, Now: snap.Record}, nil
}

// holdsRecord reports whether record is tip or an ancestor; a chain that cannot
// be read does not hold it.
func (s *Store) holdsRecord(tip, record gitstore.ID) bool {
	if tip == record {
		_, err := s.Record(record)
		return err == nil
	}
	// The usual damage is a ref one record behind.
	if c, err := s.Commit(record); err == nil && c.FirstParent() == tip {
		return false
	}
	ok, err := s.IsAncestor(record, tip)
	return ok && err == nil
}
