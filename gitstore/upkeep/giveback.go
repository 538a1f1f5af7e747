package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// GiveBackOptions are what GiveBack asks of its caller.
type GiveBackOptions struct {
	// Beside runs a function with the project's lock shared, Alone with the lock exclusive
	// and while no operation is in flight; else they return an error.
	Beside, Alone func(func() error) error
	// Roots are snapshots and records that are written and not published.
	Roots func() ([]gitstore.ID, error)
	// Slice is for about how long others are made to wait at a time, 0 is 20 milliseconds; Pause
	// is how long they have between two, 0 is 40.
	Slice, Pause time.Duration
}

// giving is one GiveBack.
type giving struct {
	GiveBackOptions
	ctx   context.Context
	store *shadow.Store
	held  *os.File
	stats RepackStats
	old   []string             // packs and loose objects that go, if all that is needed is elsewhere too
	gone  []hiddenPack         // what is left of those that nobody finds any more
	whole []*objects.Pack      // packs that were made here: what their objects lead to stays
	needs map[gitstore.ID]bool // what is needed and not in those, nor in packs that stay
	known map[gitstore.ID]bool // objects that snapshots taken since the pack was made need; followed
	lost  map[gitstore.ID]bool // what the user knows to be lost for good
	// unread is what of it was looked for in vain: what that leads to is not in needs.
	unread map[gitstore.ID]error
	cuts   map[gitstore.ID]gitstore.ID // where histories were cut when it was packed
}

// ErrChanged says that snapshots lead to other objects than when what stays was packed: a history
// is cut elsewhere, or a lost object is there again. What stays is packed anew by the next GiveBack.
var ErrChanged = errors.New("what snapshots lead to has changed since it was packed")

// GiveBack removes the objects that neither a ref nor a root leads to, and says how many
// bytes of the disk that gives back. Nothing else ever deletes an object.
//
// Git packs what is needed, at a low priority and in a quarantine, while snapshots are
// taken. The pack is proved, object by object, and moved here. What is older is removed then,
// in moments in which nobody else has the project, each about as long as a slice. Objects that
// snapshots taken meanwhile need are packed first. Most of them are looked at beforehand, while
// snapshots are taken. An object that is needed and can't be found anywhere, or a ref
// that can't be read, is an error, and nothing is removed; but what AcceptLost has noted is
// no reason to wait for ever, unless it comes back meanwhile. So GiveBack may be killed at any
// instant: what is needed is in a pack that stays, or in all that there was. Packs with a
// .keep stay as they are. It takes the lock of Repack. The caller keeps others from cutting
// histories while a function has the project alone: cut between two, it ends with ErrChanged, and
// the next run packs anew.
func GiveBack(ctx context.Context, s *shadow.Store, o GiveBackOptions) (bytes int64, err error) {
	held, err := awaitRepack(ctx, s)
	if err != nil {
		return 0, err
	}
	defer func() { _ = flock.Release(held) }()
	g := &giving{GiveBackOptions: o, ctx: ctx, store: s, held: held, known: map[gitstore.ID]bool{}}
	if g.Slice == 0 {
		g.Slice = 20 * time.Millisecond
	}
	if g.Pause == 0 {
		g.Pause = 40 * time.Millisecond
	}
	if g.lost, err = KnownLost(s); err != nil {
		return 0, err
	}
	if err := g.Beside(g.pack); err != nil {
		return 0, fmt.Errorf("pack what stays of %s: %w", s.Dir(), err)
	}
	failpoint.Hit("giveback.packed")
	if err := g.removeInSlices(); err != nil {
		return 0, fmt.Errorf("remove what nothing leads to of %s: %w", s.Dir(), err)
	}
	failpoint.Hit("giveback.removed")
	return g.stats.Freed, errors.Join(s.Rescan(), shadow.GaveBack(s))
}

// pack makes a pack of all that is needed now.
func (g *giving) pack() error {
	// Retired later, segments would bring back what goes.
	if _, err := g.store.RetireSegments(g.ctx); err != nil {
		return err
	}
	failpoint.Hit("giveback.retired")
	if err := clearQuarantines(g.store); err != nil { // of a run that was cut off
		return err
	}
	var swept SweepStats // what one that was cut off had hidden, or was about to hide
	if err := errors.Join(sweepTemps(g.ctx, g.store, &swept), sweepUnindexed(g.ctx, g.store)); err != nil {
		return err
	}
	g.stats.Freed += swept.Bytes
	commits, err := g.commits()
	if err != nil {
		return err
	}
	if g.cuts, err = shadow.Boundaries(g.store); err != nil {
		return err
	}
	if g.old, err = g.ownFiles(); err != nil {
		return err
	}
	reach, err := g.store.Reach(g.ctx, commits)
	if err != nil {
		return err
	}
	for id, unread := range reach.Unread {
		if !g.lost[id] {
			return fmt.Errorf("%s can't be read: %w", id, unread)
		}
	}
	g.needs, g.unread = map[gitstore.ID]bool{}, reach.Unread
	for id := range reach.Seen {
		g.needs[id] = true
	}
	args := []string{"--revs"}
	switch {
	case len(reach.Unread) > 0: // git goes past no tree that is lost
		if commits, args = g.stored(reach.Unread), nil; len(commits) == 0 {
			return g.settle()
		}
	case len(g.lost) > 0: // whatever else is missing is an error below
		args = append(args, "--missing=allow-any")
	}
	if err := g.packObjects(commits, args...); err != nil {
		return err
	}
	return g.settle()
}

// stored lists what is needed and is anywhere, but for what can't be read.
func (g *giving) stored(unread map[gitstore.ID]error) (list []gitstore.ID) {
	ids := slices.SortedFunc(maps.Keys(g.needs), gitstore.ID.Compare)
	for i, at := range g.store.Locate(ids) {
		if !at.Nowhere() && unread[ids[i]] == nil {
			list = append(list, ids[i])
		}
	}
	return list
}

// CheckWhole reports an object that refs lead to, that can't be found and of which AcceptLost
// was not called: with one, GiveBack gives nothing back.
func CheckWhole(ctx context.Context, s *shadow.Store) error {
	lost, err := KnownLost(s)
	if err != nil {
		return err
	}
	reach, err := s.Reach(ctx, nil)
	if err != nil {
		return err
	}
	for id, unread := range reach.Unread {
		if !lost[id] {
			return fmt.Errorf("%s can't be read: %w", id, unread)
		}
	}
	if err := s.Rescan(); err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(reach.Seen), gitstore.ID.Compare)
	for i, at := range s.Locate(ids) {
		if at.Nowhere() && !lost[ids[i]] {
			return fmt.Errorf("%s is needed, and can't be found", ids[i])
		}
	}
	return nil
}

// commits are what refs and roots lead to first. A ref that can't be read is an error, and
// so is a repository without any of snapshots.
func (g *giving) commits() ([]gitstore.ID, error) {
	list, err := g.store.Refs("")
	if err != nil {
		return nil, err
	}
	if len(list.Bad) > 0 {
		return nil, &list.Bad[0]
	}
	commits, err := g.Roots()
	if err != nil {
		return nil, err
	}
	missions := false
	for _, ref := range list.Refs {
		commits = append(commits, ref.ID)
		switch ref.Name.Kind() {
		case gitstore.RefAgent, gitstore.RefTrashAgent, gitstore.RefFetchedAgent, gitstore.RefPin:
			missions = true // the others stay as long as these do
		}
	}
	if !missions {
		return nil, errors.New("it has no refs of snapshots")
	}
	slices.SortFunc(commits, gitstore.ID.Compare)
	return slices.Compact(commits), nil
}

// ownFiles lists the packs without a .keep, by their names without suffix, and the files of
// loose objects.
func (g *giving) ownFiles() (files []string, err error) {
	if err := g.store.Rescan(); err != nil {
		return nil, err
	}
	for _, p := range g.store.Own().Packs {
		if !p.Kept() && p.Broken == nil {
			files = append(files, p.Base)
		}
	}
	root := filepath.Join(g.store.Dir(), "objects")
	dirs, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if len(dir.Name()) != 2 || !dir.IsDir() {
			continue
		}
		names, err := os.ReadDir(filepath.Join(root, dir.Name()))
		if err != nil {
			return nil, err
		}
		for _, e := range names {
			if id, err := gitstore.ParseID(dir.Name() + e.Name()); err == nil {
				files = append(files, g.store.Own().LoosePath(id))
			}
		}
	}
	return files, nil
}

// packObjects has git make a pack of objects, proves that each is what its id says, and
// moves the pack here.
func (g *giving) packObjects(ids []gitstore.ID, args ...string) error {
	q, err := newQuarantine(g.store)
	if err != nil {
		return err
	}
	defer q.remove()
	var stdin bytes.Buffer
	for _, id := range ids {
		fmt.Fprintln(&stdin, id)
	}
	run := func(stdin *bytes.Buffer, args ...string) error {
		c := q.command(g.held, args...)
		c.Stdin = stdin
		_, err := git.Run(g.ctx, c)
		return err
	}
	args = append([]string{"pack-objects", "-q", "--local", "--honor-pack-keep", "--non-empty", "--delta-base-offset"}, args...)
	if err := run(&stdin, append(args, filepath.Join(q.dir, "pack", "pack"))...); err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(q.dir, "pack", "pack-*.idx"))
	if err != nil {
		return err
	}
	failpoint.Hit("giveback.made")
	for _, idx := range made {
		info, err := os.Lstat(idx)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		base := strings.TrimSuffix(idx, ".idx")
		to := filepath.Join(g.store.PackDir(), filepath.Base(base))
		prove := []string{base}
		if shadow.IsThere(to+".idx") && shadow.IsThere(to+".pack") { // named after its content
			prove = append(prove, to)
		}
		for _, base := range prove {
			if err := run(&bytes.Buffer{}, "verify-pack", base+".idx"); err != nil {
				return fmt.Errorf("a pack is not what it must be: %w", err)
			}
		}
		adopted, err := shadow.AdoptPack(g.ctx, g.store, base)
		if err != nil {
			return err
		}
		if !adopted.WasThere {
			g.stats.Freed -= adopted.Bytes + adopted.Index
		}
		if err := g.addWhole(to); err != nil {
			return err
		}
	}
	return nil
}

// addWhole notes a pack that was made here. One of that name was there already if all that
// it holds is needed: it stays.
func (g *giving) addWhole(base string) error {
	if err := g.store.Syncer().Dir(g.store.PackDir()); err != nil {
		return err
	}
	if err := g.store.Rescan(); err != nil {
		return err
	}
	for _, p := range g.store.Own().Packs {
		if p.Base == base {
			g.whole = append(g.whole, p)
			g.old = slices.DeleteFunc(g.old, func(file string) bool { return file == base })
			return nil
		}
	}
	return fmt.Errorf("%s is not there", base)
}

// inWhole reports whether a pack that was made here has an object.
func (g *giving) inWhole(id gitstore.ID) (bool, error) {
	for _, p := range g.whole {
		if _, has, err := p.Find(id); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// settle takes from needs what is safe whatever is removed: what the packs that were made
// here have, packs with a .keep, alternates, and files that have come since. What is nowhere
// is an error.
func (g *giving) settle() error {
	old := map[string]bool{}
	for _, file := range g.old {
		old[file] = true
	}
	if err := g.store.Rescan(); err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(g.needs), gitstore.ID.Compare)
	anywhere := g.store.Locate(ids)
	for i, at := range g.store.LocateBeside(ids, old) {
		switch {
		case anywhere[i].Nowhere() && g.lost[ids[i]]:
			delete(g.needs, ids[i])
		case anywhere[i].Nowhere():
			return fmt.Errorf("%s is needed, and can't be found", ids[i])
		case at.Loose != "", at.Pack != nil && shadow.IsThere(at.Pack.Base+".pack"):
			delete(g.needs, ids[i])
		}
	}
	return nil
}
