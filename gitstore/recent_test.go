package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// What is remembered is not taken for stored: a proof, and a check, look.
func TestRememberedIsNotStored(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	tree := writeTree(t, b, map[string]testFile{"a/b": {ModeFile, "b"}})
	noErr(t, b.Flush(ctx))
	entries, err := s.Tree(tree)
	noErr(t, err)
	below := entries[0].ID
	if _, err := s.Tree(below); err != nil {
		t.Fatal(err)
	}
	noErr(t, os.Remove(s.current()[0].loosePath(below)))
	if _, err := s.Tree(below); err != nil {
		t.Errorf("it is not remembered: %v", err)
	}
	fresh := s.NewBatch()
	defer fresh.Discard()
	var not *NotProvedError
	if err := fresh.ProveTree(tree, ID{}); !errors.As(err, &not) || !errors.Is(err, ErrMissing) {
		t.Errorf("proved what is gone: %v", err)
	}
	if _, err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tree(below); !errors.Is(err, ErrMissing) {
		t.Errorf("after a check got %v", err)
	}
	if _, err := s.Commit(tree); !errors.Is(err, ErrWrongType) {
		t.Errorf("a tree read as a commit: %v", err)
	}
}

func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	var r recent
	id := func(n int) ID { return HashObject(TypeBlob, fmt.Append(nil, n)) }
	content := bytes.Repeat([]byte("x"), recentLargest)
	for n := range 3 * recentBytes / recentLargest {
		r.put(id(n), TypeTree, content)
		if _, ok := r.get(id(0), TypeTree); !ok {
			t.Fatalf("after %d: what is asked for again and again is gone", n)
		}
		total := 0
		for _, part := range []map[ID]recalled{r.young, r.old} {
			for _, found := range part {
				total += len(found.data)
			}
		}
		if total > recentBytes {
			t.Fatalf("%d bytes are kept", total)
		}
	}
	if _, ok := r.get(id(1), TypeTree); ok {
		t.Error("what nobody asks for is kept")
	}
	r.put(id(-1), TypeTree, append(content, 'x'))
	if _, ok := r.get(id(-1), TypeTree); ok {
		t.Error("a huge tree is kept")
	}
}
