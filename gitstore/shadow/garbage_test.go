package shadow

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// garbage is how many bytes of memory one call takes, the mean of many. Its
// tests are not parallel: others would be counted too.
func garbage(t *testing.T, call func(n int) error) uint64 {
	t.Helper()
	const runs = 200
	var before, after runtime.MemStats
	noErr(t, call(0)) // what is made once
	runtime.ReadMemStats(&before)
	for n := range runs {
		noErr(t, call(n))
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / runs
}

// TestReadingTreesLeavesLittleGarbage: to compare, prove and look something up
// in large trees that are remembered takes memory for what is found alone. The
// daemon's collector goes over everything that it knows of the workspaces each
// time that enough garbage has been made.
func TestReadingTreesLeavesLittleGarbage(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	var files []gitstore.TreeEntry
	same, other := must[gitstore.ID](t)(b.Blob([]byte("same"))), must[gitstore.ID](t)(b.Blob([]byte("other")))
	for n := range 1000 {
		files = append(files, gitstore.TreeEntry{Name: fmt.Sprintf("a file that has a name %d", n), Mode: gitstore.ModeFile, ID: same})
	}
	above := func() gitstore.ID {
		return must[gitstore.ID](t)(b.Tree([]gitstore.TreeEntry{{Name: "dir", Mode: gitstore.ModeDir, ID: must[gitstore.ID](t)(b.Tree(slices.Clone(files)))}}))
	}
	old := above()
	files[500].Mode, files[500].ID = gitstore.ModeExec, other
	tree := above()
	noErr(t, b.Flush(ctx))
	const little = 8 << 10 // bytes; the tree has some 60,000
	for what, call := range map[string]func(int) error{
		"looking up": func(int) error {
			e, err := s.Lookup(tree, "dir/a file that has a name 999")
			if err == nil && e.Mode != gitstore.ModeFile {
				err = fmt.Errorf("found %v", e)
			}
			return err
		},
		"comparing": func(int) error {
			found := 0
			err := s.DiffTrees(old, tree, func(c gitstore.Change) error { found++; return nil })
			if err == nil && found != 1 {
				err = fmt.Errorf("%d changes", found)
			}
			return err
		},
		"proving": func(int) error { return b.ProveTree(tree, old) },
	} {
		if took := garbage(t, call); took > little {
			t.Errorf("%s takes %d bytes", what, took)
		}
	}
}

// TestHashingSmallFilesLeavesLittleGarbage: a restore hashes each file that it
// has replaced.
func TestHashingSmallFilesLeavesLittleGarbage(t *testing.T) {
	content := []byte("a small file")
	took := garbage(t, func(int) error {
		_, err := gitstore.HashBlob(bytes.NewReader(content), int64(len(content)))
		return err
	})
	if took > 4<<10 {
		t.Errorf("hashing %d bytes takes %d", len(content), took)
	}
}
