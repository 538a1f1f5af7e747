//go:build unix

package lock

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

func TestNestedWorkspacesMeet(t *testing.T) {
	home, top, owner := t.TempDir(), t.TempDir(), Self("test")
	outer, inner, beside := filepath.Join(top, "w"), filepath.Join(top, "w", "sub", "deep"), filepath.Join(top, "v")
	must(t, os.MkdirAll(inner, 0o755))
	must(t, os.MkdirAll(beside, 0o755))
	alias := filepath.Join(top, "alias")
	must(t, os.Symlink(filepath.Join("w", "sub"), alias))

	excluded := map[string][]string{
		outer: {outer, inner, filepath.Join(outer, "sub"), alias, filepath.Join(alias, "deep"), top},
		inner: {outer, inner, filepath.Join(alias, "deep"), top},
	}
	free := map[string][]string{outer: {beside}, inner: {beside}, alias: {beside}}
	for taken, others := range excluded {
		tree, err := TryTree(home, taken, owner)
		must(t, err)
		for _, other := range others {
			if _, err := TryTree(home, other, owner); !errors.Is(err, ErrHeld) {
				t.Errorf("%s beside %s: %v", other, taken, err)
			}
		}
		for _, other := range free[taken] {
			second, err := TryTree(home, other, owner)
			must(t, err)
			must(t, second.Release())
		}
		must(t, tree.Release())
	}
	tree, err := TryTree(home, inner, owner)
	must(t, err)
	if _, inode := tree.Identity(); inode == 0 {
		t.Error("no identity")
	}
	must(t, tree.Release())
	must(t, tree.Release())
	if _, err := TryTree(home, filepath.Join(top, "none"), owner); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no workspace: %v", err)
	}
}

func TestTreesNeitherOverlapNorDeadlock(t *testing.T) {
	home, top, owner := t.TempDir(), t.TempDir(), Self("test")
	dirs := []string{filepath.Join(top, "a"), filepath.Join(top, "a", "b"), filepath.Join(top, "a", "b", "c")}
	must(t, os.MkdirAll(dirs[2], 0o755))
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	var inside atomic.Int32
	var workers sync.WaitGroup
	for worker := range 6 {
		workers.Go(func() {
			for range 40 {
				tree, err := WaitTree(ctx, home, dirs[(worker+rand.IntN(2))%3], owner)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two overlapping workspaces are held at once")
				}
				inside.Add(-1)
				if err := tree.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

// The path leads to another directory, from one moment to the next, while the
// lock of the first is waited for.
func TestTreeOfAMovedWorkspace(t *testing.T) {
	home, top, owner := t.TempDir(), t.TempDir(), Self("test")
	path := filepath.Join(top, "w")
	must(t, os.Mkdir(filepath.Join(top, "one"), 0o755))
	must(t, os.Mkdir(filepath.Join(top, "two"), 0o755))
	must(t, os.Symlink("one", path))
	must(t, os.Symlink("two", path+"-next"))
	first, err := TryTree(home, path, owner)
	must(t, err)
	_, oldInode := first.Identity()
	done := make(chan *Tree)
	go func() {
		tree, err := WaitTree(soon(t), home, path, owner)
		if err != nil {
			t.Error(err)
		}
		done <- tree
	}()
	must(t, os.Rename(path+"-next", path))
	must(t, first.Release())
	tree := <-done
	if tree == nil {
		t.FailNow()
	}
	if _, inode := tree.Identity(); inode == oldInode {
		t.Error("the directory that was moved away is locked")
	}
	must(t, tree.Release())
}

func BenchmarkTree(b *testing.B) {
	home, workspace := b.TempDir(), filepath.Join(b.TempDir(), "home", "user", "work", "project")
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		b.Fatal(err)
	}
	owner := Self("benchmark")
	for b.Loop() {
		tree, err := TryTree(home, workspace, owner)
		if err != nil {
			b.Fatal(err)
		}
		if err := tree.Release(); err != nil {
			b.Fatal(err)
		}
	}
}
