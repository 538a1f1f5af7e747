package borrow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Wanted is a blob that some file is known to hold without having been read.
type Wanted struct {
	ID gitstore.ID
	// Size is that of the file in bytes, and so of the blob.
	Size int64
}

// Borrowed is what Borrow has done.
type Borrowed struct {
	// Have tells of each blob wanted whether it is stored now, and of its size.
	Have []bool
	// Packs and Loose count the packs and loose objects that are new here;
	// Copied are those of the packs that could not be linked.
	Packs, Copied, Loose int
}

// borrowAttempts is how often packs are looked for that vanish while they are
// being linked: a repack in the user's repository is under way.
const borrowAttempts = 3

// Borrow stores blobs of the user's repository without reading their content:
// packs that hold some, and loose objects, get a second name here (a hard
// link), so that whatever the user's git deletes later stays. Git never writes
// to an object or pack that has its name, so what is linked does not change. Of
// a pack the .pack, .idx and .rev are linked, never .keep, .promisor, .bitmap,
// .mtimes or a multi-pack-index, and a .keep of our own is put beside it: no
// repack touches it, and Unverified says that its content is not proved yet.
// Where a link cannot be made (another file system, protected_hardlinks), a
// pack is copied if it is no larger than what is wanted of it.
//
// Presence and size of every blob are looked up in this store afterwards; what
// is not here then is to be read from its file. Blobs that were stored before
// count as well, from being nil too. What was borrowed is durable when Borrow
// returns. An error is one of this store; what is wrong with the user's only
// means that less is had.
func Borrow(ctx context.Context, s *shadow.Store, from *objects.Reader, wanted []Wanted) (Borrowed, error) {
	return (&borrowing{store: s, from: from, ctx: ctx, link: os.Link}).borrow(wanted)
}

func (b *borrowing) borrow(wanted []Wanted) (Borrowed, error) {
	s := b.store
	b.collect(wanted)
	at := s.Locate(b.ids)
	var err error
	if b.from != nil && slices.ContainsFunc(at, objects.Location.Nowhere) {
		at, err = b.bring(at)
	}
	if err == nil {
		err = b.sync(at)
	}
	if err != nil {
		return Borrowed{}, fmt.Errorf("borrow for %s: %w", s.Dir(), err)
	}
	b.done.Have = make([]bool, len(wanted))
	return b.done, b.compare(at, wanted)
}

// borrowing is one Borrow.
type borrowing struct {
	store *shadow.Store
	from  *objects.Reader
	ctx   context.Context
	link  func(from, to string) error // os.Link, but for tests

	ids   []gitstore.ID // sorted, each once
	sizes []int64       // of ids
	of    []int         // of each blob wanted, its place in ids

	tried map[string]bool // packs that are linked, or won't be
	held  []*os.File      // copies that wait for their index
	fresh []string        // files here whose content may not be on the disk yet
	loose []gitstore.ID
	notes []string        // lists of loose objects
	dirty bool            // names were made in the pack directory
	own   map[string]bool // packs that were brought
	done  Borrowed
}

func (b *borrowing) collect(wanted []Wanted) {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return wanted[i].ID.Compare(wanted[j].ID) })
	b.of = make([]int, len(wanted))
	b.tried, b.own = map[string]bool{}, map[string]bool{}
	for n, i := range order {
		if n == 0 || wanted[i].ID != wanted[order[n-1]].ID {
			b.ids = append(b.ids, wanted[i].ID)
			b.sizes = append(b.sizes, wanted[i].Size)
		}
		b.of[i] = len(b.ids) - 1
	}
}

// bring links what is missing, and tells where everything is then.
func (b *borrowing) bring(at []objects.Location) ([]objects.Location, error) {
	for attempt := 0; ; attempt++ {
		again, err := b.fetch(at)
		if err != nil {
			return nil, err
		}
		if err := b.store.Rescan(); err != nil {
			return nil, err
		}
		at = b.store.Locate(b.ids)
		if !again || attempt == borrowAttempts || b.from.Rescan() != nil {
			return at, nil
		}
	}
}

// fetch links what holds the ids that are nowhere yet. It reports whether some
// vanished meanwhile.
func (b *borrowing) fetch(at []objects.Location) (again bool, err error) {
	var missing []gitstore.ID
	var sizes []int64
	for i := range at {
		if at[i].Nowhere() {
			missing, sizes = append(missing, b.ids[i]), append(sizes, b.sizes[i])
		}
	}
	worth := map[*objects.Pack]int64{}
	loose := map[gitstore.ID]string{}
	for i, l := range b.from.Locate(missing) {
		switch {
		case l.Pack != nil:
			worth[l.Pack] += sizes[i]
		case l.Loose != "":
			loose[missing[i]] = l.Loose
		}
	}
	if again, err = b.linkLoose(loose); err != nil {
		return false, err
	}
	for p, size := range worth {
		if err := b.ctx.Err(); err != nil {
			return false, err
		}
		if b.tried[p.Base] {
			continue
		}
		gone, err := b.pack(p, size)
		if err != nil {
			return false, err
		}
		b.tried[p.Base] = !gone // one of that name may come back
		again = again || gone
	}
	return again, nil
}

// linkLoose gives loose objects of the user's names here. One that can't be
// linked is not copied: reading its file costs no more.
func (b *borrowing) linkLoose(paths map[gitstore.ID]string) (again bool, err error) {
	if len(paths) == 0 {
		return false, nil
	}
	if err := b.noteLoose(paths); err != nil {
		return false, err
	}
	for id, path := range paths {
		gone, err := b.linkOne(id, path)
		if err != nil {
			return false, err
		}
		again = again || gone
	}
	return again, b.ctx.Err()
}

func (b *borrowing) linkOne(id gitstore.ID, path string) (gone bool, err error) {
	own := b.store.Own().LoosePath(id)
	if err := os.Mkdir(filepath.Dir(own), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	failpoint.Hit("borrow.loose")
	err = b.link(path, own)
	switch {
	case err == nil:
		b.loose = append(b.loose, id)
		b.done.Loose++
		return false, nil
	case errors.Is(err, fs.ErrExist), noLink(err):
		return false, nil
	}
	return errors.Is(err, fs.ErrNotExist), gitstore.Ignoring(err, fs.ErrNotExist)
}

// compare looks for the size of each blob that is here. What is not of the size
// that its file has, or can't be read, is distrusted: the file may turn out to
// hold just that blob, and then it is to be written.
func (b *borrowing) compare(at []objects.Location, wanted []Wanted) error {
	const workers = 2
	right := make([]bool, len(at))
	broken := make([]bool, len(at))
	var wait sync.WaitGroup
	for n := range workers {
		wait.Go(func() {
			for i := n; i < len(at) && b.ctx.Err() == nil; i += workers {
				if at[i].Nowhere() {
					continue
				}
				size, err := b.store.BlobSize(at[i])
				right[i] = err == nil && size == b.sizes[i]
				broken[i] = errors.Is(err, gitstore.ErrDamaged)
			}
		})
	}
	wait.Wait()
	if err := b.ctx.Err(); err != nil {
		return err
	}
	for i, w := range wanted {
		k := b.of[i]
		b.done.Have[i] = right[k] && w.Size == b.sizes[k]
	}
	for i := range at {
		if right[i] || at[i].Nowhere() {
			continue
		}
		b.store.Distrust(b.ids[i])
		if broken[i] && slices.Contains(b.loose, b.ids[i]) {
			// Our name of the user's torn file; the user's stays.
			if err := os.Remove(at[i].Loose); err != nil {
				return err
			}
		}
	}
	return nil
}
