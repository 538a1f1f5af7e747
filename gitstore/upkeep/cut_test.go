package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestManyCutsAreQuick: everybody waits while histories are cut. It waits for the disk no
// more often for many cuts than for one.
func TestManyCutsAreQuick(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Commits(t, s, 400)
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, c[399], gitstore.Durable))
	cut := func(every int) int64 {
		others := map[gitstore.ID][]string{}
		cutting := shadow.Cutting{
			Before: map[gitstore.ID]gitstore.ID{}, Kept: map[gitstore.ID]bool{},
			Stays: func(id gitstore.ID) bool { return slices.Index(c, id)%every == 0 || id == c[399] }, At: time.Unix(1_800_000_000, 0),
		}
		for i := every; i < len(c); i += every {
			cutting.Before[c[i]], others[c[i]], cutting.Kept[c[i]] = c[i-every], []string{"a"}, true
		}
		before := s.Fsyncs()
		storetest.NoErr(t, NoteOthers(ctx, s, others))
		storetest.NoErr(t, shadow.Cut(ctx, s, cutting))
		return s.Fsyncs() - before
	}
	many := cut(2)
	if line := len(storetest.Must[[]gitstore.ID](t)(historyOf(s, c[398]))); line != 200 {
		t.Errorf("%d snapshots are left", line)
	}
	if few := cut(100); many > few+4 || many > 24 {
		t.Errorf("%d waits for the disk with 199 cuts, %d with 3", many, few)
	}
	// Boundaries, and refs of records that nothing needs any more, go again.
	for kind, want := range map[gitstore.RefKind]int{gitstore.RefBefore: 3, gitstore.RefKeep: 3} {
		if got := len(storetest.Must[*gitstore.RefList](t)(s.Refs(kind)).Refs); got != want {
			t.Errorf("%d refs %s are left, not %d", got, kind, want)
		}
	}
	storetest.NoErr(t, NoteOthers(ctx, s, nil))
	var others OthersReader
	for i, known := range map[int]bool{2: false, 100: true} {
		if got := storetest.Must[[]string](t)(others.Others(s, c[i])); (got != nil) != known {
			t.Errorf("at %d others changed %q", i, got)
		}
	}
	storetest.Fsck(t, s)
	file := filepath.Join(s.Dir(), "umbra", "others")
	unchanged := storetest.Must[os.FileInfo](t)(os.Stat(file))
	storetest.NoErr(t, os.WriteFile(file, make([]byte, unchanged.Size()), 0o600))
	storetest.NoErr(t, os.Chtimes(file, time.Time{}, unchanged.ModTime()))
	if got := storetest.Must[[]string](t)(others.Others(s, c[100])); got == nil {
		t.Error("it was read again though nobody has replaced it")
	}
	storetest.NoErr(t, os.WriteFile(file, []byte("torn"), 0o600))
	if got := storetest.Must[[]string](t)(others.Others(s, c[100])); got != nil {
		t.Errorf("of what is torn %q was read", got)
	}
	storetest.NoErr(t, NoteOthers(ctx, s, map[gitstore.ID][]string{c[100]: {"a"}}))
	if got := storetest.Must[[]string](t)(others.Others(s, c[100])); len(got) != 1 {
		t.Errorf("after what was torn %q was read", got)
	}
	storetest.NoErr(t, NoteOthers(ctx, s, map[gitstore.ID][]string{c[100]: nil}))
	if got := storetest.Must[[]string](t)(others.Others(s, c[100])); got != nil {
		t.Errorf("what nobody knows any more is %q", got)
	}
}

func historyOf(s *shadow.Store, tip gitstore.ID) (line []gitstore.ID, err error) {
	for c, err := range s.History(tip, shadow.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		line = append(line, c.ID)
	}
	return line, nil
}

// TestCutOffCut lets each write to the disk fail in turn: the history is what it was or what
// it is to be, git finds nothing wrong, and the same cut again ends well.
func TestCutOffCut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	disk := errors.New("input/output error")
	for fail := int64(0); ; fail++ {
		s := storetest.New(t)
		c := storetest.Commits(t, s, 9)
		storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, c[8], gitstore.Durable))
		first := shadow.Cutting{
			Before: map[gitstore.ID]gitstore.ID{c[3]: c[0]}, Kept: map[gitstore.ID]bool{c[4]: true},
			Stays: func(id gitstore.ID) bool { return id == c[0] || slices.Index(c, id) >= 3 }, At: time.Unix(1_800_000_000, 0),
		}
		storetest.NoErr(t, NoteOthers(ctx, s, map[gitstore.ID][]string{c[3]: {"a"}}))
		storetest.NoErr(t, shadow.Cut(ctx, s, first))
		storetest.Must[int64](t)(GiveBack(ctx, s, unlocked()))
		refs := storetest.Must[*gitstore.RefList](t)(s.Refs(gitstore.RefBefore)).Refs
		second := shadow.Cutting{
			Before: map[gitstore.ID]gitstore.ID{c[7]: c[0]}, Kept: map[gitstore.ID]bool{},
			Stays: func(id gitstore.ID) bool { return id == c[0] || slices.Index(c, id) >= 7 }, At: first.At,
		}
		start := s.Fsyncs()
		s.Syncer().Before = func(string) error {
			if s.Fsyncs()-start >= fail {
				return disk
			}
			return nil
		}
		err := NoteOthers(ctx, s, map[gitstore.ID][]string{c[7]: {}})
		if err == nil {
			err = shadow.Cut(ctx, s, second)
		}
		s.Syncer().Before = nil
		if err != nil && !errors.Is(err, disk) {
			t.Fatal(err)
		}
		again := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
		line := storetest.Must[[]gitstore.ID](t)(historyOf(again, c[8]))
		after := []gitstore.ID{c[8], c[7], c[0]}
		if was := slices.Concat([]gitstore.ID{c[8], c[7], c[6], c[5], c[4], c[3]}, c[:1]); !slices.Equal(line, after) && (err == nil || !slices.Equal(line, was)) {
			t.Errorf("write %d: the history is %v", fail, line)
		}
		now := storetest.Must[*gitstore.RefList](t)(again.Refs(gitstore.RefBefore)).Refs
		if !shadow.Owes(again) && (slices.Equal(line, after) || !slices.Equal(now, refs)) {
			t.Errorf("write %d: what was let go of will not be given back", fail)
		}
		at := c[3]
		if slices.Equal(line, after) {
			at = c[7]
		}
		if others := storetest.Must[[]string](t)(new(OthersReader).Others(again, at)); others == nil {
			t.Errorf("write %d: nobody knows who changed what before %s", fail, at.Short())
		}
		storetest.Fsck(t, s)
		storetest.NoErr(t, CheckWhole(ctx, again)) // nothing leads to what the first cut let go of
		storetest.NoErr(t, shadow.Cut(ctx, again, second))
		if line := storetest.Must[[]gitstore.ID](t)(historyOf(again, c[8])); !slices.Equal(line, after) {
			t.Errorf("write %d: again: %v", fail, line)
		}
		if left := storetest.Must[*gitstore.RefList](t)(again.Refs(gitstore.RefKeep)).Refs; len(left) > 0 {
			t.Errorf("write %d: %v", fail, left)
		}
		storetest.NoErr(t, again.Close())
		if err == nil {
			break
		}
	}
}
