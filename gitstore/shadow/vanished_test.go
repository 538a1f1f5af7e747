package shadow_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestIndexWithoutPack: an index whose pack is gone says nothing of what is
// stored, to a store that was open and to one opened now; what it named is
// written again by whoever has its content.
func TestIndexWithoutPack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, opened := range []bool{true, false} {
		s := storetest.New(t)
		files := map[string]storetest.File{}
		for i := range storetest.InPack {
			files[storetest.Numbered(i).String()] = storetest.File{Mode: gitstore.ModeFile, Data: storetest.Numbered(i).String()}
		}
		b := s.NewBatch()
		tree := storetest.WriteTree(t, b, files)
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		blob := gitstore.HashObject(gitstore.TypeBlob, []byte(storetest.Numbered(3).String()))
		if ok := storetest.Must[bool](t)(s.Has(blob)); !ok || len(s.Own().Packs) != 1 {
			t.Fatalf("%d packs", len(s.Own().Packs))
		}
		storetest.NoErr(t, os.Remove(s.Own().Packs[0].Base+".pack"))
		if !opened {
			s = storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer s.Close()
		}
		b = s.NewBatch()
		defer b.Discard()
		if err := b.ProveTree(tree, gitstore.ID{}); !errors.Is(err, gitstore.ErrMissing) {
			t.Errorf("open %t: proved what is gone: %v", opened, err)
		}
		if storetest.Must[bool](t)(s.Has(blob)) {
			t.Errorf("open %t: it counts as stored", opened)
		}
		if again := storetest.WriteTree(t, b, files); again != tree {
			t.Errorf("another tree: %s", again)
		}
		storetest.NoErr(t, b.Flush(ctx))
		storetest.NoErr(t, b.ProveTree(tree, gitstore.ID{}))
		if got := storetest.Must[[]byte](t)(s.Blob(blob)); !bytes.Equal(got, []byte(storetest.Numbered(3).String())) {
			t.Errorf("%q", got)
		}
	}
}

// TestProveOnAParentThatIsLost: a parent's tree that can't be read spares
// nothing the proof, and holds up no snapshot that is whole itself.
func TestProveOnAParentThatIsLost(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	parent := storetest.WriteTree(t, b, map[string]storetest.File{"a/x": {Mode: gitstore.ModeFile, Data: "x"}, "d": {Mode: gitstore.ModeFile, Data: "d"}})
	tree := storetest.WriteTree(t, b, map[string]storetest.File{"a/x": {Mode: gitstore.ModeFile, Data: "x"}, "d": {Mode: gitstore.ModeFile, Data: "e"}})
	storetest.NoErr(t, b.Flush(ctx))
	s.ForgetRecent()
	storetest.RemoveObject(t, s, parent)
	fresh := s.NewBatch()
	defer fresh.Discard()
	storetest.NoErr(t, fresh.ProveTree(tree, parent))
	storetest.RemoveObject(t, s, gitstore.HashObject(gitstore.TypeBlob, []byte("x")))
	var not *shadow.NotProvedError
	if err := fresh.ProveTree(tree, parent); !errors.As(err, &not) || not.Path != "a/x" {
		t.Errorf("taken over from a parent that nobody can read: %v", err)
	}
}
