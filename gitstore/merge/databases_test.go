package merge_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// database is the content of a SQLite database.
func database(fill string) string {
	return string(databases.Head()) + strings.Repeat(fill, 1024-databases.HeadSize)
}

// TestDatabasesAreMergedWhole: a database is never beside a log of another side. Where each
// side has changed a file of it, it is one question.
func TestDatabasesAreMergedWhole(t *testing.T) {
	t.Parallel()
	zero, one, two := database("0"), database("1"), database("2")
	text := lines(nil)
	for name, c := range map[string]struct {
		base, ours, theirs files
		open               string // the database in question
		all, taken         string // the files of it that a promotion names, and where it names others as theirs is preferred
		keep, take         files  // where ours is preferred, and where theirs is; the same if take is nil
	}{
		"a database here, its log there": {
			base: files{"app.db": zero}, ours: files{"app.db": one, "a": "a"}, theirs: files{"app.db": zero, "app.db-wal": "2", "b": "b"},
			open: "app.db", all: "app.db app.db-wal",
			keep: files{"app.db": one, "a": "a", "b": "b"}, take: files{"app.db": zero, "app.db-wal": "2", "a": "a", "b": "b"},
		},
		"a journal here, the database there, and a log in neither": {
			base: files{"app.db": zero, "app.db-wal": "0"}, ours: files{"app.db": zero, "app.db-journal": "1"}, theirs: files{"app.db": two},
			open: "app.db", all: "app.db app.db-journal app.db-wal",
			keep: files{"app.db": zero, "app.db-journal": "1"}, take: files{"app.db": two},
		},
		"added by each": {
			ours: files{"app.db": one, "app.db-wal": "1"}, theirs: files{"app.db": two},
			open: "app.db", all: "app.db app.db-wal",
			keep: files{"app.db": one, "app.db-wal": "1"}, take: files{"app.db": two},
		},
		"changed there alone": {
			base: files{"app.db": zero, "app.db-wal": "0"}, ours: files{"app.db": zero, "app.db-wal": "0", "a": "a"}, theirs: files{"app.db": two},
			keep: files{"app.db": two, "a": "a"},
		},
		"opened here, changed there": {
			base: files{"app.db": zero, "app.db-shm": "0"}, ours: files{"app.db": zero, "app.db-shm": "1", "app.db-wal": "", "a": "a"},
			theirs: files{"app.db": two, "app.db-wal": "2", "app.db-shm": "2"},
			keep:   files{"app.db": two, "app.db-wal": "2", "app.db-shm": "2", "a": "a"},
		},
		"opened there, changed here": {
			base: files{"app.db": zero, "app.db-shm": "0"}, ours: files{"app.db": one, "app.db-shm": "1"}, theirs: files{"app.db": zero, "app.db-wal": "", "b": "b"},
			keep: files{"app.db": one, "app.db-shm": "1", "b": "b"},
		},
		"changed alike": {
			base: files{"app.db": zero}, ours: files{"app.db": one, "app.db-wal": "1", "a": "a"}, theirs: files{"app.db": one, "app.db-wal": "1", "b": "b"},
			keep: files{"app.db": one, "app.db-wal": "1", "a": "a", "b": "b"},
		},
		"renamed here, its log changed there": {
			base: files{"app.db": zero, "app.db-wal": "0"}, ours: files{"data.db": zero, "data.db-wal": "1"}, theirs: files{"app.db": zero, "app.db-wal": "2"},
			open: "app.db", all: "app.db app.db-wal",
			keep: files{"data.db": zero, "data.db-wal": "1"}, take: files{"app.db": zero, "app.db-wal": "2", "data.db": zero, "data.db-wal": "1"},
		},
		"renamed there with another log, changed here": {
			base: files{"app.db": zero}, ours: files{"app.db": one}, theirs: files{"data.db": zero, "data.db-wal": "2"},
			open: "app.db", all: "app.db",
			keep: files{"app.db": one, "data.db": zero, "data.db-wal": "2"}, take: files{"data.db": zero, "data.db-wal": "2"},
		},
		"renamed by each, with a log here": {
			base: files{"app.db": zero}, ours: files{"data.db": zero, "data.db-wal": "1"}, theirs: files{"other.db": zero[:1000] + strings.Repeat("2", 24)},
			keep: files{"data.db": zero, "data.db-wal": "1", "other.db": zero[:1000] + strings.Repeat("2", 24)},
		},
		"beside a text that was renamed": {
			base: files{"app.db": zero, "text": text}, ours: files{"moved": text, "app.db": one}, theirs: files{"text": lines(map[int]string{1: "theirs"}), "app.db": two},
			open: "app.db", all: "app.db",
			keep: files{"moved": lines(map[int]string{1: "theirs"}), "app.db": one}, take: files{"moved": lines(map[int]string{1: "theirs"}), "app.db": two},
		},
		"beside lines in conflict": {
			base: files{"app.db": zero, "text": text}, ours: files{"text": lines(map[int]string{1: "mine"}), "app.db": one},
			theirs: files{"text": lines(map[int]string{1: "theirs"}), "app.db": zero, "app.db-wal": "2"},
			open:   "app.db text", all: "app.db app.db-wal text",
			keep: files{"text": lines(map[int]string{1: "mine"}), "app.db": one}, take: files{"text": lines(map[int]string{1: "theirs"}), "app.db": zero, "app.db-wal": "2"},
		},
		"a directory called as a log": {
			base: files{"app.db": zero}, ours: files{"app.db": one}, theirs: files{"app.db": two, "app.db-wal/notes": "2"},
			open: "app.db", all: "app.db",
			keep: files{"app.db": one, "app.db-wal/notes": "2"}, take: files{"app.db": two, "app.db-wal/notes": "2"},
		},
		"alone in its directory": {
			base: files{"data/app.db": zero}, ours: files{"data/app.db": one}, theirs: files{"data/app.db-wal": "2", "data/app.db": zero},
			open: "data/app.db", all: "data/app.db data/app.db-wal",
			keep: files{"data/app.db": one}, take: files{"data/app.db": zero, "data/app.db-wal": "2"},
		},
		"a file where its directory was": {
			base: files{"data/app.db": zero, "data/app.db-wal": "0"}, ours: files{"data/app.db": one, "data/app.db-wal": "0"}, theirs: files{"data": "2"},
			open: "data data/app.db", all: "data data/app.db", taken: "data/app.db",
			keep: files{"data/app.db": one, "data/app.db-wal": "0"}, take: files{"data": "2"},
		},
		"a directory where it was": {
			base: files{"app.db": zero, "app.db-wal": "0"}, ours: files{"app.db": one, "app.db-wal": "0"}, theirs: files{"app.db/notes": "2"},
			open: "app.db", all: "app.db", taken: "app.db",
			keep: files{"app.db": one, "app.db-wal": "0"}, take: files{"app.db/notes": "2"},
		},
		"no database": {
			base: files{"b": "b\n"}, ours: files{"b": "B\n"}, theirs: files{"b": "b\n", "b-wal": "2"},
			keep: files{"b": "B\n", "b-wal": "2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			same := files{"same": "same"} // no side is empty
			for _, side := range []*files{&c.base, &c.ours, &c.theirs, &c.keep} {
				if *side == nil {
					*side = files{}
				}
				maps.Copy(*side, same)
			}
			if c.take == nil {
				c.take = c.keep
			}
			maps.Copy(c.take, same)
			sides := merge.Sides{Base: writeTree(t, s, c.base), Ours: writeTree(t, s, c.ours), Theirs: writeTree(t, s, c.theirs)}
			got := storetest.Must[merge.Attempted](t)(merge.Attempt(t.Context(), s, sides, merge.Driver{}))
			var open []string
			for _, at := range got.Conflicts {
				open = append(open, at.Path)
				if is := strings.HasSuffix(at.Path, ".db"); at.Database != is {
					t.Errorf("%s is a database: %t", at.Path, at.Database)
				}
			}
			if want := writeTree(t, s, c.keep); got.Tree != want || !slices.Equal(open, strings.Fields(c.open)) {
				t.Errorf("merged %q, open are %q; want %q, %q", readTree(t, s, got.Tree), open, c.keep, c.open)
			}
			for preferOurs, want := range map[bool]files{true: c.keep, false: c.take} {
				all := c.all
				if !preferOurs && c.taken != "" {
					all = c.taken
				}
				got := storetest.Must[merge.Result](t)(merge.Trees(t.Context(), s, sides, preferOurs))
				if tree := writeTree(t, s, want); got.Tree != tree || !slices.Equal(got.Conflicts, strings.Fields(all)) {
					t.Errorf("preferring ours %t: merged %q, conflicts %q; want %q, %q", preferOurs, readTree(t, s, got.Tree), got.Conflicts, want, all)
				}
			}
			storetest.Fsck(t, s)
		})
	}
}
