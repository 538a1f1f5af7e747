package shadow

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
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

// TestSearchingAnIndexReadsLittle: where one of many objects is in a pack whose
// index is too large to be held is found by reading some of the names.
func TestSearchingAnIndexReadsLittle(t *testing.T) {
	s := newStore(t)
	const size = 300_000
	w := &packWriter{}
	for n := range size {
		w.entries = append(w.entries, packEntry{id: numbered(n), offset: 12 + int64(n)})
	}
	base := filepath.Join(s.PackDir(), "pack-x")
	noErr(t, os.WriteFile(base+".pack", nil, 0o600))
	noErr(t, os.WriteFile(base+".idx", w.index(make([]byte, gitstore.IDSize)), 0o600))
	noErr(t, s.Rescan())
	p := s.Own().Packs[0]
	took := garbage(t, func(n int) error {
		off, ok, err := p.Find(numbered(n * 1000))
		if err == nil && (!ok || off != 12+int64(n)*1000) {
			err = fmt.Errorf("object %d is at %d, %t", n*1000, off, ok)
		}
		return err
	})
	if took > 8<<10 {
		t.Errorf("finding one takes %d bytes; a 256th of the names has %d", took, size/256*gitstore.IDSize)
	}
}

// TestSearchOfUnevenNames finds names that are not spread as hashes are.
func TestSearchOfUnevenNames(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	uneven := func(n int) gitstore.ID {
		var id gitstore.ID
		binary.BigEndian.PutUint32(id[n%2*8:], uint32(n)+1) // low in the bucket, or lower
		id[0] = 7
		return id
	}
	w := &packWriter{}
	const size = 40_000
	for n := 0; n < size; n += 2 {
		w.entries = append(w.entries, packEntry{id: uneven(n * 64), offset: 12 + int64(n)}, packEntry{id: uneven(n*64 + 1), offset: 13 + int64(n)})
	}
	base := filepath.Join(s.PackDir(), "pack-x")
	noErr(t, os.WriteFile(base+".pack", nil, 0o600))
	noErr(t, os.WriteFile(base+".idx", w.index(make([]byte, gitstore.IDSize)), 0o600))
	noErr(t, s.Rescan())
	p := s.Own().Packs[0]
	if p.whole != nil {
		t.Fatal("the index is held")
	}
	for n := 0; n < size; n += 6 {
		for k := range 3 { // the third is not there
			off, ok, err := p.Find(uneven(n*64 + k))
			if err != nil || ok != (k < 2) || ok && off != 12+int64(n+k) {
				t.Fatalf("%d, %d: at %d, %t, %v", n, k, off, ok, err)
			}
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
