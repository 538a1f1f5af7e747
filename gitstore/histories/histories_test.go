package histories

import (
	"slices"
	"strings"
	"testing"
)

func TestKeeps(t *testing.T) {
	for _, c := range []struct {
		name, entries string
		worktree      bool // its settings name one
		want          bool
	}{
		{name: ".hg", entries: "requires", want: true},
		{name: ".hg", entries: "store", want: true},
		{name: ".sl", entries: "store", want: true},
		{name: ".jj", entries: "repo", want: true},
		{name: ".svn", entries: "wc.db", want: true},
		{name: ".bzr", entries: "branch-format", want: true},
		{name: "_darcs", entries: "hashed_inventory", want: true},
		{name: ".pijul", entries: "pristine", want: true},
		{name: ".hg", entries: "notes"},
		{name: "hg", entries: "requires store"},
		{name: ".cfg", entries: "HEAD objects refs index", want: true},
		{name: ".cfg", entries: "HEAD objects refs worktrees", want: true},
		{name: ".cfg", entries: "HEAD objects refs", worktree: true, want: true},
		{name: ".cfg", entries: "HEAD objects refs config"},
		{name: ".cfg", entries: "HEAD refs index", worktree: true},
	} {
		has := func(name string) bool { return slices.Contains(strings.Fields(c.entries), name) }
		if got := Keeps(c.name, has, func() bool { return c.worktree }); got != c.want {
			t.Errorf("%s with %s, work tree named %v: %v", c.name, c.entries, c.worktree, got)
		}
	}
}
