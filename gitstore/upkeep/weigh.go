package upkeep

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Weight is what objects take on the disk, in bytes. What is borrowed from the
// user's repository takes nothing: its files are there anyway.
type Weight struct {
	Alone  []int64 // of each group, what no other group leads to
	Shared int64   // what more than one group leads to
	Double int64   // loose files of objects that are in a pack too, until the next Repack
}

// shared is the owner of an object that more than one group leads to.
const shared = -1

// Weigh says what groups of commits lead to. It reads each commit and tree once,
// or twice where it is shared, and passes over what can't be read.
func Weigh(ctx context.Context, s *shadow.Store, groups [][]gitstore.ID) (Weight, error) {
	w := weighing{store: s, owner: map[gitstore.ID]int{}}
	for group, roots := range groups {
		for _, id := range roots {
			if err := w.commits(ctx, id, group); err != nil {
				return Weight{}, err
			}
		}
	}
	weight := Weight{Alone: make([]int64, len(groups))}
	sizes, double, err := w.sizes(ctx)
	weight.Double = double
	for id, size := range sizes {
		if owner := w.owner[id]; owner == shared {
			weight.Shared += size
		} else {
			weight.Alone[owner] += size
		}
	}
	return weight, err
}

type weighing struct {
	store *shadow.Store
	owner map[gitstore.ID]int
}

// met notes that a group leads to an object, and reports whether what is below it
// is to be looked at, and for which owner.
func (w *weighing) met(id gitstore.ID, group int) (owner int, descend bool) {
	had, known := w.owner[id]
	switch {
	case !known:
		w.owner[id] = group
		return group, true
	case had == group || had == shared:
		return had, false
	}
	w.owner[id] = shared
	return shared, true
}

func (w *weighing) commits(ctx context.Context, from gitstore.ID, group int) error {
	type at struct {
		id    gitstore.ID
		owner int
	}
	queue := []at{{from, group}}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		owner, descend := w.met(next.id, next.owner)
		if !descend {
			continue
		}
		c, err := w.store.Commit(next.id)
		if err != nil {
			continue // doctor says so
		}
		w.tree(c.Tree, owner)
		for _, parent := range c.Parents {
			queue = append(queue, at{parent, owner})
		}
	}
	return nil
}

func (w *weighing) tree(id gitstore.ID, group int) {
	owner, descend := w.met(id, group)
	if !descend {
		return
	}
	entries, err := w.store.Tree(id)
	if err != nil {
		return // doctor says so
	}
	for _, e := range entries {
		if e.Mode.IsDir() {
			w.tree(e.ID, owner)
		} else if e.Mode.IsBlob() {
			w.met(e.ID, owner)
		}
	}
}

// sizes are what the objects take that are not borrowed: loose ones whole blocks,
// packed ones what Git says. What a packed one takes as a loose file too, as after the user's
// git gc, is in double.
func (w *weighing) sizes(ctx context.Context) (sizes map[gitstore.ID]int64, double int64, err error) {
	if err := w.store.Rescan(); err != nil { // locate lists no packs
		return nil, 0, err
	}
	ids := slices.SortedFunc(maps.Keys(w.owner), gitstore.ID.Compare)
	sizes = make(map[gitstore.ID]int64, len(ids))
	var packed bytes.Buffer
	kept := map[*objects.Pack]bool{}
	for i, at := range w.store.Locate(ids) {
		switch {
		case at.Loose != "":
			if info, err := os.Lstat(at.Loose); err == nil {
				sizes[ids[i]] = ownBytes(info)
			}
		case at.Pack != nil:
			if info, err := os.Lstat(w.store.Own().LoosePath(ids[i])); err == nil {
				double += ownBytes(info)
			}
			if _, asked := kept[at.Pack]; !asked {
				kept[at.Pack] = at.Pack.Kept()
			}
			if !kept[at.Pack] {
				fmt.Fprintln(&packed, ids[i])
			}
		}
	}
	if packed.Len() == 0 {
		return sizes, double, nil
	}
	out, err := git.Run(ctx, git.Command{
		GitDir: w.store.Dir(), Stdin: &packed,
		Args: []string{"cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize:disk)"},
	})
	if err != nil {
		return nil, double, err
	}
	for line := range bytes.Lines(out) {
		name, size, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		id, err := gitstore.ParseID(string(name))
		n, bad := strconv.ParseInt(string(size), 10, 64)
		if err == nil && bad == nil { // else it went meanwhile
			sizes[id] = n
		}
	}
	return sizes, double, nil
}

// ownBytes is what a file takes on the disk, nothing if it has another name: then
// it is the user's repository's as well.
func ownBytes(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink > 1 {
		return 0
	}
	return st.Blocks * 512
}
