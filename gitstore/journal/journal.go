package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/uuid"
)

// ErrNewer is wrapped in a DamagedError when an entry was written by a newer
// version of Umbra: it is not damaged at all, but cannot be read here.
var ErrNewer = errors.New("written by a newer version of umbra")

// ErrBadID is returned for an operation's or mission's id that is not a UUID
// in its canonical form.
var ErrBadID = errors.New("not a UUID")

// DamagedError is an entry that cannot be read. Nothing deletes it; MoveAside
// takes it out of the way when people ask for that.
type DamagedError struct {
	Path string
	Err  error
	// Operation is what it was about, if that can be read and only its phase can't;
	// else nil.
	Operation *Operation
}

func (e *DamagedError) Error() string { return fmt.Sprintf("journal entry %s: %v", e.Path, e.Err) }

// Damaged is true.
func (e *DamagedError) Damaged() bool { return true }

// Unwrap gives the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

const (
	requestsDir = "requests"
	liveDir     = "live"
	damagedDir  = "damaged"
)

// Journal is the directory of operations in flight, requests, and live states.
// Any number of processes may have it open; its methods are safe for
// concurrent use.
type Journal struct {
	dir      string
	now      func() time.Time
	patience time.Duration // with a log that another process has locked
	chunks   sync.Pool
	changes  atomic.Uint64 // of states of live missions, by this process
}

// Open makes the journal of the home if need be. now is the clock.
func Open(home string, now func() time.Time) (*Journal, error) {
	j := &Journal{dir: filepath.Join(home, "journal"), now: now, patience: 5 * time.Second}
	if err := mkdirs("", j.dir, true); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// Dir is the journal's directory, for messages and for its device.
func (j *Journal) Dir() string { return j.dir }

// Begin opens an operation in phase Staging: when it returns, the document,
// which is stored as JSON, is durable. The id is a new UUID of the caller's;
// one that is in the journal already is fs.ErrExist.
func (j *Journal) Begin(id, kind string, doc any) (*Operation, error) {
	if !uuid.Is(id) {
		return nil, fmt.Errorf("begin %s %q: %w", kind, id, ErrBadID)
	}
	o, err := j.begin(id, kind, doc)
	if err != nil {
		return nil, fmt.Errorf("begin %s %s: %w", kind, id, err)
	}
	return o, nil
}

func (j *Journal) begin(id, kind string, doc any) (_ *Operation, err error) {
	path := filepath.Join(j.dir, id)
	if _, err := os.Lstat(path); err == nil {
		return nil, fs.ErrExist
	}
	temp, err := j.makeEntry()
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, unclaim(temp), temp.Close())
	}()
	now := j.now()
	o := &Operation{id: id, kind: kind, began: now, phase: Staging, since: now, path: temp.Name(), journal: j}
	if err := j.fillEntry(o, doc); err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp.Name()))
	}
	failpoint.Hit("journal.entry.made")
	if err := renameNewDirectory(temp.Name(), path); err != nil {
		return nil, errors.Join(bare(err), os.RemoveAll(temp.Name()))
	}
	failpoint.Hit("journal.entry.named")
	o.path = path
	return o, syncDir(j.dir)
}

// makeEntry makes an entry under a temporary name, claimed like a temporary
// file.
func (j *Journal) makeEntry() (*os.File, error) {
	for {
		path, err := os.MkdirTemp(j.dir, tempPrefix)
		if err != nil {
			return nil, err
		}
		dir, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		is, err := claimed(dir, path)
		if is {
			return dir, nil
		}
		dir.Close()
		if err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
	}
}

func (j *Journal) fillEntry(o *Operation, doc any) error {
	for _, name := range []string{stagedDir, displacedDir} {
		if err := os.Mkdir(filepath.Join(o.path, name), 0o700); err != nil {
			return err
		}
	}
	document, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	header, err := o.header(document)
	if err != nil {
		return err
	}
	first := phaseLine{phase: Staging, at: o.began}.encode()
	o.document, o.length = document, int64(len(first))
	// Nobody sees the entry yet, so that plain files will do.
	if err := writeNew(filepath.Join(o.path, operationFile), header); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(o.path, phasesFile), first); err != nil {
		return err
	}
	return syncDir(o.path)
}

func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// renameNewDirectory relies on rename refusing a directory that is not empty,
// which every entry is from its first moment.
func renameNewDirectory(from, to string) error {
	err := os.Rename(from, to)
	if _, there := os.Lstat(from); err != nil && there == nil {
		if _, taken := os.Lstat(to); taken == nil {
			return fs.ErrExist
		}
	}
	return err
}

// Load reads one operation. An unknown id is fs.ErrNotExist, an entry that
// cannot be read a *DamagedError.
func (j *Journal) Load(id string) (*Operation, error) {
	if !uuid.Is(id) {
		return nil, fmt.Errorf("operation %q: %w", id, ErrBadID)
	}
	o := &Operation{id: id, path: filepath.Join(j.dir, id), journal: j}
	if _, err := os.Lstat(o.path); err != nil {
		return nil, err
	}
	if err := o.readHeader(); err != nil {
		return nil, j.damage(o.path, err)
	}
	line, length, err := readPhases(filepath.Join(o.path, phasesFile))
	if err != nil {
		err = j.damage(o.path, err)
		if damaged, ok := errors.AsType[*DamagedError](err); ok {
			damaged.Operation = o
		}
		return nil, err
	}
	o.phase, o.since, o.length = line.phase, line.at, length
	return o, nil
}

// damage tells an entry that was dropped while it was read from a bad one.
func (j *Journal) damage(path string, cause error) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &DamagedError{Path: path, Err: cause}
}

// List returns the operations of the journal by id, finished ones whose
// quarantine is kept among them, and apart from them what cannot be read.
func (j *Journal) List() ([]*Operation, []*DamagedError, error) {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list journal: %w", err)
	}
	var operations []*Operation
	var damaged []*DamagedError
	for _, entry := range entries {
		name := entry.Name()
		if IsTemp(name) || name == requestsDir || name == liveDir || name == damagedDir {
			continue
		}
		if !uuid.Is(name) {
			damaged = append(damaged, &DamagedError{Path: filepath.Join(j.dir, name), Err: ErrBadID})
			continue
		}
		o, err := j.Load(name)
		var bad *DamagedError
		switch {
		case err == nil:
			operations = append(operations, o)
		case errors.As(err, &bad):
			damaged = append(damaged, bad)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, fmt.Errorf("list journal: %w", err)
		}
	}
	return operations, damaged, nil
}

// MoveAside moves a damaged entry to the journal's directory "damaged", where
// nothing looks for it and nothing deletes it, and returns its new path.
func (j *Journal) MoveAside(entry *DamagedError) (string, error) {
	relative, err := filepath.Rel(j.dir, entry.Path)
	if err != nil || !filepath.IsLocal(relative) || relative == "." {
		return "", fmt.Errorf("move aside %s: not in %s", entry.Path, j.dir)
	}
	dir := filepath.Join(j.dir, damagedDir)
	if err := mkdirs(filepath.Dir(j.dir), dir, true); err != nil {
		return "", fmt.Errorf("move aside %s: %w", entry.Path, err)
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, fmt.Sprintf("%s-%d", filepath.Base(relative), n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(entry.Path, to); err != nil {
			return "", fmt.Errorf("move aside %s: %w", entry.Path, bare(err))
		}
		return to, errors.Join(syncDir(filepath.Dir(entry.Path)), syncDir(dir))
	}
}

// Aside names what MoveAside has ever moved and is there still, and its directory.
func (j *Journal) Aside() (dir string, names []string, err error) {
	dir = filepath.Join(j.dir, damagedDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, nil, fmt.Errorf("list what was moved aside: %w", err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return dir, names, nil
}

// discard removes a directory of the journal. One rename takes it out; if the
// removal is cut short, a sweep ends it.
func (j *Journal) discard(path string) error {
	name := fmt.Sprintf("%sdropped-%016x", tempPrefix, rand.Uint64())
	doomed := filepath.Join(j.dir, name)
	if err := os.Rename(path, doomed); err != nil {
		return bare(err)
	}
	failpoint.Hit("journal.entry.dropping")
	return errors.Join(syncDir(j.dir), os.RemoveAll(doomed))
}

// Sweep removes what killed processes left half made or half removed in the
// journal (I6), and returns the paths.
func (j *Journal) Sweep() ([]string, error) {
	dirs := []string{j.dir, filepath.Join(j.dir, liveDir), filepath.Join(j.dir, requestsDir)}
	ids, err := uuidNames(j.dir, "")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		dirs = append(dirs, filepath.Join(j.dir, id))
	}
	var swept []string
	var errs []error
	for _, dir := range dirs {
		names, err := Sweep(dir)
		for _, name := range names {
			swept = append(swept, filepath.Join(dir, name))
		}
		errs = append(errs, err)
	}
	return swept, errors.Join(errs...)
}
