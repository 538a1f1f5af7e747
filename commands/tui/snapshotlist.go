package tui

import (
	"fmt"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
)

// snapshotList is the rows of the mission that is shown: turns with their snapshots.
type snapshotList struct {
	history history
	filter  filter
	folded  map[chapterKey]bool
	rows    []row
	cursor  int
	top     int
	marks   []string // ids of snapshots, two at most
	against string   // the snapshot that the workspace is compared with, "" for none
}

// rowAt is the row under the cursor.
func (l *snapshotList) rowAt() (row, bool) {
	if l.cursor < len(l.rows) {
		return l.rows[l.cursor], true
	}
	return row{}, false
}

// entryAt is the snapshot that the cursor means: a turn means its newest.
func (l *snapshotList) entryAt() (missions.Entry, bool) {
	r, ok := l.rowAt()
	if !ok {
		return missions.Entry{}, false
	}
	return l.history.entries[r.entry], true
}

// rebuild makes the rows anew and keeps the cursor on what it was on, or at the
// newest if it was there.
func (l *snapshotList) rebuild() {
	before, ok := l.rowAt()
	follow := l.cursor == 0
	l.rows = buildRows(l.history.entries, l.folded, l.filter, l.history.done)
	l.cursor = min(l.cursor, max(len(l.rows)-1, 0))
	if !ok || follow {
		return
	}
	if i := slices.IndexFunc(l.rows, func(r row) bool { return r.key == before.key }); i >= 0 {
		l.top += i - l.cursor
		l.cursor = i
	} else if i := slices.IndexFunc(l.rows, func(r row) bool { return r.turn == before.turn && r.key.turn }); i >= 0 {
		l.cursor = i
	}
	l.top = max(l.top, 0)
}

// move puts the cursor so many rows further, and reports whether that is another row.
func (l *snapshotList) move(n int) bool {
	before := l.cursor
	l.cursor = max(min(l.cursor+n, len(l.rows)-1), 0)
	if l.cursor != before {
		l.against = ""
	}
	return l.cursor != before
}

// toTurn is how far the heading of the next turn is, or of the one before; 0 if there is none.
func (l *snapshotList) toTurn(step int) int {
	for i := l.cursor + step; i >= 0 && i < len(l.rows); i += step {
		if l.rows[i].key.turn {
			return i - l.cursor
		}
	}
	return 0
}

// scroll keeps the cursor on a screen of so many rows.
func (l *snapshotList) scroll(h int) {
	n, last := len(l.rows), l.cursor
	if l.history.failed != nil { // which is said below them
		n++
		last = l.cursor + max(l.cursor-(n-3), 0)
	}
	l.top = min(l.top, l.cursor)
	l.top = max(l.top, last-h+1)
	l.top = max(min(l.top, n-h), 0)
}

// fold folds the turn of the cursor, or unfolds it.
func (l *snapshotList) fold() {
	r, ok := l.rowAt()
	if !ok {
		return
	}
	folded := maps.Clone(l.folded)
	folded[r.turn] = !folded[r.turn]
	l.refold(folded)
}

// foldAll folds all turns, or unfolds them if any is folded.
func (l *snapshotList) foldAll() {
	folded := map[chapterKey]bool{}
	for _, r := range l.rows {
		if r.key.turn && r.folded {
			folded = map[chapterKey]bool{}
			break
		}
		folded[r.turn] = true
	}
	l.refold(folded)
}

func (l *snapshotList) refold(folded map[chapterKey]bool) {
	r, _ := l.rowAt()
	l.folded = folded
	l.rebuild()
	for i, x := range l.rows {
		if x.key == r.key || x.key.turn && x.turn == r.turn {
			l.cursor = i
			if x.key == r.key {
				break
			}
		}
	}
}

// count says how many snapshots there are, and how many of them the filter shows.
func (l *snapshotList) count(o Words) string {
	all := o.Count(len(l.history.entries), "snapshot")
	if len(l.filter.words) == 0 && l.filter.state == "" {
		return all
	}
	shown := 0
	for _, r := range l.rows {
		switch {
		case !r.key.turn:
			shown++
		case r.folded:
			shown += r.snapshots
		}
	}
	return fmt.Sprintf("%d of %s", shown, all)
}

// mark marks the snapshot of the cursor, or no longer; a third mark drops the first.
func (l *snapshotList) mark() {
	if e, ok := l.entryAt(); ok {
		l.marks = marked(l.marks, e.ID)
	}
}

// goToWanted puts the cursor on the snapshot that was gone to, once it is known.
func (l *snapshotList) goToWanted() {
	at := l.history.index(l.history.wanted)
	if l.history.wanted == "" || at < 0 {
		return
	}
	turn := chapterKey{l.history.entries[at].Mission, l.history.entries[at].Turn}
	for i, r := range l.rows {
		if !r.key.turn && r.entry == at || r.key.turn && r.folded && r.turn == turn {
			l.cursor = i
			break
		}
	}
	l.history.wanted = ""
}

// wanted is what the details should be of; mission is the id of the one that is shown.
func (l *snapshotList) wanted(mission string) (detailKey, bool) {
	if len(l.marks) == 2 {
		older, newer := l.marks[0], l.marks[1]
		if at := l.history.index(newer); at >= 0 && at > l.history.index(older) && l.history.index(older) >= 0 {
			older, newer = newer, older
		}
		return detailKey{kind: "diff", from: older, to: newer, path: l.filter.path}, true
	}
	if l.against != "" {
		return detailKey{kind: "diff", from: l.against, path: l.filter.path}, true
	}
	r, ok := l.rowAt()
	if !ok {
		return detailKey{}, false
	}
	e := l.history.entries[r.entry]
	if r.key.turn && r.turn.n > 0 {
		return detailKey{kind: "turn", from: mission, to: e.ID, turn: r.turn.n, path: l.history.nameAt(e.ID)}, true
	}
	n := e.Files.Added + e.Files.Modified + e.Files.Deleted
	return detailKey{kind: "show", from: e.ID, brief: n > mostPatchFiles && l.filter.path == "", path: l.history.nameAt(e.ID)}, true
}
