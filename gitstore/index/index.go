package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// format is the version of what is stored; an index of another one is made
// anew.
const format = "1"

// Keys begin with what they are: one of the format, one of the user's.
const (
	formatKey = "format"
	entries   = "e/"
)

// Index is an open cache. It is safe for concurrent use. One process at a time
// can have it open.
type Index struct {
	dir string
	at  os.FileInfo

	mu sync.RWMutex
	db *badger.DB // nil when closed
}

// ErrInUse is returned by Open when another process has the index open.
var ErrInUse = errors.New("another process has the index open")

// errFormat marks an index of another format.
var errFormat = errors.New("of another format")

// busyPatience is how long Open waits for another process to let go: a child that
// is just being started holds a copy of the lock for a moment.
const busyPatience = 500 * time.Millisecond

// Open opens the index kept in dir, making it if it is missing. One that is
// damaged, or of another format, is deleted and made anew: rebuilt then says
// why.
func Open(dir string) (x *Index, rebuilt, err error) {
	x, err = open(dir)
	for deadline := time.Now().Add(busyPatience); errors.Is(err, ErrInUse) && time.Now().Before(deadline); x, err = open(dir) {
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil || errors.Is(err, ErrInUse) {
		return x, nil, err
	}
	rebuilt = fmt.Errorf("the index in %s was %w", dir, err)
	if err := empty(dir); err != nil {
		return nil, rebuilt, fmt.Errorf("delete the index: %w", err)
	}
	x, err = open(dir)
	return x, rebuilt, err
}

// tuned are options for a cache of some megabytes at most: the defaults take
// 86 MB of memory and 2.2 GB of apparent disk. Badger's own compactors would wake
// the process 40 times a second, for ever: Tidy does their work. What they would
// be waited for is never too much.
func tuned(dir string) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(nil).WithMetricsEnabled(false).WithDetectConflicts(false).
		WithMemTableSize(1 << 20).WithNumMemtables(2).WithValueThreshold(64 << 10).WithValueLogFileSize(2 << 20).
		WithBlockCacheSize(0).WithCompression(options.None).WithChecksumVerificationMode(options.OnBlockRead).
		WithNumCompactors(0).WithNumLevelZeroTablesStall(math.MaxInt32).WithNumGoroutines(2)
}

// opening marks an index that is being opened. Badger panics on some damage in
// goroutines of its own, which ends the process: the next one must not try
// again.
const opening = "OPENING"

// makeDir makes an index's directory, and nothing above it: a home that was moved
// away is not to be there again.
func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// open opens what is there. Badger panics on some damage.
func open(dir string) (x *Index, err error) {
	defer func() {
		if p := recover(); p != nil {
			x, err = nil, fmt.Errorf("damaged: %v", p)
		}
	}()
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	mark := filepath.Join(dir, opening)
	if _, err := os.Lstat(mark); err == nil {
		return nil, fmt.Errorf("damaged: a process ended while it opened it")
	}
	fresh := !Exists(dir)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return nil, err
	}
	failpoint.Hit("index.opening")
	db, err := badger.Open(tuned(dir))
	if inUse(err) {
		_ = os.Remove(mark)
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	failpoint.Hit("index.opened")
	x = &Index{dir: dir, db: db}
	if fresh {
		err = x.sign()
	} else {
		err = x.checkFormat()
	}
	if err == nil {
		err = os.Remove(mark)
	}
	if err == nil {
		x.at, err = os.Stat(dir)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return x, nil
}

// inUse tells that another process has the index open. Badger gives it no type
// and wraps no cause (dir_unix.go of v4): only the text says it.
func inUse(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Cannot acquire directory lock")
}

// Exists reports whether dir holds an index.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, badger.ManifestFilename))
	return err == nil
}

// empty removes what is in dir, not dir itself, which others may watch.
func empty(dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

func (x *Index) sign() error {
	return x.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(formatKey), []byte(format)) })
}

func (x *Index) checkFormat() error {
	return x.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(formatKey))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return fmt.Errorf("%w (none)", errFormat)
		}
		if err != nil {
			return fmt.Errorf("damaged: %w", err)
		}
		return item.Value(func(v []byte) error {
			if string(v) != format {
				return fmt.Errorf("%w (%.20q)", errFormat, v)
			}
			return nil
		})
	})
}

// Lost reports whether the index's files were deleted or replaced. It is then
// to be closed and opened again.
func (x *Index) Lost() bool {
	now, err := os.Stat(x.dir)
	return err != nil || !os.SameFile(now, x.at) || !Exists(x.dir)
}

// Close writes what is outstanding and closes the index. A closed index misses
// everything. One that was lost leaves nothing behind.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db == nil {
		return nil
	}
	db := x.db
	x.db = nil
	lost := x.Lost()
	if lost {
		// Badger tries for ever to write into a directory that is gone.
		if err := makeDir(x.dir); err != nil {
			return err
		}
	}
	if lost {
		_ = db.Close() // there is nothing left to lose
		return empty(x.dir)
	}
	return errors.Join(tidy(db), db.Close())
}

// mostTables is how many tables of newest entries, of 1 MiB at most, there may
// be after Tidy: each is asked for a key until one has it. It is also what Badger
// deems worth merging.
const mostTables = 5

// Tidy merges what was put since the last time, if it is much. It is for a moment
// when nobody waits, one call at a time; Close does it too. An index that is
// never tidied only becomes slow.
func (x *Index) Tidy() error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.db == nil {
		return nil
	}
	return tidy(x.db)
}

func tidy(db *badger.DB) error {
	if db.Levels()[0].NumTables <= mostTables {
		return nil
	}
	if err := db.Flatten(1); err != nil {
		return fmt.Errorf("tidy the index: %w", err)
	}
	return nil
}

// Get returns the entry of a key.
func (x *Index) Get(key string) (json.RawMessage, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.db == nil {
		return nil, false
	}
	var value []byte
	err := x.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(entries + key))
		if err != nil {
			return err
		}
		value, err = item.ValueCopy(nil)
		return err
	})
	return value, err == nil
}

// mostValue is how long an entry may be, in bytes: longer ones would go to
// files that only shrink when asked to. They are not kept.
const mostValue = 60 << 10

// Put keeps an entry, or does not: it is a cache.
func (x *Index) Put(key string, value json.RawMessage) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.db == nil || len(value) > mostValue {
		return
	}
	// An entry that is not kept is read from the refs again.
	_ = x.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(entries+key), value) })
}

// Each calls fn for every entry, in key order, until it returns false. Entries
// put meanwhile may not be seen; fn may call the Index.
func (x *Index) Each(fn func(key string, value json.RawMessage) bool) error {
	keys, err := x.keys()
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	for _, key := range keys {
		if value, ok := x.Get(key); ok && !fn(key, value) {
			return nil
		}
	}
	return nil
}

func (x *Index) keys() (keys []string, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.db == nil {
		return nil, nil
	}
	err = x.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = []byte(entries), false
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			keys = append(keys, string(it.Item().Key()[len(entries):]))
		}
		return nil
	})
	return keys, err
}

// Reset empties the cache.
func (x *Index) Reset() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db == nil {
		return nil
	}
	if err := errors.Join(x.db.DropAll(), x.sign()); err != nil {
		return fmt.Errorf("empty the index: %w", err)
	}
	return nil
}
