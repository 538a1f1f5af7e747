package shadow_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// What is remembered is not taken for stored: a proof, and a check, look.
func TestRememberedIsNotStored(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	tree := storetest.WriteTree(t, b, map[string]storetest.File{"a/b": {Mode: gitstore.ModeFile, Data: "b"}})
	storetest.NoErr(t, b.Flush(ctx))
	entries, err := s.Tree(tree)
	storetest.NoErr(t, err)
	below := entries[0].ID
	if _, err := s.Tree(below); err != nil {
		t.Fatal(err)
	}
	storetest.NoErr(t, os.Remove(storetest.LooseFile(s.Dir(), below)))
	if _, err := s.Tree(below); err != nil {
		t.Errorf("it is not remembered: %v", err)
	}
	fresh := s.NewBatch()
	defer fresh.Discard()
	var not *shadow.NotProvedError
	if err := fresh.ProveTree(tree, gitstore.ID{}); !errors.As(err, &not) || !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("proved what is gone: %v", err)
	}
	s.ForgetRecent() // as a check does
	if _, err := s.Tree(below); !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("after that got %v", err)
	}
	if _, err := s.Commit(tree); !errors.Is(err, gitstore.ErrWrongType) {
		t.Errorf("a tree read as a commit: %v", err)
	}
}
