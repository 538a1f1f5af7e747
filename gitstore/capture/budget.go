package capture

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// BudgetError is returned by the first capture of a workspace that holds more
// than the budget allows; nothing was written. See Options.Held for what is no
// first one.
type BudgetError struct {
	// Files and Bytes are what was counted until then: there may be many more.
	Files      int
	Bytes      int64
	FileBudget int
	ByteBudget int64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the workspace holds at least %d files of %d bytes, the budget is %d files of %d bytes",
		e.Files, e.Bytes, e.FileBudget, e.ByteBudget)
}

// Advice is what to do about it.
func (e *BudgetError) Advice() (hint string, conflict bool) {
	return "leave some of it out in .gitignore or .umbraignore, raise capture.max_files or max_bytes in config.yml, or insist with umbra mission new --force", true
}

func (s *Settings) over(files int, bytes int64) bool {
	return s.FileBudget >= 0 && files > s.FileBudget || s.ByteBudget >= 0 && bytes > s.ByteBudget
}

// spending counts what a first capture would hold while its walk goes on, so
// that one over the budget ends there, however much more there is.
type spending struct {
	settings *Settings
	files    atomic.Int64
	bytes    atomic.Int64
}

// spendEvery is after how many names of a directory they are counted.
const spendEvery = 1024

// add counts what a directory's sheet has to be read from its from-th on, and
// returns where to go on from, or a *BudgetError. Nil counts nothing.
func (p *spending) add(sheet *sheet, from int) (int, error) {
	if p == nil {
		return 0, nil
	}
	bytes := int64(0)
	for _, i := range sheet.reads[from:] {
		bytes += sheet.entries[i].stat.size
	}
	all, size := int(p.files.Add(int64(len(sheet.reads)-from))), p.bytes.Add(bytes)
	if p.settings.over(all, size) {
		return 0, &BudgetError{Files: all, Bytes: size, FileBudget: p.settings.FileBudget, ByteBudget: p.settings.ByteBudget}
	}
	return len(sheet.reads), nil
}

// budget leaves out of a capture that is not the first, as skipped, the last of
// the files that are new, until the rest is within the budget: what was captured
// once is not dropped, and no snapshot is refused for what an agent has piled
// up. A first one was refused by the walk: see spending.
func (c *capturing) budget(w *walker, files int, bytes int64) {
	over := func() bool { return c.rules.settings.over(files, bytes) }
	if !over() {
		return
	}
	slices.SortFunc(w.units, func(a, b *unit) int { return strings.Compare(a.scene.at.path, b.scene.at.path) })
	for _, u := range slices.Backward(w.units) {
		for _, i := range slices.Backward(u.reads) {
			e := &u.node.entries[i]
			if !over() {
				return
			}
			if e.kind == kindSymlink || !e.id.IsZero() || w.holds(treepath.Join(u.scene.at.path, e.name)) {
				continue
			}
			files--
			bytes -= e.stat.size
			*e = entry{name: e.name, stat: e.stat, kind: kindSkipped, reason: reasonIndex(documents.ReasonBudget)}
			u.reads = slices.Delete(u.reads, slices.Index(u.reads, i), slices.Index(u.reads, i)+1)
		}
	}
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
