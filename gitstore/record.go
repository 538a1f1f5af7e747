package gitstore

import (
	"fmt"
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

// ParseRecord reads a record commit; another commit is ErrNotRecord.
func ParseRecord(c *Commit) (*Record, error) {
	r := &Record{ID: c.ID, Tree: c.Tree, Parents: c.Parents, Author: c.Author, At: c.Committer.When}
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
		return nil, AboutObject(c.ID, ErrNotRecord)
	}
	return r, nil
}

// FormatRecord gives the commit to write for a record.
func FormatRecord(r *Record, at time.Time) *Commit {
	author, committer := r.Author, r.Author
	committer.When = at
	return &Commit{Tree: r.Tree, Parents: r.Parents, Author: author, Committer: committer, Message: r.text()}
}

// text is the commit's message.
func (r *Record) text() string {
	text := fmt.Sprintf("%s\n\n%sKind: %s\n", cutLine("record ("+string(r.Kind)+"): "+r.Message, MaxSubject), trailerPrefix, r.Kind)
	if mission := oneLine(r.Mission); mission != "" {
		text += trailerPrefix + "Mission: " + mission + "\n"
	}
	return text
}

// NotBefore is the later of two times.
func NotBefore(t, floor time.Time) time.Time {
	if t.Before(floor) {
		return floor
	}
	return t
}
