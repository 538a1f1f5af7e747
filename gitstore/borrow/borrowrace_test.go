package borrow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// TestBorrowWhileRepacked borrows again and again while the user's git repacks:
// what is had is here, whatever becomes of the user's.
func TestBorrowWhileRepacked(t *testing.T) {
	t.Parallel()
	l := newLender(t)
	l.git("repack", "-adq")
	_, wanted := l.tree()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_, err := git.Run(context.Background(), git.Command{Dir: l.dir, Args: []string{"repack", "-adfq", fmt.Sprintf("--window=%d", i%7)}})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	end := sync.OnceFunc(func() {
		close(stop)
		wg.Wait()
	})
	defer end()
	had := func() Borrowed {
		s := storetest.New(t)
		b := borrow(t, s, l.objects(), wanted)
		for i, have := range b.Have {
			if have {
				storetest.Must[[]byte](t)(s.Blob(wanted[i].ID))
			}
		}
		return b
	}
	for range 15 {
		had() // not all of it, where packs go faster than they are looked for
	}
	end()
	if b := had(); !b.all() {
		t.Errorf("with nobody at it, borrowed %+v", b)
	}
}

// TestBorrowVanishingPack has a pack go between being found and being linked, at
// each step, as a repack does.
func TestBorrowVanishingPack(t *testing.T) {
	t.Parallel()
	for _, at := range []string{".pack", ".idx", ".rev"} {
		l, s := newLender(t), storetest.New(t)
		l.git("repack", "-adq")
		_, wanted := l.tree()
		o := l.objects()
		done := false
		link := func(from, to string) error {
			if filepath.Ext(from) == at && !done {
				done = true
				l.git("repack", "-adfq", "--window=0")
			}
			return os.Link(from, to)
		}
		b := borrowBy(t, link, s, o, wanted)
		if !done && at != ".rev" {
			t.Fatalf("%s was not linked", at)
		}
		if !b.all() {
			t.Errorf("%s: borrowed %+v", at, b)
		}
		storetest.Fsck(t, s)
		packs := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.PackDir(), "*")))
		for _, p := range packs {
			if base := strings.TrimSuffix(p, filepath.Ext(p)); !shadow.IsThere(base+".pack") || !shadow.IsThere(base+".idx") || !shadow.IsThere(base+objects.KeepSuffix) {
				t.Errorf("%s: %s is not whole", at, p)
			}
		}
	}
}

// TestBorrowAndSweepAtOnce lets nothing be swept away while it is being brought,
// by link or as a copy.
func TestBorrowAndSweepAtOnce(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]error{"links": nil, "copies": unix.EXDEV} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := newLender(t), storetest.New(t)
			l.git("repack", "-adq")
			_, wanted := l.tree()
			link := func(from, to string) error {
				err := refused
				if err == nil {
					err = os.Link(from, to)
				}
				if _, e := upkeep.Sweep(context.Background(), s); e != nil {
					t.Error(e)
				}
				return err
			}
			if b := borrowBy(t, link, s, l.objects(), wanted); !b.all() {
				t.Errorf("borrowed %+v", b)
			}
			storetest.Fsck(t, s)
		})
	}
}

// TestBorrowSyncs counts what durability costs: nothing of a pack that has been
// on the disk for long.
func TestBorrowSyncs(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	l.git("repack", "-adq")
	_, wanted := l.tree()
	o := l.objects()
	before := s.Fsyncs()
	borrow(t, s, o, wanted)
	if n := s.Fsyncs() - before; n > 5 {
		t.Errorf("a fresh pack: %d fsyncs", n)
	}
	for _, name := range l.packs() {
		storetest.NoErr(t, os.Chtimes(filepath.Join(l.dir, ".git/objects/pack", name), storetest.Signature(0).When, storetest.Signature(0).When))
	}
	other := storetest.New(t)
	before = other.Fsyncs()
	borrow(t, other, o, wanted)
	if n := other.Fsyncs() - before; n != 2 {
		t.Errorf("an old pack: %d fsyncs", n)
	}
}
