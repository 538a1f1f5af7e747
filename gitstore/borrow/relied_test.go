package borrow

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestReliedOnIsDurable: what another process has linked and not synced yet is
// synced by whoever relies on it, in a batch or by a Borrow of its own.
func TestReliedOnIsDurable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, packed := range []bool{true, false} {
		l, s := newLender(t), storetest.New(t)
		if packed {
			l.git("repack", "-adfq")
		}
		_, wanted := l.tree()
		var synced []string
		open := func() *shadow.Store {
			s := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			t.Cleanup(func() { storetest.NoErr(t, s.Close()) })
			s.Syncer().Before = func(path string) error {
				synced = append(synced, filepath.Base(path))
				return nil
			}
			return s
		}
		other := open()
		first := func() Wanted { // that is linked by now
			i := slices.IndexFunc(wanted, func(w Wanted) bool { return storetest.Must[bool](t)(other.Has(w.ID)) })
			if i < 0 {
				t.Fatal("nothing is linked")
			}
			return wanted[i]
		}
		want := []string{filepath.Base(s.Dir())} // the file system, for loose objects
		if packed {
			want = []string{".pack", ".idx", "pack"}
		}
		check := func(how string, used func(w Wanted)) {
			synced = nil
			used(first())
			for _, suffix := range want {
				if !slices.ContainsFunc(synced, func(path string) bool { return strings.HasSuffix(path, suffix) }) {
					t.Errorf("packed %t, %s: %s is not synced, only %v", packed, how, suffix, synced)
				}
			}
		}
		use := map[string]func(w Wanted){
			"borrow": func(w Wanted) { borrow(t, other, l.objects(), []Wanted{w}) },
			"batch": func(w Wanted) {
				b := other.NewBatch()
				defer b.Discard()
				loose := len(storetest.LoosePaths(t, other))
				storetest.Must[gitstore.ID](t)(b.Blob(l.content(w.ID)))
				storetest.NoErr(t, b.Flush(ctx))
				if len(storetest.LoosePaths(t, other)) > loose {
					t.Errorf("packed %t: written again", packed)
				}
			},
		}
		done := false
		link := func(from, to string) error {
			err := os.Link(from, to)
			if err == nil && !done && (!packed || filepath.Ext(to) == ".idx") {
				done = true
				for how, fn := range use {
					other = open()
					check(how, fn)
					if synced = nil; packed {
						fn(first())
					}
					if len(synced) > 0 {
						t.Errorf("%s: synced %v once more", how, synced)
					}
				}
			}
			return err
		}
		if b := borrowBy(t, link, s, l.objects(), wanted); !b.all() || !done {
			t.Errorf("borrowed %+v", b)
		}
		if packed {
			continue
		}
		other = open()
		for how, fn := range use {
			if fn(first()); len(synced) > 0 {
				t.Errorf("%s: of what is durable synced %v", how, synced)
			}
		}
	}
}
