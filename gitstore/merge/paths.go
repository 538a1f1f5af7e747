package merge

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
)

// changes are what became of the base on one side, by path.
type changes map[string]gitstore.Change

func (m *merger) changesTo(tree gitstore.ID) (changes, error) {
	list := changes{}
	return list, m.store.DiffTrees(m.sides.Base, tree, func(c gitstore.Change) error {
		list[c.Path] = c
		return m.ctx.Err()
	})
}

// mergePaths merges path by path, and leaves the paths that conflict as the preferred
// side has them. It looks for no renames: of a file that one side renamed and the other
// changed, each side's is kept.
func (m *merger) mergePaths(preferOurs bool) (Result, error) {
	preferred, other := m.sides.Theirs, m.sides.Ours
	if preferOurs {
		preferred, other = other, preferred
	}
	kept, err := m.changesTo(preferred)
	if err != nil {
		return Result{}, err
	}
	added, err := m.changesTo(other)
	if err != nil {
		return Result{}, err
	}
	w := m.newTree(preferred)
	defer w.batch.Discard()
	var conflicts, both []string
	places := kept.places()
	for path, c := range added {
		mine, clash := kept[path]
		switch {
		case clash && mine.To == c.To:
		case clash && isRegular(mine.From) && isRegular(mine.To) && isRegular(c.To):
			both = append(both, path)
		case clash:
			conflicts = append(conflicts, path)
		default:
			if at := places.inTheWay(path); at != "" && !c.To.ID.IsZero() {
				conflicts = append(conflicts, at)
				continue
			}
			w.put(path, c.To)
		}
	}
	more, err := m.mergeFiles(w, both)
	if err != nil {
		return Result{}, err
	}
	tree, err := w.write()
	return Result{Tree: tree, Conflicts: slices.Compact(slices.Sorted(slices.Values(append(conflicts, more...))))}, err
}

// isRegular reports whether an entry is a file whose content git can merge.
func isRegular(e gitstore.TreeEntry) bool {
	return e.Mode == gitstore.ModeFile || e.Mode == gitstore.ModeExec
}

// mergeFiles merges the content of files that both sides changed, and gives those that
// conflict. git is shown these files alone, so that it finds no renames.
func (m *merger) mergeFiles(w *treeWriter, paths []string) (conflicts []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	batch := m.scratch.NewBatch()
	defer batch.Discard()
	only := func(tree gitstore.ID) (gitstore.ID, error) {
		t := records.NewTree(m.scratch, gitstore.ID{})
		for _, path := range paths {
			e, err := m.store.Lookup(tree, path)
			if err == nil {
				err = t.PutEntry(path, e.Mode, e.ID)
			}
			if err != nil {
				return gitstore.ID{}, err
			}
		}
		return t.Write(batch)
	}
	var sides Sides
	for _, s := range []struct {
		of gitstore.ID
		to *gitstore.ID
	}{{m.sides.Base, &sides.Base}, {m.sides.Ours, &sides.Ours}, {m.sides.Theirs, &sides.Theirs}} {
		if *s.to, err = only(s.of); err != nil {
			return nil, err
		}
	}
	if err := batch.Flush(m.ctx); err != nil {
		return nil, err
	}
	merged, open, err := m.mergeTrees(sides)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if slices.ContainsFunc(open, func(c Conflict) bool { return c.Path == path }) {
			conflicts = append(conflicts, path)
			continue
		}
		e, err := m.scratch.Lookup(merged, path)
		if err != nil {
			return nil, err
		}
		w.put(path, e)
	}
	return conflicts, nil
}

// places are the files that a side has made or changed, and the directories above them.
type places struct{ files, dirs map[string]bool }

func (c changes) places() places {
	p := places{map[string]bool{}, map[string]bool{}}
	for path, change := range c {
		if change.To.ID.IsZero() {
			continue
		}
		p.files[path] = true
		eachDirAbove(path, func(dir string) { p.dirs[dir] = true })
	}
	return p
}

// inTheWay is the file that can't be beside another one at path, as one of them is
// where the other needs a directory; "" if there is none.
func (p places) inTheWay(path string) string {
	if p.dirs[path] {
		return path
	}
	at := ""
	eachDirAbove(path, func(dir string) {
		if p.files[dir] {
			at = dir
		}
	})
	return at
}

func eachDirAbove(path string, fn func(dir string)) {
	for at := strings.LastIndexByte(path, '/'); at >= 0; at = strings.LastIndexByte(path, '/') {
		path = path[:at]
		fn(path)
	}
}
