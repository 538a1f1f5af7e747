package merges

import (
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/merge"
)

// lineEnds says of a plan's paths that a side has written one with other line ends.
type lineEnds struct{ *plan }

// addTo adds to the reason of a path that a side has it with other line ends.
func (l lineEnds) addTo(reason string, i int, step merge.Sides, path string, result gitstore.TreeEntry) (string, error) {
	var e [3]gitstore.TreeEntry
	for n, tree := range []gitstore.ID{step.Base, step.Ours, step.Theirs} {
		var err error
		if e[n], err = l.entryAt(tree, path); err != nil {
			return reason, err
		}
	}
	more, err := l.others(e[0], e[1], e[2], result, l.into.Name, l.sides[i].mission.Name)
	return reason + more, err
}

// others says which missions have a text with other line ends than it had before, and
// which ones the result has.
func (l lineEnds) others(base, ours, theirs, result gitstore.TreeEntry, mine, their string) (string, error) {
	var ends [4]merge.LineEnd
	for i, e := range []gitstore.TreeEntry{base, ours, theirs, result} {
		if !isRegular(e) {
			continue
		}
		head, err := l.head(e)
		if err != nil {
			return "", err
		}
		ends[i] = merge.LineEndOf(head)
	}
	who := their
	switch base, ours, theirs := ends[0], ends[1], ends[2]; {
	case ours == theirs || ours == merge.EndUnknown || theirs == merge.EndUnknown || ends[3] == merge.EndUnknown:
		return "", nil
	case theirs == base:
		who = mine
	case ours != base: // it had both
		who = mine + ", " + their
	}
	return fmt.Sprintf("; the line ends are others in %s, and %s in what is merged", who, ends[3]), nil
}
