package capture

import (
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// missed lists the paths at which a walk found another tree than the capture
// before, though nobody told that they may have changed: what the watcher did
// not see. It visits only directories that differ. Where rules have changed,
// what came and went by them is nobody's fault, and is left out.
func missed(old, now *node, told *dirtyTree) []string {
	var list []string
	collectMissed(old, now, "", told, &list)
	return list
}

func collectMissed(old, now *node, path string, told *dirtyTree, list *[]string) {
	if old == now || !now.own.sameRules(old.own) {
		return
	}
	a, b := old.entries, now.entries
	for len(a) > 0 || len(b) > 0 {
		var was, is *entry
		order := 0
		switch {
		case len(b) == 0:
			order = -1
		case len(a) == 0:
			order = 1
		default:
			order = strings.Compare(a[0].name, b[0].name)
		}
		if order <= 0 {
			was, a = &a[0], a[1:]
		}
		if order >= 0 {
			is, b = &b[0], b[1:]
		}
		compareMissed(was, is, path, told, list)
	}
}

// compareMissed compares what a directory had and has of one name; one of the
// two may be nil.
func compareMissed(was, is *entry, path string, told *dirtyTree, list *[]string) {
	name := ""
	if was != nil {
		name = was.name
	} else {
		name = is.name
	}
	below := told.at(name)
	switch {
	case below.named():
	case was != nil && is != nil && was.kind == kindDirectory && is.kind == kindDirectory:
		collectMissed(was.dir, is.dir, treepath.Join(path, name), below, list)
	case below != nil:
	case was.sameContent(is):
	default:
		*list = append(*list, treepath.Join(path, name))
	}
}

// sameContent tells whether two entries that are no directories, either of
// which may be nil, are the same in a tree.
func (e *entry) sameContent(other *entry) bool {
	in, otherIn := e != nil && e.inTree(), other != nil && other.inTree()
	if !in || !otherIn {
		return in == otherIn
	}
	return e.kind == other.kind && e.id == other.id && e.kind != kindDirectory
}
