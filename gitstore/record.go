package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Record is a record commit: everything about a snapshot that is not a workspace
// file, or with KindMeta a change of mission data alone.
type Record struct {
	ID      ID
	Tree    ID
	Parents []ID
	Author  Signature
	At      time.Time

	Kind    RecordKind
	Mission string
	// Message is one line for people.
	Message string
}

// RecordKind says what a record belongs to.
type RecordKind string

const (
	// KindSnapshot records belong to a snapshot, whose trailer names them.
	KindSnapshot RecordKind = "snapshot"
	// KindMeta records change mission data alone.
	KindMeta RecordKind = "meta"
)

// WriteRecord adds a record commit to the batch: its subject is
// "record (<kind>): <message>", its trailers the mission and the kind. At is
// raised to the parent's time if it is earlier.
func (s *Store) WriteRecord(b *Batch, r *Record) (ID, error) {
	if r.Kind != KindSnapshot && r.Kind != KindMeta {
		return ID{}, fmt.Errorf("record of unknown kind %q", r.Kind)
	}
	at := r.At
	if len(r.Parents) > 0 {
		parent, err := s.Commit(r.Parents[0])
		if err != nil {
			return ID{}, err
		}
		at = notBefore(at, parent.Committer.When)
	}
	author, committer := r.Author, r.Author
	committer.When = at
	return b.Commit(&Commit{Tree: r.Tree, Parents: r.Parents, Author: author, Committer: committer, Message: r.text()})
}

// text is the commit's message.
func (r *Record) text() string {
	text := fmt.Sprintf("%s\n\n%sKind: %s\n", subject("record ("+string(r.Kind)+")", r.Message), trailerPrefix, r.Kind)
	if mission := oneLine(r.Mission); mission != "" {
		text += trailerPrefix + "Mission: " + mission + "\n"
	}
	return text
}

func notBefore(t, floor time.Time) time.Time {
	if t.Before(floor) {
		return floor
	}
	return t
}

// Record reads a record commit; another commit is ErrNotRecord.
func (s *Store) Record(id ID) (*Record, error) {
	c, err := s.Commit(id)
	if err != nil {
		return nil, err
	}
	r := &Record{ID: id, Tree: c.Tree, Parents: c.Parents, Author: c.Author, At: c.Committer.When}
	first, body, _ := strings.Cut(c.Message, "\n")
	_, r.Message, _ = strings.Cut(first, ": ")
	for _, t := range parseTrailers(body) {
		switch t.key {
		case "Kind":
			r.Kind = RecordKind(t.value)
		case "Mission":
			r.Mission = t.value
		}
	}
	if r.Kind != KindSnapshot && r.Kind != KindMeta {
		return nil, AboutObject(id, ErrNotRecord)
	}
	return r, nil
}

// RecordFile reads one file of a record; ErrNoEntry if it has none at path.
func (s *Store) RecordFile(record ID, path string) ([]byte, error) {
	c, err := s.Commit(record)
	if err != nil {
		return nil, err
	}
	e, err := s.Lookup(c.Tree, path)
	if err != nil {
		return nil, err
	}
	if !e.Mode.IsBlob() {
		return nil, fmt.Errorf("%s: %w", path, ErrNoEntry)
	}
	return s.Document(e.ID)
}

// Document is Blob for what records hold, which is read again at each snapshot.
func (s *Store) Document(id ID) ([]byte, error) {
	data, err := s.recalled(id, TypeBlob)
	return slices.Clone(data), err
}

// RepairedRef is a records ref that RepairRecords moved.
type RepairedRef struct {
	Ref RefName
	// Was is what stood there, for messages.
	Was string
	Now ID
}

// RepairRecords puts right the records refs that a kill or a power cut left
// behind their missions, in the namespaces of live and of removed missions. It
// goes on over missions that cannot be repaired and joins their errors. Call it
// when a project is opened, before anything is appended.
func (s *Store) RepairRecords(ctx context.Context) ([]RepairedRef, error) {
	var out []RepairedRef
	var errs []error
	for _, ns := range []struct {
		agent  RefKind
		record func(string) RefName
	}{{RefAgent, RecordRef}, {RefTrashAgent, TrashRecordRef}} {
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
func (s *Store) repairRecord(ctx context.Context, tip ID, ref RefName) (*RepairedRef, error) {
	fail := func(err error) (*RepairedRef, error) { return nil, &RefError{Ref: string(ref), Err: err} }
	snap, err := s.Snapshot(tip)
	if err != nil {
		return fail(err)
	}
	if snap.Record.IsZero() {
		return fail(fmt.Errorf("snapshot %s names no record", tip))
	}
	have, err := s.rawRef(string(ref))
	if err != nil && !errors.Is(err, ErrRefNotFound) && !errors.Is(err, ErrRefBroken) {
		return fail(err)
	}
	was := have.String()
	if errors.Is(err, ErrRefBroken) {
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
			return &RefMovedError{Want: was, Have: now.String()}
		}
		if errors.Is(err, ErrRefBroken) || errors.Is(err, ErrRefNotFound) {
			return nil
		}
		return err
	}
	if err := s.swap(ctx, ref, same, refValue{id: snap.Record}, Durable); err != nil {
		if errors.Is(err, ErrRefMoved) {
			// Another process appends or repairs at this moment.
			return nil, nil
		}
		return nil, err
	}
	return &RepairedRef{Ref: ref, Was: was, Now: snap.Record}, nil
}

// holdsRecord reports whether record is tip or an ancestor; a chain that cannot
// be read does not hold it.
func (s *Store) holdsRecord(tip, record ID) bool {
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
