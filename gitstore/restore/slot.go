package restore

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// spot is a name in a directory tree: in the workspace or in the entry.
type spot struct {
	root *beneath.Root
	path string
}

// A change has a name for what is staged, its number in the plan, and names
// for what was displaced: in the entry the same number, and if that is taken
// "<number>-<n>"; beside the file, where only numbers can be told apart, the
// number plus a multiple of the number of changes.

// reviving is the n of the name at which a file is made again that was lost: under it
// there is never a file that somebody has had.
const reviving = 1 << 16

func (r *run) stagedSpot(i int) spot {
	if dir, ok := r.Document.Beside[i]; ok {
		return spot{r.Root, join(dir, beneath.ScratchName(r.Entry.ID(), i))}
	}
	return spot{r.staged, strconv.Itoa(i)}
}

func (r *run) displacedSpot(i, n int) spot {
	if dir, ok := r.Document.Beside[i]; ok {
		number := i + (n+1)*len(r.Document.Plan.Changes)
		return spot{r.Root, join(dir, beneath.ScratchName(r.Entry.ID(), number))}
	}
	name := strconv.Itoa(i)
	if n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	return spot{r.displaced, name}
}

// inventory finds everything that is staged or displaced, by change; what was
// displaced last comes last. What somebody else has put there is left alone; what was
// being made again when the process was killed is removed.
func (r *run) inventory() (map[int][]spot, error) {
	out := map[int][]spot{}
	for _, root := range []*beneath.Root{r.staged, r.displaced} {
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
			if err != nil || i < 0 || i >= len(r.Document.Plan.Changes) {
				r.foreign = r.foreign || root == r.displaced
				continue
			}
			out[i] = append(out[i], spot{root, e.Name})
		}
	}
	for _, dir := range r.Document.besideDirs() {
		if err := r.besideInventory(dir, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *run) besideInventory(dir string, out map[int][]spot) error {
	entries, err := r.Root.ReadDir(dir)
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
		if operation, n, ok := beneath.ParseScratch(e.Name); ok && operation == r.Entry.ID() {
			list = append(list, numbered{n, e.Name})
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return a.number - b.number })
	for _, e := range list {
		i, at := e.number%len(r.Document.Plan.Changes), spot{r.Root, join(dir, e.name)}
		if at == r.displacedSpot(i, reviving) {
			if err := r.Root.Unlink(at.path); err != nil {
				return err
			}
			continue
		}
		out[i] = append(out[i], at)
	}
	return nil
}

// isStaged tells whether a spot is the one for what is staged.
func (r *run) isStaged(i int, s spot) bool { return s == r.stagedSpot(i) }

// quarantine takes what is at a name away, whatever it is, to a name that is
// free.
func (r *run) quarantine(from spot, i int) (spot, error) {
	for n := 0; ; n++ {
		to := r.displacedSpot(i, n)
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
			r.mu.Lock()
			defer r.mu.Unlock()
			r.slots[i] = append(r.slots[i], to)
		}
		if !errors.Is(err, fs.ErrExist) {
			return to, err
		}
	}
}

// place puts what is at a name of the operation's own into the workspace,
// unless something is there: fs.ErrExist.
func (r *run) place(from spot, path string) error {
	err := beneath.RenameNoReplace(from.root, from.path, r.Root, path)
	if !errors.Is(err, beneath.ErrNoExchange) {
		return err
	}
	st, err := from.root.Lstat(from.path)
	if err != nil {
		return err
	}
	if st.Kind() == beneath.Directory {
		// A directory cannot replace a file, nor a directory that holds anything.
		return beneath.Rename(from.root, from.path, r.Root, path)
	}
	if err := beneath.Link(from.root, from.path, r.Root, path); err != nil {
		return err
	}
	return from.root.Unlink(from.path)
}
