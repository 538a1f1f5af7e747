package capture

import (
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
)

// seal makes the trees of the nodes that a capture has made, from the leaves
// up, and sums them up. Afterwards they are immutable.
func (r *reading) seal(n *node) error {
	if n.sealed {
		return nil
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if err := r.sealBelow(n); err != nil {
		return err
	}
	n.entries = slices.DeleteFunc(n.entries, func(e entry) bool { return e.flags&flagGone != 0 })
	n.sum = summary{}
	for i := range n.entries {
		n.sum.addEntry(&n.entries[i])
	}
	if n.own != nil {
		n.sum.rules++
	}
	old := n.treeOf
	n.treeOf = nil
	if old != nil && r.verify == nil && sameTree(n.entries, old.entries) {
		n.tree, n.sealed = old.tree, true
		return nil
	}
	if list := treeEntries(n.entries); len(list) > 0 {
		id, err := r.batch.Tree(list)
		if err != nil {
			return batchFailed(err)
		}
		n.tree = id
	}
	n.sealed = true
	return nil
}

func (r *reading) sealBelow(n *node) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first error
	visit := func(dir *node) {
		if err := r.seal(dir); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = err
			}
		}
	}
	for i := range n.entries {
		e := &n.entries[i]
		if e.kind != kindDirectory || e.dir == nil || e.dir.sealed {
			continue
		}
		if r.hire() {
			wait.Go(func() {
				defer r.idle.Add(1)
				visit(e.dir)
			})
		} else {
			visit(e.dir)
		}
	}
	wait.Wait()
	return first
}

// inTree tells whether the entry is in its directory's tree.
func (e *entry) inTree() bool {
	return e.kind != kindSkipped && (e.kind != kindDirectory || !e.dir.tree.IsZero())
}

func treeEntries(entries []entry) []gitstore.TreeEntry {
	list := make([]gitstore.TreeEntry, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if !e.inTree() {
			continue
		}
		id := e.id
		if e.kind == kindDirectory {
			id = e.dir.tree
		}
		list = append(list, gitstore.TreeEntry{Name: e.name, Mode: e.kind.mode(), ID: id})
	}
	return list
}

// sameTree tells whether two sealed directories have the same tree.
func sameTree(a, b []entry) bool {
	i, j := 0, 0
	for {
		for i < len(a) && !a[i].inTree() {
			i++
		}
		for j < len(b) && !b[j].inTree() {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		x, y := &a[i], &b[j]
		if x.name != y.name || x.kind != y.kind || x.id != y.id {
			return false
		}
		if x.kind == kindDirectory && x.dir.tree != y.dir.tree {
			return false
		}
		i++
		j++
	}
}
