package restore

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// spot is a name in a directory tree: in the workspace or in the entry.
type spot struct {
	root *beneath.Root
	path string
}

// quarantine is what lies in the entry's directories, and beside files in the workspace:
// what was staged for them and what was displaced from there.
type quarantine struct {
	*Work
	staged, displaced *beneath.Root // nil if the directory is gone, of an entry in phase Done
	// lost says that one of them was gone once, with what was in it.
	lost bool
	// foreign says that it holds what is not of this operation.
	foreign bool

	mu    sync.Mutex
	slots map[int][]spot // staged and displaced when the run began, and displaced since
}

// A change has a name for what is staged, its number in the plan, and names
// for what was displaced: in the entry the same number, and if that is taken
// "<number>-<n>"; beside the file, where only numbers can be told apart, the
// number plus a multiple of the number of changes.

// reviving is the n of the name at which a file is made again that was lost: under it
// there is never a file that somebody has had.
const reviving = 1 << 16

func (q *quarantine) stagedSpot(i int) spot {
	if dir, ok := q.Document.Beside[i]; ok {
		return spot{q.Root, treepath.Join(dir, beneath.ScratchName(q.Entry.ID(), i))}
	}
	return spot{q.staged, strconv.Itoa(i)}
}

func (q *quarantine) displacedSpot(i, n int) spot {
	if dir, ok := q.Document.Beside[i]; ok {
		number := i + (n+1)*len(q.Document.Plan.Changes)
		return spot{q.Root, treepath.Join(dir, beneath.ScratchName(q.Entry.ID(), number))}
	}
	name := strconv.Itoa(i)
	if n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	return spot{q.displaced, name}
}

// inventory finds everything that is staged or displaced, by change; what was
// displaced last comes last. What somebody else has put there is left alone; what was
// being made again when the process was killed is removed.
func (q *quarantine) inventory() (map[int][]spot, error) {
	out := map[int][]spot{}
	for _, root := range []*beneath.Root{q.staged, q.displaced} {
		if root == nil {
			continue
		}
		entries, err := root.ReadDir("")
		if err != nil {
			return nil, err
		}
		slices.SortFunc(entries, func(a, b beneath.Entry) int {
			return cmp.Or(len(a.Name)-len(b.Name), strings.Compare(a.Name, b.Name))
		})
		for _, e := range entries {
			name, n, _ := strings.Cut(e.Name, "-")
			if n == strconv.Itoa(reviving) {
				if err := root.Unlink(e.Name); err != nil {
					return nil, err
				}
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(q.Document.Plan.Changes) {
				q.foreign = q.foreign || root == q.displaced
				continue
			}
			out[i] = append(out[i], spot{root, e.Name})
		}
	}
	for _, dir := range q.Document.besideDirs() {
		if err := q.besideInventory(dir, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (q *quarantine) besideInventory(dir string, out map[int][]spot) error {
	entries, err := q.Root.ReadDir(dir)
	if err != nil {
		if absent(err) {
			return nil
		}
		return err
	}
	type numbered struct {
		number int
		name   string
	}
	var list []numbered
	for _, e := range entries {
		if operation, n, ok := beneath.ParseScratch(e.Name); ok && operation == q.Entry.ID() {
			list = append(list, numbered{n, e.Name})
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return a.number - b.number })
	for _, e := range list {
		i, at := e.number%len(q.Document.Plan.Changes), spot{q.Root, treepath.Join(dir, e.name)}
		if at == q.displacedSpot(i, reviving) {
			if err := q.Root.Unlink(at.path); err != nil {
				return err
			}
			continue
		}
		out[i] = append(out[i], at)
	}
	return nil
}

// isStaged tells whether a spot is the one for what is staged.
func (q *quarantine) isStaged(i int, s spot) bool { return s == q.stagedSpot(i) }

// displace takes what is at a name away, whatever it is, to a name that is free.
func (q *quarantine) displace(from spot, i int) (spot, error) {
	for n := 0; ; n++ {
		to := q.displacedSpot(i, n)
		err := beneath.RenameNoReplace(from.root, from.path, to.root, to.path)
		if errors.Is(err, beneath.ErrNoExchange) {
			// Nobody else makes names in the quarantine.
			if there, look := to.root.Exists(to.path); look != nil {
				return to, look
			} else if there {
				continue
			}
			err = beneath.Rename(from.root, from.path, to.root, to.path)
		}
		if err == nil {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.slots[i] = append(q.slots[i], to)
		}
		if !errors.Is(err, fs.ErrExist) {
			return to, err
		}
	}
}

// place puts what is at a name of the operation's own into the workspace,
// unless something is there: fs.ErrExist.
func (q *quarantine) place(from spot, path string) error {
	err := beneath.RenameNoReplace(from.root, from.path, q.Root, path)
	if !errors.Is(err, beneath.ErrNoExchange) {
		return err
	}
	st, err := from.root.Lstat(from.path)
	if err != nil {
		return err
	}
	if st.Kind() == beneath.Directory {
		// A directory cannot replace a file, nor a directory that holds anything.
		return beneath.Rename(from.root, from.path, q.Root, path)
	}
	if err := beneath.Link(from.root, from.path, q.Root, path); err != nil {
		return err
	}
	return from.root.Unlink(from.path)
}
