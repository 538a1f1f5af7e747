package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReliedOnIsDurable: what another process has linked and not synced yet is
// synced by whoever relies on it, in a batch or by a Borrow of its own.
func TestReliedOnIsDurable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, packed := range []bool{true, false} {
		l, s := newLender(t), newStore(t)
		if packed {
			l.git("repack", "-adfq")
		}
		_, wanted := l.tree()
		var synced []string
		open := func() *Store {
			s := must[*Store](t)(Open(s.Dir()))
			t.Cleanup(func() { noErr(t, s.Close()) })
			s.sync.Before = func(path string) error {
				synced = append(synced, filepath.Base(path))
				return nil
			}
			return s
		}
		other := open()
		first := func() Wanted { // that is linked by now
			i := slices.IndexFunc(wanted, func(w Wanted) bool { return must[bool](t)(other.Has(w.ID)) })
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
				must[ID](t)(b.Blob(l.content(w.ID)))
				if len(b.written) > 0 {
					t.Errorf("packed %t: written again", packed)
				}
				noErr(t, b.Flush(ctx))
			},
		}
		done := false
		s.link = func(from, to string) error {
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
		if b := borrow(t, s, l.objects(), wanted); !b.all() || !done {
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
