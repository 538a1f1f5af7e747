package capture

import (
	"fmt"
	"slices"
	"strings"
)

// BudgetError is returned by the first capture of a workspace that holds more
// than the budget allows; nothing was written.
type BudgetError struct {
	Files      int
	Bytes      int64
	FileBudget int
	ByteBudget int64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the workspace holds %d files of %d bytes, the budget is %d files of %d bytes",
		e.Files, e.Bytes, e.FileBudget, e.ByteBudget)
}

// budget refuses a first capture over the budget. Of a later one it leaves out,
// as skipped, the last of the files that are new, until the rest is within it:
// what was captured once is not dropped, and no snapshot is refused for what an
// agent has piled up.
func (c *capturing) budget(w *walker, top *node, files int, bytes int64) error {
	limits := c.rules.settings
	over := func() bool {
		return limits.FileBudget >= 0 && files > limits.FileBudget || limits.ByteBudget >= 0 && bytes > limits.ByteBudget
	}
	if !over() {
		return nil
	}
	if c.scanner.base == nil {
		return &BudgetError{Files: files, Bytes: bytes, FileBudget: limits.FileBudget, ByteBudget: limits.ByteBudget}
	}
	slices.SortFunc(w.units, func(a, b *unit) int { return strings.Compare(a.scene.at.path, b.scene.at.path) })
	for _, u := range slices.Backward(w.units) {
		for _, i := range slices.Backward(u.reads) {
			e := &u.node.entries[i]
			if !over() {
				return nil
			}
			if e.kind == kindSymlink || !e.id.IsZero() {
				continue
			}
			files--
			bytes -= e.stat.size
			*e = entry{name: e.name, stat: e.stat, kind: kindSkipped, reason: reasonIndex(ReasonBudget)}
			u.reads = slices.Delete(u.reads, slices.Index(u.reads, i), slices.Index(u.reads, i)+1)
		}
	}
	return nil
}

// measure counts files and bytes, of nodes not yet sealed too.
func measure(n *node) (files int, bytes int64) {
	if n.sealed {
		return n.sum.files, n.sum.bytes
	}
	for i := range n.entries {
		e := &n.entries[i]
		switch {
		case e.flags&flagGone != 0 || e.kind == kindSkipped:
		case e.kind == kindDirectory:
			f, b := measure(e.dir)
			files += f
			bytes += b
		default:
			files++
			bytes += e.stat.size
		}
	}
	return files, bytes
}

// wanted counts what is to be read.
func (w *walker) wanted() (files int, bytes int64) {
	for _, u := range w.units {
		files += len(u.reads)
		for _, i := range u.reads {
			bytes += u.node.entries[i].stat.size
		}
	}
	return files, bytes
}
