package treepath_test

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// TestPaths: a path is its directory and its last name, put together again.
func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, dir, base string }{
		{"", "", ""}, {"a", "", "a"}, {"a/b", "a", "b"}, {"a/b/c.d", "a/b", "c.d"},
	} {
		if dir, base := treepath.Parent(c.path), treepath.Base(c.path); dir != c.dir || base != c.base || treepath.Join(dir, base) != c.path {
			t.Errorf("%q is %q and %q, together %q", c.path, dir, base, treepath.Join(dir, base))
		}
	}
	if got := treepath.Join("a", ""); got != "a" {
		t.Errorf("nothing in a is %q", got)
	}
}

// TestCovers: a directory covers itself and what is below it, not its namesakes.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"", "a", true}, {"", "", true}, {"a", "a", true}, {"a", "a/b", true}, {"a/b", "a/b/c", true},
		{"a", "ab", false}, {"a", "ab/c", false}, {"a/b", "a", false}, {"a", "", false},
	} {
		if got := treepath.Covers(c.dir, c.path); got != c.want {
			t.Errorf("%q covers %q: %v", c.dir, c.path, got)
		}
	}
}
