package shadow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/objects"
)

const (
	// looseObjects and looseBytes bound what a Batch keeps in memory and stores
	// as loose objects; above, it writes one pack. Loose objects win below
	// some 32 objects, and do not fill the repository with packs.
	looseObjects = 32
	looseBytes   = 4 << 20
	// streamedSize is the size from which a blob is deflated as it is read,
	// instead of in memory.
	streamedSize = 1 << 20
)

// ErrBatchFailed is returned by a Batch after one of its writes failed.
var ErrBatchFailed = errors.New("an earlier write of this batch failed")

// Batch collects new objects and makes them durable together. Objects already
// stored, or given twice, are not written again. Nothing is visible or durable
// before Flush; ids are known at once.
//
// Its methods are safe for concurrent use; hashing and compressing run in the
// callers' goroutines. The caller ends with Discard, always.
type Batch struct {
	store *Store

	mu      sync.Mutex
	written map[gitstore.ID]struct{}
	pending []pendingObject
	bytes   int
	pack    *objects.PackWriter
	failed  error
	relied  Relied // what was found, and not written
	fans    objects.Fans
}

type pendingObject struct {
	kind gitstore.ObjectType
	id   gitstore.ID
	data []byte
}

// NewBatch starts a batch.
func (s *Store) NewBatch() *Batch {
	return &Batch{store: s, written: make(map[gitstore.ID]struct{})}
}

// Blob adds the content of a file or the target of a link.
func (b *Batch) Blob(data []byte) (gitstore.ID, error) { return b.Write(gitstore.TypeBlob, data) }

// Tree adds a tree. The entries are put in Git's order in place; names that are
// no single component, are "." or "..", ".git" in any disguise, or double are
// refused. The empty tree may be written.
func (b *Batch) Tree(entries []gitstore.TreeEntry) (gitstore.ID, error) {
	gitstore.SortEntries(entries)
	data, err := gitstore.EncodeTree(entries)
	if err != nil {
		return gitstore.ID{}, err
	}
	return b.Write(gitstore.TypeTree, data)
}

// Commit adds a commit; its ID field is ignored. Names and addresses are freed
// of what would break a header.
func (b *Batch) Commit(c *gitstore.Commit) (gitstore.ID, error) {
	data, err := gitstore.EncodeCommit(c)
	if err != nil {
		return gitstore.ID{}, err
	}
	return b.Write(gitstore.TypeCommit, data)
}

// Write adds an object given as Git stores it, without header. It does not keep
// data. What an object refers to is not looked at; see ProveTree.
func (b *Batch) Write(t gitstore.ObjectType, data []byte) (gitstore.ID, error) {
	id := gitstore.HashObject(t, data)
	if have, err := b.have(id); have || err != nil {
		return id, err
	}
	b.mu.Lock()
	if b.pack == nil && len(b.pending) < looseObjects && b.bytes+len(data) <= looseBytes {
		defer b.mu.Unlock()
		if !b.mark(id) {
			return id, nil
		}
		b.pending = append(b.pending, pendingObject{t, id, append([]byte(nil), data...)})
		b.bytes += len(data)
		return id, nil
	}
	b.mu.Unlock()
	return id, objects.Deflating(data, func(deflated io.WriterTo) error {
		return b.add(t, id, int64(len(data)), deflated)
	})
}

// add puts an object into the pack, unless it is there by now.
func (b *Batch) add(t gitstore.ObjectType, id gitstore.ID, size int64, deflated io.WriterTo) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mark(id) {
		return nil
	}
	return b.fail(b.toPack(func(p *objects.PackWriter) error { return p.Add(t, id, size, deflated) }))
}

// BlobFrom adds a blob read from r, which must give exactly size bytes and then
// io.EOF, else nothing is stored and the error is ErrSizeChanged. Memory used
// does not grow with size.
func (b *Batch) BlobFrom(r io.Reader, size int64) (gitstore.ID, error) {
	if size < streamedSize {
		data := make([]byte, size)
		if err := gitstore.ReadExactly(r, data); err != nil {
			return gitstore.ID{}, err
		}
		return b.Blob(data)
	}
	if err := b.usable(); err != nil {
		return gitstore.ID{}, err
	}
	sp, err := objects.NewSpool(b.store.PackDir())
	if err != nil {
		return gitstore.ID{}, b.failing(err)
	}
	defer sp.Discard()
	sum := gitstore.NewHasher(gitstore.TypeBlob, size)
	src := &gitstore.ExactReader{R: r, Left: size}
	err = objects.DeflateFrom(sp, io.TeeReader(src, sum))
	if src.Err != nil {
		return gitstore.ID{}, src.Err // of what was read, not of the batch
	}
	if err != nil {
		return gitstore.ID{}, b.failing(err)
	}
	id := gitstore.ID(sum.Sum(nil))
	if have, err := b.have(id); have || err != nil {
		return id, err
	}
	return id, b.add(gitstore.TypeBlob, id, size, sp)
}

// usable returns the error that an earlier write of the batch failed with.
func (b *Batch) usable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return fmt.Errorf("%w: %w", ErrBatchFailed, b.failed)
	}
	return nil
}

// failing is fail for a caller that does not hold b.mu.
func (b *Batch) failing(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fail(err)
}

// have reports whether id needs no writing.
func (b *Batch) have(id gitstore.ID) (bool, error) {
	b.mu.Lock()
	_, ok := b.written[id]
	failed, large := b.failed, b.pack != nil
	b.mu.Unlock()
	if failed != nil {
		return false, fmt.Errorf("%w: %w", ErrBatchFailed, failed)
	}
	if ok {
		return true, nil
	}
	var absent *objects.Fans
	if large {
		absent = &b.fans
	}
	if !b.store.trusts(id) {
		return false, nil
	}
	at, err := b.store.LocateOne(id, absent)
	if err != nil || at.Nowhere() {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relied.OnAll([]objects.Location{at}, []gitstore.ID{id})
	return true, nil
}

// mark needs b.mu; it reports whether id was new.
func (b *Batch) mark(id gitstore.ID) bool {
	if _, ok := b.written[id]; ok {
		return false
	}
	b.written[id] = struct{}{}
	return true
}

func (b *Batch) fail(err error) error {
	if err != nil && b.failed == nil {
		b.failed = err
	}
	return err
}

// toPack runs fn on the batch's pack, which it begins with what was pending.
func (b *Batch) toPack(fn func(*objects.PackWriter) error) error {
	if b.failed != nil {
		return fmt.Errorf("%w: %w", ErrBatchFailed, b.failed)
	}
	if b.pack == nil {
		p, err := objects.NewPack(b.store.PackDir(), b.store.sync)
		if err != nil {
			return err
		}
		b.pack = p
		for _, o := range b.pending {
			err := objects.Deflating(o.data, func(deflated io.WriterTo) error {
				return p.Add(o.kind, o.id, int64(len(o.data)), deflated)
			})
			if err != nil {
				return err
			}
		}
		b.pending, b.bytes = nil, 0
	}
	return fn(b.pack)
}

// Flush makes every object of the batch durable and readable through the Store:
// after a power cut, nothing that was flushed is missing once the repository has
// been opened again. It costs, whatever the number of objects,
//
//   - up to 32 objects and 4 MiB: one fdatasync of a segment that holds them
//     (and, the first time, one fsync of the segment's directory), after which
//     they are written as loose objects without syncing; Open replays segments
//     of an earlier boot;
//   - above: three fsyncs, of one pack, its index and their directory.
//
// A durable ref update adds two. Killed at any instant, Flush leaves whole
// objects or files named tmp_*, which Sweep removes. The batch can be used again
// afterwards.
func (b *Batch) Flush(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return fmt.Errorf("%w: %w", ErrBatchFailed, b.failed)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := b.fail(b.flush())
	if err == nil {
		b.store.wrote(b.written)
	}
	return err
}

func (b *Batch) flush() error {
	packsNamed := false
	switch {
	case b.pack != nil:
		pack := b.pack
		b.pack = nil
		if err := pack.Finish(); err != nil {
			pack.Discard()
			return fmt.Errorf("write pack: %w", err)
		}
		packsNamed = true
		if err := b.store.Rescan(); err != nil {
			return err
		}
		b.store.syncedPack(pack.Base)
	case len(b.pending) > 0:
		if err := b.store.writeLoose(b.pending); err != nil {
			return fmt.Errorf("write objects: %w", err)
		}
		for _, o := range b.pending {
			if o.kind != gitstore.TypeBlob { // what the next snapshot begins from
				b.store.Remember(o.id, o.kind, o.data)
			}
		}
		b.pending, b.bytes = nil, 0
	}
	found := b.relied
	b.relied = Relied{}
	if b.store.IsScratch() {
		return nil
	}
	return b.store.Secure(&found, packsNamed)
}

// Discard drops what was not flushed. It may be called any number of times.
func (b *Batch) Discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pack != nil {
		b.pack.Discard()
		b.pack = nil
	}
	b.pending, b.bytes = nil, 0
	if b.failed == nil {
		b.failed = errors.New("the batch was discarded")
	}
}
