package restore

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
)

// ledger keeps account of what writers have saved, and of where it was seen
// again. Each save has a token that is in no other.
type ledger struct {
	mu    sync.Mutex
	saved map[string]string // token, to how it was saved
	found map[string]bool
	next  atomic.Int64
}

func newLedger() *ledger { return &ledger{saved: map[string]string{}, found: map[string]bool{}} }

func (g *ledger) token() string { return fmt.Sprintf("<%d>", g.next.Add(1)) }

// acknowledge is after a save has returned without an error.
func (g *ledger) acknowledge(token, how string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saved[token] = how
}

// seen takes note of a content that is not lost, or that a writer overwrote.
func (g *ledger) seen(content []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, token := range tokens().FindAll(content, -1) {
		g.found[string(token)] = true
	}
}

func tokens() *regexp.Regexp { return regexp.MustCompile(`<\d+>`) }

// battle is a workspace in which programs save while restores run.
type battle struct {
	*lab
	ledger *ledger
	stop   chan struct{}
	group  sync.WaitGroup
	read   map[gitstore.ID]bool // trees and blobs that were looked through
	sides  []Side
}

const battlefield = 4 // files for each writer

func newBattle(t *testing.T) *battle {
	b := &battle{lab: newFastLab(t), ledger: newLedger(), stop: make(chan struct{}), read: map[gitstore.ID]bool{}}
	for side := range 2 {
		for _, dir := range []string{"inplace", "exchange", "append", "fresh", "map"} {
			for n := range battlefield {
				name := fmt.Sprintf("%s/%d", dir, n)
				if side == 1 && n == 0 && dir != "map" {
					b.remove(name)
					continue
				}
				b.write(name, fmt.Sprintf("side %d of %s, %s\n", side, name, filler(n*3000)))
			}
		}
		b.sides = append(b.sides, b.capture())
	}
	return b
}

// writer runs save, again and again, until the battle ends.
func (b *battle) writer(save func(n int, path string), dir string) {
	b.group.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-b.stop:
				return
			default:
			}
			save(n, b.path(fmt.Sprintf("%s/%d", dir, rand.IntN(battlefield))))
		}
	})
}

// inPlace empties a file and writes it anew. What it empties it has read.
func (b *battle) inPlace(_ int, path string) {
	token := b.ledger.token()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	defer file.Close()
	old, err := io.ReadAll(file)
	if err != nil {
		return
	}
	b.ledger.seen(old)
	if file.Truncate(0) != nil {
		return
	}
	if _, err := file.WriteAt([]byte("in place "+token), 0); err == nil {
		b.ledger.acknowledge(token, "in place in "+path)
	}
}

// byRename saves as editors do, but by an exchange, so that it can tell what it
// has thrown away.
func (b *battle) byRename(_ int, path string) {
	token := b.ledger.token()
	temp := filepath.Join(b.base, "editor-"+token)
	if os.WriteFile(temp, []byte("renamed "+token), 0o644) != nil {
		return
	}
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	if err != nil {
		err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	} else if old, err := os.ReadFile(temp); err == nil {
		b.ledger.seen(old)
	}
	if err == nil {
		b.ledger.acknowledge(token, "renamed to "+path)
	}
	_ = os.Remove(temp)
}

// fresh saves under a name that was never there.
func (b *battle) fresh(n int, path string) {
	token := b.ledger.token()
	temp := filepath.Join(b.base, "fresh-"+token)
	if os.WriteFile(temp, []byte("fresh "+token), 0o644) != nil {
		return
	}
	if os.Rename(temp, fmt.Sprintf("%s-%d", path, n)) == nil {
		b.ledger.acknowledge(token, "renamed to a new name by "+path)
	}
	time.Sleep(time.Millisecond)
}

// heldOpen appends through a handle that it keeps over many restores.
func (b *battle) heldOpen(_ int, path string) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	defer file.Close()
	for range 20 + rand.IntN(100) {
		token := b.ledger.token()
		if _, err := file.WriteString(token + "\n"); err == nil {
			b.ledger.acknowledge(token, "appended to "+path)
		}
		time.Sleep(time.Duration(rand.IntN(600)) * time.Microsecond)
	}
}

// mapped writes into a mapping whose handle is closed.
func (b *battle) mapped(_ int, path string) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	info, err := file.Stat()
	if err != nil || info.Size() < 4096 {
		_ = file.Close()
		return
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	_ = file.Close()
	if err != nil {
		return
	}
	defer func() { _ = unix.Munmap(memory) }()
	b.ledger.seen(memory)
	at := 100
	for range 20 {
		token := b.ledger.token()
		if at+len(token) > len(memory) {
			return
		}
		copy(memory[at:], token)
		at += len(token)
		b.ledger.acknowledge(token, "mapped in "+path)
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	}
}

// look goes through a tree for tokens.
func (b *battle) look(tree gitstore.ID) {
	b.t.Helper()
	b.must(b.store.WalkTree(tree, func(_ string, e gitstore.TreeEntry) error {
		if b.read[e.ID] {
			return gitstore.SkipTree
		}
		b.read[e.ID] = true
		if e.Mode.IsDir() {
			return nil
		}
		data, err := b.store.Blob(e.ID)
		b.ledger.seen(data)
		return err
	}))
}

// record stores what was displaced, as the caller of a restore does.
func (b *battle) record(list []Displaced) {
	b.t.Helper()
	for i := range list {
		r, _, err := list[i].Open()
		b.must(err)
		data, err := io.ReadAll(r)
		b.must(err)
		b.must(r.Close())
		b.blob(string(data))
	}
}

// recorded tells what record has stored.
func (b *battle) recorded(d Displaced) (bool, error) {
	have, err := b.store.Has(d.Blob)
	if have {
		data, err := b.store.Blob(d.Blob)
		b.must(err)
		b.ledger.seen(data)
	}
	return have, err
}

// settle drops from an entry what it may, and tells whether nothing is left.
func (b *battle) settle(o *operation) bool {
	b.t.Helper()
	settled, err := o.work.Settle(b.recorded)
	b.must(err)
	b.record(settled.Displaced)
	if settled.Empty {
		o.drop()
	}
	return settled.Empty
}

func (b *battle) restore(n int, options PrepareOptions) *operation {
	b.t.Helper()
	from := b.capture()
	b.look(from.Tree)
	p := b.plan(from, b.sides[n%2])
	o := b.begin(p, options)
	outcome, err := o.work.Apply(context.Background())
	b.must(err)
	for _, left := range outcome.Left {
		if left.Reason != ReasonAppeared {
			b.t.Errorf("%s was left: %s", left.Path, left.Reason)
		}
	}
	b.record(outcome.Displaced)
	b.must(o.work.Finish())
	return o
}

// TestWriters: while restores go to and fro, programs save by rename, in place,
// through handles that they keep, and through mappings. Each save is found in
// the end: on disk, in a snapshot, in what was displaced, or in a file that a
// writer itself has thrown away.
func TestWriters(t *testing.T) {
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			b := newBattle(t)
			if len(options) == 1 {
				b.withoutExchange()
			}
			b.writer(b.inPlace, "inplace")
			b.writer(b.byRename, "exchange")
			b.writer(b.fresh, "fresh")
			b.writer(b.heldOpen, "append")
			b.writer(b.heldOpen, "append")
			b.writer(b.mapped, "map")
			var open []*operation
			restores := 0
			enough := time.Now().Add(1500 * time.Millisecond)
			for ; restores < 10 || time.Now().Before(enough); restores++ {
				open = append(open, b.restore(restores, isBeside(options)))
				var still []*operation
				for i, o := range open {
					if i > len(open)-3 || !b.settle(o) {
						still = append(still, o)
					}
				}
				open = still
			}
			close(b.stop)
			b.group.Wait()
			b.finish(open)
			t.Logf("%d restores, %d saves", restores, len(b.ledger.saved))
			if len(b.ledger.saved) < 500 {
				t.Errorf("too little happened: %d saves", len(b.ledger.saved))
			}
		})
	}
}

func (b *battle) finish(open []*operation) {
	b.t.Helper()
	for _, o := range open {
		for range 3 {
			if b.settle(o) {
				o = nil
				break
			}
		}
		if o != nil {
			b.t.Errorf("an operation is not settled though nobody writes any more")
		}
	}
	b.clean()
	for _, is := range b.disk() {
		b.ledger.seen([]byte(is))
	}
	lost := 0
	for token, how := range b.ledger.saved {
		if !b.ledger.found[token] {
			lost++
			if lost < 10 {
				b.t.Errorf("lost: %s, %s", token, how)
			}
		}
	}
	if lost > 0 {
		b.t.Errorf("%d of %d saves were lost", lost, len(b.ledger.saved))
	}
}
