package prunes

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// chains are a project's records, and which of them stay. Unlike snapshots none is kept for
// its age: one stays if a snapshot that stays has it, if another that stays has its
// conversation from it, or if it is newer than the newest snapshot.
type chains struct {
	store *shadow.Store
	known *knownRecords
	lost  map[gitstore.ID]bool // what the user knows to be lost for good
	kept  map[gitstore.ID]bool
	todo  []gitstore.ID // kept, and not followed yet
}

// knownRecords are what was read of a project's records, so that nobody waits for it to be
// read again: they never change.
type knownRecords struct {
	parents   map[gitstore.ID][]gitstore.ID
	inherited map[gitstore.ID]gitstore.ID // from which record each has its conversation
	gone      map[gitstore.ID]bool        // lost for good
}

func newKnownRecords() *knownRecords {
	return &knownRecords{parents: map[gitstore.ID][]gitstore.ID{}, inherited: map[gitstore.ID]gitstore.ID{}, gone: map[gitstore.ID]bool{}}
}

// keepRecords finds the records that stay. Known is what was read before, for the same
// project.
func (m *material) keepRecords(ctx context.Context, kept func(snapshot gitstore.ID) bool, snapshots map[gitstore.ID]readSnapshot, known *knownRecords) (*chains, error) {
	c := &chains{store: m.project.Store, known: known, lost: m.lost, kept: map[gitstore.ID]bool{}}
	owned, pushed := map[gitstore.ID]bool{}, map[gitstore.ID]bool{}
	for id := range m.Snapshots {
		record := snapshots[id].record
		owned[record] = true
		if m.pushed[id] {
			pushed[record] = true
		}
		if err := c.read(ctx, record); err != nil {
			return nil, err
		}
		if kept(id) {
			c.keep(record)
		}
	}
	for _, ref := range m.refs {
		switch ref.Name.Kind() {
		case gitstore.RefKeep:
			if err := c.read(ctx, ref.ID); err != nil {
				return nil, err
			}
			// What a pin's ref keeps stays with the snapshot, whatever becomes of the pin. What
			// pruning kept stays as long as something needs it.
			if !shadow.IsOwnKeep(ref) {
				c.keep(ref.ID)
			}
		case gitstore.RefRecord, gitstore.RefTrashRecord:
			if err := c.read(ctx, ref.ID); err != nil {
				return nil, err
			}
			c.keepNewest(ref.ID, owned, pushed)
		case gitstore.RefFetchedRecord:
			if err := c.read(ctx, ref.ID); err != nil {
				return nil, err
			}
			for id := ref.ID; !id.IsZero(); id = c.before(id) {
				c.keep(id)
			}
		}
	}
	for id := range m.named {
		if _, is := known.parents[id]; is {
			c.keep(id)
		}
	}
	return c, c.follow(ctx)
}

// keepNewest keeps of a mission the records down to that of its newest snapshot, and all
// that came after what a remote has.
func (c *chains) keepNewest(tip gitstore.ID, owned, pushed map[gitstore.ID]bool) {
	var line []gitstore.ID
	newest, base := -1, -1
	for id := tip; !id.IsZero(); id = c.before(id) {
		if line = append(line, id); newest < 0 && owned[id] {
			newest = len(line) - 1
		}
		if pushed[id] {
			base = len(line) - 1
		}
	}
	if newest < 0 {
		newest = len(line) - 1
	}
	for i := range max(newest, base) + 1 {
		c.keep(line[i])
	}
}

// read reads the records that lead to one.
func (c *chains) read(ctx context.Context, from gitstore.ID) error {
	todo := []gitstore.ID{from}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := c.known.parents[id]; known {
			continue
		}
		r, err := c.store.Record(id)
		if upkeep.IsKnown(err, c.lost) {
			c.known.parents[id], c.known.gone[id] = nil, true
			continue
		}
		if err != nil {
			return err
		}
		c.known.parents[id] = r.Parents
		todo = append(todo, r.Parents...)
	}
	return nil
}

func (c *chains) before(id gitstore.ID) gitstore.ID {
	if parents := c.known.parents[id]; len(parents) > 0 {
		return parents[0]
	}
	return gitstore.ID{}
}

func (c *chains) keep(id gitstore.ID) {
	if !c.kept[id] && !c.known.gone[id] {
		c.kept[id], c.todo = true, append(c.todo, id)
	}
}

// follow keeps the records from which kept ones have their conversations.
func (c *chains) follow(ctx context.Context) error {
	for len(c.todo) > 0 {
		id := c.todo[0]
		c.todo = c.todo[1:]
		source, known := c.known.inherited[id]
		if !known {
			meta, err := records.ReadSessionMeta(c.store, id)
			if err != nil && !errors.Is(err, gitstore.ErrNoEntry) && !upkeep.IsKnown(err, c.lost) {
				return fmt.Errorf("record %s: %w", id.Short(), err)
			}
			if meta.Inherited != nil {
				source = meta.Inherited.Record
			}
			c.known.inherited[id] = source
		}
		if source.IsZero() {
			continue
		}
		if err := c.read(ctx, source); err != nil {
			return err
		}
		c.keep(source)
	}
	return nil
}

// cuts are the kept records that follow dropped ones, each with the newest that is left
// before it.
func (c *chains) cuts() map[gitstore.ID]gitstore.ID {
	cuts := map[gitstore.ID]gitstore.ID{}
	for id := range c.kept {
		before := c.before(id)
		if before.IsZero() || c.kept[before] {
			continue
		}
		for !before.IsZero() && !c.kept[before] {
			before = c.before(before)
		}
		cuts[id] = before
	}
	return cuts
}
