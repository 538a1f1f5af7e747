package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// packed makes a repository whose snapshots are in packs, of which some go.
func packed(t *testing.T) (s *shadow.Store, kept []gitstore.ID) {
	t.Helper()
	s, kept = cutOff(t, 10, 3)
	storetest.Must[RepackStats](t)(Repack(context.Background(), s))
	return s, kept
}

// packFiles are the paths of packs.
func packFiles(t *testing.T, dir string) []string {
	t.Helper()
	return storetest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, "pack-*.pack")))
}

// TestPackComesBackBetweenSlices: a pack that a fetch brings again once it was hidden stays, also
// where somebody else held it.
func TestPackComesBackBetweenSlices(t *testing.T) {
	t.Parallel()
	for name, isHeld := range map[string]bool{"a pack": false, "a pack that is being read": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, kept := packed(t)
			other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer other.Close()
			fetched := t.TempDir()
			storetest.NoErr(t, os.CopyFS(fetched, os.DirFS(s.PackDir())))
			if isHeld {
				for _, path := range packFiles(t, s.PackDir()) {
					reader := storetest.Must[*os.File](t)(flock.Hold(path, os.O_RDONLY, unix.LOCK_SH))
					defer func() { storetest.NoErr(t, flock.Release(reader)) }()
				}
			}
			brought := 0
			o := unlocked()
			o.Alone = func(fn func() error) error {
				if err := fn(); err != nil {
					return err
				}
				for _, path := range packFiles(t, fetched) {
					if adopted := storetest.Must[shadow.AdoptedPack](t)(shadow.AdoptPack(t.Context(), other, strings.TrimSuffix(path, ".pack"))); !adopted.WasThere {
						brought++
					}
				}
				_, err := Sweep(t.Context(), other)
				return err
			}
			storetest.Must[int64](t)(GiveBack(t.Context(), s, o))
			if brought == 0 {
				t.Error("no pack was hidden")
			}
			storetest.Must[[]byte](t)(s.Blob(gitstore.HashObject(gitstore.TypeBlob, []byte("unreachable 3"))))
			checkKept(t, s, kept)
			storetest.NoLeftovers(t, s)
		})
	}
}

// TestAdoptedBesideAnIndex: an index that is left of a pack that is gone is not that pack.
func TestAdoptedBesideAnIndex(t *testing.T) {
	t.Parallel()
	s, kept := packed(t)
	fetched := t.TempDir()
	storetest.NoErr(t, os.CopyFS(fetched, os.DirFS(s.PackDir())))
	for _, path := range packFiles(t, s.PackDir()) {
		storetest.NoErr(t, os.Remove(path))
	}
	for _, path := range packFiles(t, fetched) {
		adopted := storetest.Must[shadow.AdoptedPack](t)(shadow.AdoptPack(t.Context(), s, strings.TrimSuffix(path, ".pack")))
		if adopted.WasThere {
			t.Errorf("%s is taken for there", path)
		}
	}
	checkKept(t, s, kept)
}

// TestGiveBackHidden: packs that a process had hidden, or was about to hide, when it was killed go
// the next time.
func TestGiveBackHidden(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(d *doubles, p *objects.Pack) error{
		"hidden": func(d *doubles, p *objects.Pack) error {
			h, err := d.hidePack(p)
			return errors.Join(err, h.release())
		},
		"without an index": func(_ *doubles, p *objects.Pack) error { return os.Remove(p.Base + ".idx") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, kept := packed(t)
			before := t.TempDir()
			storetest.NoErr(t, os.CopyFS(before, os.DirFS(s.PackDir())))
			storetest.Must[int64](t)(GiveBack(t.Context(), s, unlocked()))
			given := everything(t, s)
			d := &doubles{ctx: t.Context(), store: s, stats: &RepackStats{}}
			for _, path := range packFiles(t, before) {
				base := strings.TrimSuffix(path, ".pack")
				storetest.Must[shadow.AdoptedPack](t)(shadow.AdoptPack(t.Context(), s, base))
				storetest.NoErr(t, hide(d, &objects.Pack{Base: filepath.Join(s.PackDir(), filepath.Base(base))}))
			}
			if problems := storetest.Must[[]Problem](t)(Check(t.Context(), s)); len(problems) == 0 {
				t.Error("nothing was hidden")
			}
			storetest.Must[int64](t)(GiveBack(t.Context(), s, unlocked()))
			if got := everything(t, s); got != given {
				t.Errorf("it holds\n%s\nwhere only\n%s\nis needed", got, given)
			}
			checkKept(t, s, kept)
			if left := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.PackDir(), "tmp_*"))); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
