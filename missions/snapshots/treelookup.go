package snapshots

import (
	"errors"
	"path"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
)

// treeLookup reports whether a snapshot's tree has a file or link at a path. A path
// that can't be looked up counts as held: to leave it out would be to lose it (H3).
type treeLookup struct {
	store *gitstore.Store
	tree  gitstore.ID

	mu    sync.Mutex
	dir   string          // that was asked about last
	names map[string]bool // of its files and links; nil before that
	err   error           // of reading it
}

func (h *treeLookup) hasFile(file string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	dir, name := path.Split(file)
	if dir = path.Clean(dir); h.names == nil || dir != h.dir {
		h.dir = dir
		h.names, h.err = h.readDirectory(dir)
	}
	return h.err != nil || h.names[name]
}

func (h *treeLookup) readDirectory(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	tree := h.tree
	if dir != "." {
		e, err := h.store.Lookup(h.tree, dir)
		if errors.Is(err, gitstore.ErrNoEntry) || err == nil && !e.Mode.IsDir() {
			return names, nil
		}
		if err != nil {
			return names, err
		}
		tree = e.ID
	}
	entries, err := h.store.Tree(tree)
	for _, e := range entries {
		if !e.Mode.IsDir() {
			names[e.Name] = true
		}
	}
	return names, err
}
