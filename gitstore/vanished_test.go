package gitstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
)

// TestIndexWithoutPack: an index whose pack is gone says nothing of what is
// stored, to a store that was open and to one opened now; what it named is
// written again by whoever has its content.
func TestIndexWithoutPack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, opened := range []bool{true, false} {
		s := newStore(t)
		files := map[string]testFile{}
		for i := range 2 * looseObjects {
			files[numbered(i).String()] = testFile{ModeFile, numbered(i).String()}
		}
		b := s.NewBatch()
		tree := writeTree(t, b, files)
		noErr(t, b.Flush(ctx))
		b.Discard()
		blob := HashObject(TypeBlob, []byte(numbered(3).String()))
		if ok := must[bool](t)(s.Has(blob)); !ok || len(s.own().packs) != 1 {
			t.Fatalf("%d packs", len(s.own().packs))
		}
		noErr(t, os.Remove(s.own().packs[0].base+".pack"))
		if !opened {
			s = must[*Store](t)(Open(s.Dir()))
			defer s.Close()
		}
		b = s.NewBatch()
		defer b.Discard()
		if err := b.ProveTree(tree, ID{}); !errors.Is(err, ErrMissing) {
			t.Errorf("open %t: proved what is gone: %v", opened, err)
		}
		if must[bool](t)(s.Has(blob)) {
			t.Errorf("open %t: it counts as stored", opened)
		}
		if again := writeTree(t, b, files); again != tree {
			t.Errorf("another tree: %s", again)
		}
		noErr(t, b.Flush(ctx))
		noErr(t, b.ProveTree(tree, ID{}))
		if got := must[[]byte](t)(s.Blob(blob)); !bytes.Equal(got, []byte(numbered(3).String())) {
			t.Errorf("%q", got)
		}
	}
}

// TestProveOnAParentThatIsLost: a parent's tree that can't be read spares
// nothing the proof, and holds up no snapshot that is whole itself.
func TestProveOnAParentThatIsLost(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	parent := writeTree(t, b, map[string]testFile{"a/x": {ModeFile, "x"}, "d": {ModeFile, "d"}})
	tree := writeTree(t, b, map[string]testFile{"a/x": {ModeFile, "x"}, "d": {ModeFile, "e"}})
	noErr(t, b.Flush(ctx))
	s.recent.forget()
	removeObject(t, s, parent)
	fresh := s.NewBatch()
	defer fresh.Discard()
	noErr(t, fresh.ProveTree(tree, parent))
	removeObject(t, s, HashObject(TypeBlob, []byte("x")))
	var not *NotProvedError
	if err := fresh.ProveTree(tree, parent); !errors.As(err, &not) || not.Path != "a/x" {
		t.Errorf("taken over from a parent that nobody can read: %v", err)
	}
}
