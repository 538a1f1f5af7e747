package borrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// overwrite changes bytes of a file that is linked, as a failing disk does.
func overwrite(t testing.TB, path string, at int64, data []byte) {
	t.Helper()
	storetest.NoErr(t, os.Chmod(path, 0o600))
	f := storetest.Must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	storetest.Must[int](t)(f.WriteAt(data, at))
	storetest.NoErr(t, f.Close())
}

func unverified(t testing.TB, s *shadow.Store) []string {
	t.Helper()
	return storetest.Must[[]string](t)(Unverified(s))
}

// verified is Verify, where there is git or not.
func verified(t *testing.T, s *shadow.Store, withGit bool) (d Damage) {
	t.Helper()
	t.Run(fmt.Sprintf("git %t", withGit), func(t *testing.T) {
		if !withGit {
			t.Setenv("PATH", "")
		}
		d = storetest.Must[Damage](t)(Verify(context.Background(), s))
	})
	return d
}

// TestVerifyWhole takes what is as it must be off the list, and says meanwhile
// what is on it.
func TestVerifyWhole(t *testing.T) {
	for _, withGit := range []bool{true, false} {
		l, s := newLender(t), storetest.New(t)
		l.git("repack", "-adq")
		l.write("loose", "loose")
		l.git("add", ".")
		l.git("commit", "-qm", "loose")
		_, wanted := l.tree()
		if got := unverified(t, s); len(got) > 0 {
			t.Fatalf("before: %v", got)
		}
		borrow(t, s, l.objects(), wanted)
		got := unverified(t, s)
		if len(got) != 2 || !strings.HasPrefix(got[0], "loose-") || !strings.HasPrefix(got[1], "pack-") {
			t.Fatalf("borrowed: %v", got)
		}
		if from := sourceOf(filepath.Join(s.PackDir(), got[1])); from != filepath.Join(l.dir, ".git/objects/pack", got[1]) {
			t.Errorf("the pack is from %q", from)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Verify(ctx, s); !errors.Is(err, context.Canceled) || len(unverified(t, s)) != 2 {
			t.Errorf("cut off: %v", err)
		}
		if d := verified(t, s, withGit); d.Any() || len(unverified(t, s)) > 0 {
			t.Errorf("git %t: %+v", withGit, d)
		}
	}
}

// TestVerifyDamagedPack finds the bad objects, has them written again by
// whoever meets their content, and sets the pack aside.
func TestVerifyDamagedPack(t *testing.T) {
	for _, withGit := range []bool{true, false} {
		ctx := context.Background()
		l, s := newLender(t), storetest.New(t)
		l.git("repack", "-adfq", "--window=0")
		tree, wanted := l.tree()
		o := l.objects()
		borrow(t, s, o, wanted)
		publish(t, s, tree, o)
		victim := wanted[5].ID
		at := s.Locate([]gitstore.ID{victim})[0]
		overwrite(t, at.Pack.Base+".pack", at.Offset+6, []byte{1, 2, 3, 4})
		d := verified(t, s, withGit)
		if len(d.Packs) != 1 || d.Packs[0].Path != at.Pack.Base+".pack" || !slices.Contains(d.Objects, victim) {
			t.Fatalf("git %t: %+v", withGit, d)
		}
		if got := unverified(t, s); !slices.Equal(got, []string{filepath.Base(at.Pack.Base)}) {
			t.Errorf("unverified: %v", got)
		}
		content := l.content(victim)
		b := s.NewBatch()
		storetest.Must[gitstore.ID](t)(b.Blob(content))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		storetest.NoErr(t, os.RemoveAll(l.dir))
		storetest.Must[string](t)(upkeep.Salvage(ctx, s, d.Packs, nil))
		if left := storetest.Must[[]string](t)(filepath.Glob(at.Pack.Base + "*")); len(left)+len(unverified(t, s)) > 0 {
			t.Errorf("left: %v", left)
		}
		storetest.Fsck(t, s)
		for _, w := range wanted {
			storetest.Must[[]byte](t)(s.Blob(w.ID))
		}
		if got := storetest.Must[[]byte](t)(s.Blob(victim)); !bytes.Equal(got, content) {
			t.Errorf("%q", got)
		}
	}
}

// TestVerifyDamagedLoose removes what is of no use, so that it is missed, and
// written again.
func TestVerifyDamagedLoose(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, s := newLender(t), storetest.New(t)
	tree, wanted := l.tree()
	o := l.objects()
	borrow(t, s, o, wanted)
	publish(t, s, tree, o)
	victim := wanted[2].ID
	content := l.content(victim)
	overwrite(t, storetest.LooseFile(s.Dir(), victim), 30, []byte{1, 2, 3, 4})
	d := storetest.Must[Damage](t)(Verify(ctx, s))
	if !slices.Equal(d.Objects, []gitstore.ID{victim}) || len(d.Packs)+len(unverified(t, s)) > 0 {
		t.Fatalf("%+v", d)
	}
	if storetest.Must[bool](t)(s.Has(victim)) {
		t.Error("it counts as stored")
	}
	b := s.NewBatch()
	defer b.Discard()
	storetest.Must[gitstore.ID](t)(b.Blob(content))
	storetest.NoErr(t, b.Flush(ctx))
	storetest.NoErr(t, os.RemoveAll(l.dir))
	storetest.Fsck(t, s)
}
