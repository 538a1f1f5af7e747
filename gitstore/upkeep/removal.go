package upkeep

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// removeInSlices removes what was there when the pack was made, and is not in it.
func (g *giving) removeInSlices() error {
	if err := g.Beside(g.catchUp); err != nil {
		return err
	}
	for {
		err := g.Alone(g.remove)
		if err = errors.Join(err, g.removeGone()); err != nil || len(g.old) == 0 {
			return err
		}
		// Who wants the repository now need not wait for it.
		select {
		case <-g.ctx.Done():
			return g.ctx.Err()
		case <-time.After(g.Pause):
		}
	}
}

// few is how many objects are looked at while everybody waits.
const few = 500

// catchUp follows the snapshots taken since the pack was made, until few are taken meanwhile, and
// removes loose objects that are in it.
func (g *giving) catchUp() error {
	const most = 20 // who writes faster than this waits the longer
	for range most {
		before := len(g.known)
		if err := g.follow(); err != nil {
			return err
		}
		if len(g.known)-before < few {
			break
		}
	}
	return g.removeDoubles()
}

// remove removes some of what is old. The caller has the project alone.
func (g *giving) remove() error {
	if err := g.follow(); err != nil {
		return err
	}
	return g.removeSome()
}

// follow finds the objects that snapshots taken since the pack was made need, and packs those that
// are in no file that stays.
func (g *giving) follow() error {
	commits, err := g.commits()
	if err != nil {
		return err
	}
	if err := g.checkHistories(); err != nil {
		return err
	}
	if err := g.walkNew(commits); err != nil {
		return err
	}
	if err := g.settle(); err != nil {
		return err
	}
	if len(g.needs) == 0 {
		return nil
	}
	if err := g.packObjects(slices.SortedFunc(maps.Keys(g.needs), gitstore.ID.Compare)); err != nil {
		return err
	}
	if err := g.settle(); err != nil {
		return err
	}
	for id := range g.needs {
		return fmt.Errorf("%s is needed, and is in no pack that stays", id)
	}
	return nil
}

// checkHistories is an ErrChanged where what is known already leads to other objects than when it was
// followed: a lost object was found, or histories are cut elsewhere.
func (g *giving) checkHistories() error {
	cuts, err := shadow.Boundaries(g.store)
	if err != nil {
		return err
	}
	if !maps.Equal(cuts, g.cuts) {
		return fmt.Errorf("%w: histories are cut elsewhere", ErrChanged)
	}
	for id := range g.unread {
		_, err := g.store.Commit(id)
		if err != nil {
			_, err = g.store.Tree(id)
		}
		if err == nil {
			return fmt.Errorf("%w: %s was lost, and is there again", ErrChanged, id)
		}
	}
	return nil
}

// walkNew adds to needs what commits lead to besides what the packs have that were made
// here: what is in one of those leads to nothing else that is missing.
func (g *giving) walkNew(todo []gitstore.ID) error {
	for len(todo) > 0 {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if has, err := g.inWhole(id); has || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if g.known[id] {
			continue
		}
		g.need(id)
		c, err := g.store.Commit(id)
		if IsKnown(err, g.lost) {
			g.unread[id] = err
			continue
		}
		if err != nil {
			return err
		}
		if err := g.walkTree(c.Tree); err != nil {
			return err
		}
		todo = append(todo, c.Parents...)
		if record := gitstore.ParseSnapshot(c).Record; !record.IsZero() {
			todo = append(todo, record)
		}
	}
	return nil
}

func (g *giving) walkTree(id gitstore.ID) error {
	if g.known[id] {
		return nil
	}
	if has, err := g.inWhole(id); has || err != nil {
		return err
	}
	g.need(id)
	entries, err := g.store.Tree(id)
	if IsKnown(err, g.lost) {
		g.unread[id] = err
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Mode.IsDir() {
			if err := g.walkTree(e.ID); err != nil {
				return err
			}
			continue
		}
		has, err := g.inWhole(e.ID)
		if err != nil {
			return err
		}
		if !has && e.Mode.IsBlob() && !g.known[e.ID] {
			g.need(e.ID)
		}
	}
	return nil
}

// need notes an object that a snapshot taken since the pack was made needs.
func (g *giving) need(id gitstore.ID) { g.needs[id], g.known[id] = true, true }

// removeDoubles removes loose objects that are in a pack that was made here: no reader misses
// them.
func (g *giving) removeDoubles() (err error) {
	g.old = slices.DeleteFunc(g.old, func(file string) bool {
		id, loose := gitstore.ParseID(filepath.Base(filepath.Dir(file)) + filepath.Base(file))
		if err != nil || loose != nil {
			return false
		}
		has := false
		if has, err = g.inWhole(id); has && err == nil {
			err = g.removeLoose(file)
		}
		return has
	})
	return err
}

// removeSome removes what is old, as far as it comes within a slice. Packs are only hidden:
// the disk may need long for a large file.
func (g *giving) removeSome() error {
	d := &doubles{ctx: g.ctx, store: g.store, stats: &g.stats}
	packs := map[string]*objects.Pack{}
	for _, p := range g.store.Own().Packs {
		packs[p.Base] = p
	}
	for began := time.Now(); len(g.old) > 0; {
		failpoint.Hit("giveback.removing")
		file := g.old[0]
		if p := packs[file]; p != nil {
			hidden, err := d.hidePack(p)
			if err != nil {
				return err
			}
			g.gone = append(g.gone, hidden)
		} else if err := g.removeLoose(file); err != nil {
			return err
		}
		if g.old = g.old[1:]; time.Since(began) >= g.Slice {
			break
		}
	}
	return nil
}

func (g *giving) removeLoose(file string) error {
	info, err := os.Lstat(file)
	if err == nil {
		err = os.Remove(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		g.stats.Freed += objects.OnDisk(info)
	}
	return err
}

// removeGone removes hidden packs, while others have the project again.
func (g *giving) removeGone() (err error) {
	for _, hidden := range g.gone {
		err = errors.Join(err, hidden.remove(&g.stats))
	}
	g.gone = nil
	return err
}
