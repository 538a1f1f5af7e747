package gitstore

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
)

// overwrite changes bytes of a file that is linked, as a failing disk does.
func overwrite(t testing.TB, path string, at int64, data []byte) {
	t.Helper()
	noErr(t, os.Chmod(path, 0o600))
	f := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	must[int](t)(f.WriteAt(data, at))
	noErr(t, f.Close())
}

func unverified(t testing.TB, s *Store) []string {
	t.Helper()
	return must[[]string](t)(s.Unverified())
}

// verified is Verify, where there is git or not.
func verified(t *testing.T, s *Store, withGit bool) (d Damage) {
	t.Helper()
	t.Run(fmt.Sprintf("git %t", withGit), func(t *testing.T) {
		if !withGit {
			t.Setenv("PATH", "")
		}
		d = must[Damage](t)(s.Verify(context.Background()))
	})
	return d
}

// TestVerifyWhole takes what is as it must be off the list, and says meanwhile
// what is on it.
func TestVerifyWhole(t *testing.T) {
	for _, withGit := range []bool{true, false} {
		l, s := newLender(t), newStore(t)
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
		if from := sourceOf(filepath.Join(s.packDir(), got[1])); from != filepath.Join(l.dir, ".git/objects/pack", got[1]) {
			t.Errorf("the pack is from %q", from)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := s.Verify(ctx); !errors.Is(err, context.Canceled) || len(unverified(t, s)) != 2 {
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
		l, s := newLender(t), newStore(t)
		l.git("repack", "-adfq", "--window=0")
		tree, wanted := l.tree()
		o := l.objects()
		borrow(t, s, o, wanted)
		publish(t, s, tree, o)
		victim := wanted[5].ID
		at := s.locate([]ID{victim})[0]
		overwrite(t, at.pack.base+".pack", at.offset+6, []byte{1, 2, 3, 4})
		d := verified(t, s, withGit)
		if len(d.Packs) != 1 || d.Packs[0].Path != at.pack.base+".pack" || !slices.Contains(d.Objects, victim) {
			t.Fatalf("git %t: %+v", withGit, d)
		}
		if got := unverified(t, s); !slices.Equal(got, []string{filepath.Base(at.pack.base)}) {
			t.Errorf("unverified: %v", got)
		}
		content := l.content(victim)
		b := s.NewBatch()
		must[ID](t)(b.Blob(content))
		noErr(t, b.Flush(ctx))
		b.Discard()
		noErr(t, os.RemoveAll(l.dir))
		must[string](t)(s.Salvage(ctx, d.Packs, nil))
		if left := must[[]string](t)(filepath.Glob(at.pack.base + "*")); len(left)+len(unverified(t, s)) > 0 {
			t.Errorf("left: %v", left)
		}
		fsck(t, s)
		for _, w := range wanted {
			must[[]byte](t)(s.Blob(w.ID))
		}
		if got := must[[]byte](t)(s.Blob(victim)); !bytes.Equal(got, content) {
			t.Errorf("%q", got)
		}
	}
}

// TestVerifyDamagedLoose removes what is of no use, so that it is missed, and
// written again.
func TestVerifyDamagedLoose(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, s := newLender(t), newStore(t)
	tree, wanted := l.tree()
	o := l.objects()
	borrow(t, s, o, wanted)
	publish(t, s, tree, o)
	victim := wanted[2].ID
	content := l.content(victim)
	overwrite(t, s.own().loosePath(victim), 30, []byte{1, 2, 3, 4})
	d := must[Damage](t)(s.Verify(ctx))
	if !slices.Equal(d.Objects, []ID{victim}) || len(d.Packs)+len(unverified(t, s)) > 0 {
		t.Fatalf("%+v", d)
	}
	if must[bool](t)(s.Has(victim)) {
		t.Error("it counts as stored")
	}
	b := s.NewBatch()
	defer b.Discard()
	must[ID](t)(b.Blob(content))
	noErr(t, b.Flush(ctx))
	noErr(t, os.RemoveAll(l.dir))
	fsck(t, s)
}
