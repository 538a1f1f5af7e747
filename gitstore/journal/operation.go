package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

const (
	operationFile   = "operation.json"
	phasesFile      = "phases"
	lostFile        = "lost" // tells that one of the directories was
	stagedDir       = "staged"
	displacedDir    = "displaced"
	documentVersion = 1
)

// Operation is one entry of the journal. Its methods are for one goroutine,
// of the process that holds the lock of what the operation changes.
type Operation struct {
	id       string
	kind     string
	began    time.Time
	document json.RawMessage
	phase    Phase
	since    time.Time
	length   int64
	path     string
	journal  *Journal
	dropped  bool
}

// header is operation.json. Sum is the SHA-256 of id, kind and document.
type header struct {
	Version  int             `json:"version"`
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Began    time.Time       `json:"began_at"`
	Sum      string          `json:"sum"`
	Document json.RawMessage `json:"document"`
}

func (h header) sum() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", h.ID, h.Kind, h.Document))
	return hex.EncodeToString(sum[:])
}

// ID is the operation's UUID.
func (o *Operation) ID() string { return o.id }

// Kind is the verb, as given to Begin.
func (o *Operation) Kind() string { return o.kind }

// Began is when the operation began.
func (o *Operation) Began() time.Time { return o.began }

// Phase is how far the operation has come, and since when.
func (o *Operation) Phase() (Phase, time.Time) { return o.phase, o.since }

// Document decodes the operation's document into doc.
func (o *Operation) Document(doc any) error {
	if err := json.Unmarshal(o.document, doc); err != nil {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	return nil
}

// Path is the entry's directory, for messages.
func (o *Operation) Path() string { return o.path }

// StagedDir is the directory for files that the operation will put in place.
// What is in it must be made durable by the caller before phase Staged.
func (o *Operation) StagedDir() string { return filepath.Join(o.path, stagedDir) }

// DisplacedDir is the quarantine, for files that the operation took away.
func (o *Operation) DisplacedDir() string { return filepath.Join(o.path, displacedDir) }

// MakeDirs makes StagedDir and DisplacedDir again, durably, where they are gone: a
// copy of a home may be without directories that were empty. It reports whether that
// was ever needed, since what was in them is not known then. What else is there in
// the place of one is a *DamagedError.
func (o *Operation) MakeDirs() (lost bool, err error) {
	var gone []string
	for _, dir := range []string{o.StagedDir(), o.DisplacedDir()} {
		info, err := os.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			gone = append(gone, dir)
		case err != nil:
			return false, fmt.Errorf("operation %s: %w", o.id, err)
		case !info.IsDir():
			return false, &DamagedError{Path: o.path, Err: fmt.Errorf("%s is no directory", filepath.Base(dir))}
		}
	}
	mark := filepath.Join(o.path, lostFile)
	if len(gone) == 0 {
		_, err := os.Lstat(mark)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	err = writeNew(mark, nil)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil {
		err = syncDir(o.path)
	}
	for _, dir := range gone {
		if err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil {
		return false, fmt.Errorf("operation %s: %w", o.id, err)
	}
	return true, syncDir(o.path)
}

// Update replaces the document, durably and atomically.
func (o *Operation) Update(doc any) error {
	document, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	content, err := o.header(document)
	if err != nil {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	if err := WriteFile(filepath.Join(o.path, operationFile), 0o600, content); err != nil {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	o.document = document
	return nil
}

// Advance goes to another phase, or through several at once, durably, for one
// fsync: once it returns nil the last one will be found, after an error any of
// them or the one before. ErrPhase if no operation goes there from its phase.
func (o *Operation) Advance(next ...Phase) error { return o.advance(next, true) }

// AdvanceVolatile is Advance without the fsync: a killed process's successor
// finds the phase, after a power cut it may find the one before. It is for a
// phase whose loss only means that work is looked at again.
func (o *Operation) AdvanceVolatile(next Phase) error { return o.advance([]Phase{next}, false) }

func (o *Operation) advance(next []Phase, durable bool) error {
	at, now := o.phase, o.journal.now()
	var lines []byte
	for _, phase := range next {
		if !at.CanBecome(phase) {
			return phaseError(o.id, at, phase)
		}
		at = phase
		lines = append(lines, phaseLine{phase: phase, at: now}.encode()...)
	}
	length, err := appendPhases(filepath.Join(o.path, phasesFile), o.length, lines, durable)
	if err != nil {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	o.phase, o.since, o.length = at, now, length
	return nil
}

// Finish ends the operation: its staged files are removed, and its entry too
// unless something is in the quarantine. Then the entry stays, in phase Done,
// until Drop.
func (o *Operation) Finish() error {
	kept, err := os.ReadDir(o.DisplacedDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	return o.finish(len(kept) > 0)
}

// FinishKept is Finish for an operation of whose quarantine something is
// elsewhere.
func (o *Operation) FinishKept() error { return o.finish(true) }

func (o *Operation) finish(kept bool) error {
	if o.phase != Done {
		if err := o.Advance(Done); err != nil {
			return err
		}
	}
	failpoint.Hit("journal.operation.done")
	if !kept {
		return o.Drop()
	}
	if err := os.RemoveAll(o.StagedDir()); err != nil {
		return fmt.Errorf("operation %s: %w", o.id, err)
	}
	return nil
}

// Drop removes the entry of a finished operation with all that is in its
// quarantine. Whoever calls it has made sure that nothing there is needed (I8).
func (o *Operation) Drop() error {
	if o.phase != Done {
		return fmt.Errorf("drop operation %s in phase %s: %w", o.id, o.phase, ErrPhase)
	}
	if err := o.journal.discard(o.path); err != nil {
		return fmt.Errorf("drop operation %s: %w", o.id, err)
	}
	o.dropped = true
	return nil
}

// Dropped reports whether the entry was removed, by Finish or Drop.
func (o *Operation) Dropped() bool { return o.dropped }

func (o *Operation) header(document json.RawMessage) ([]byte, error) {
	h := header{Version: documentVersion, ID: o.id, Kind: o.kind, Began: o.began, Document: document}
	h.Sum = h.sum()
	content, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return append(content, '\n'), nil
}

func (o *Operation) readHeader() error {
	content, err := os.ReadFile(filepath.Join(o.path, operationFile))
	if err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(content, &h); err != nil {
		return err
	}
	if h.Version > documentVersion {
		return fmt.Errorf("version %d: %w", h.Version, ErrNewer)
	}
	if h.ID != o.id || h.Sum != h.sum() {
		return errors.New("checksum does not match")
	}
	o.kind, o.began, o.document = h.Kind, h.Began, h.Document
	return nil
}
