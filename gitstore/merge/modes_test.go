package merge

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestAsMode: one side closed all files to others, the other made one a program: it can be
// executed by who may read it.
func TestAsMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits, want uint32
		mode       gitstore.Mode
	}{
		{0o600, 0o700, gitstore.ModeExec}, {0o644, 0o755, gitstore.ModeExec}, {0o640, 0o750, gitstore.ModeExec}, {0o750, 0o750, gitstore.ModeExec},
		{0o755, 0o644, gitstore.ModeFile}, {0o600, 0o600, gitstore.ModeFile}, {0o700, 0o700, gitstore.ModeDir},
	} {
		if got := asMode(documents.KnownPerm(c.bits), c.mode); got != documents.KnownPerm(c.want) {
			t.Errorf("%o as %v is %+v, not %o", c.bits, c.mode, got, c.want)
		}
	}
	if unknown := (documents.Perm{}); asMode(unknown, gitstore.ModeExec) != unknown {
		t.Error("what is not known is known")
	}
}

// TestModesOfWhatComesBack: a file that one side deleted, and that was taken from the other, is
// closed to others as it was there.
func TestModesOfWhatComesBack(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	batch := s.NewBatch()
	file := storetest.File{Mode: gitstore.ModeFile, Data: "text"}
	with := storetest.WriteTree(t, batch, map[string]storetest.File{"a": file, "b": file})
	without := storetest.WriteTree(t, batch, map[string]storetest.File{"b": file})
	storetest.NoErr(t, batch.Flush(t.Context()))
	closed := SideModes{Tree: with, Modes: &documents.Modes{Unusual: map[string]uint32{"a": 0o600}}}
	deleted := SideModes{Tree: without, Modes: &documents.Modes{}}
	open := SideModes{Tree: with, Modes: &documents.Modes{}}
	forGroup := func(m SideModes) SideModes { // has other bits as the most common ones
		return SideModes{Tree: m.Tree, Modes: &documents.Modes{File: documents.KnownPerm(0o640), Unusual: m.Unusual}}
	}
	base := SideModes{Tree: with, Modes: &documents.Modes{File: documents.KnownPerm(0o644), Unusual: closed.Unusual}}
	for name, c := range map[string]struct {
		tree               gitstore.ID
		base, ours, theirs SideModes
		want               uint32
	}{
		"deleted in theirs, and back":                {with, closed, closed, deleted, 0o600},
		"deleted in ours, and back":                  {with, closed, deleted, closed, 0o600},
		"deleted in theirs":                          {without, closed, closed, deleted, 0},
		"deleted in ours":                            {without, closed, deleted, closed, 0},
		"opened in theirs":                           {with, closed, closed, open, 0},
		"opened in ours":                             {with, closed, open, closed, 0},
		"others are usual, deleted in theirs":        {with, base, forGroup(closed), deleted, 0o600},
		"others are usual, deleted in ours":          {with, base, deleted, forGroup(closed), 0o600},
		"others are usual, deleted in ours for good": {without, base, deleted, forGroup(closed), 0},
	} {
		got := storetest.Must[*documents.Modes](t)(Modes(s, c.tree, c.base, c.ours, c.theirs))
		if got.Unusual["a"] != c.want {
			t.Errorf("%s: %o, want %o", name, got.Unusual["a"], c.want)
		}
	}
}
