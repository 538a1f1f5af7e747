//go:build linux

package watcher

import (
	"fmt"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

const (
	settle  = time.Second
	maxWait = 5 * time.Second
)

func quietTree(t *testing.T) (*fakeClock, *Tree, string) {
	clock := newFakeClock()
	w := newWatcher(t, Options{Settle: settle, MaxWait: maxWait, Clock: clock})
	root := t.TempDir()
	return clock, watchTree(t, w, root), root
}

// quietBy says whether quiet has come, once the loop has handled what woke it.
func quietBy(t *testing.T, tree *Tree) bool {
	t.Helper()
	must(t, tree.w.call(t.Context(), func() { tree.w.onTime() }))
	select {
	case <-tree.Quiet():
		return true
	default:
		return false
	}
}

func TestQuietAfterSettle(t *testing.T) {
	clock, tree, root := quietTree(t)
	clock.advance(time.Hour)
	if quietBy(t, tree) || tree.Busy() {
		t.Error("quiet, or busy, without an event")
	}
	for i := range 3 {
		write(t, fmt.Sprint(root, "/", i), "1")
		barrier(t, tree)
		clock.advance(settle - 1)
		if quietBy(t, tree) || !tree.Busy() {
			t.Error("quiet before Settle had passed")
		}
	}
	clock.advance(1)
	if !quietBy(t, tree) || tree.Busy() {
		t.Error("not quiet after Settle")
	}
	clock.advance(time.Hour)
	if quietBy(t, tree) {
		t.Error("quiet twice")
	}
}

// TestQuietRings: the timer itself delivers it, not only a look at the clock.
func TestQuietRings(t *testing.T) {
	clock, tree, root := quietTree(t)
	write(t, root+"/f", "1")
	barrier(t, tree)
	clock.advance(settle)
	select {
	case <-tree.Quiet():
	case <-time.After(patience.Of(time.Minute)):
		t.Fatal("no ring")
	}
	write(t, root+"/f", "2")
	barrier(t, tree)
	clock.advance(settle / 2)
	write(t, root+"/f", "3")
	barrier(t, tree)
	clock.advance(settle / 2)
	// The first ring was early; it has to be set again.
	barrier(t, tree)
	eventually(t, "quiet", func() bool {
		clock.advance(settle / 10)
		select {
		case <-tree.Quiet():
			return true
		default:
			return false
		}
	})
}

// TestQuietInTheEnd: a writer that never pauses does not starve it.
func TestQuietInTheEnd(t *testing.T) {
	clock, tree, root := quietTree(t)
	var at []time.Duration
	begin := clock.Now()
	for range 24 {
		write(t, root+"/log", clock.Now().String())
		barrier(t, tree)
		clock.advance(settle / 2)
		if quietBy(t, tree) {
			at = append(at, clock.Now().Sub(begin))
		}
	}
	if want := []time.Duration{maxWait, 2 * maxWait}; fmt.Sprint(at) != fmt.Sprint(want) {
		t.Errorf("quiet at %v, want %v", at, want)
	}
}

// TestCookiesAreNoEvents also if somebody puts them where they should not be.
func TestCookiesAreNoEvents(t *testing.T) {
	hazards.Held(t, hazards.H5, "what Umbra itself writes starts no capture")
	clock := newFakeClock()
	root := t.TempDir()
	mkdir(t, root+"/sub")
	w := newWatcher(t, Options{Settle: settle, Clock: clock, CookieDir: root + "/sub/cookies"})
	tree := watchTree(t, w, root)
	for range 10 {
		mustBe(t, barrierTake(t, tree), nil, nil)
	}
	clock.advance(time.Hour)
	if quietBy(t, tree) || tree.Busy() {
		t.Error("cookies count as events")
	}
}

func TestTouch(t *testing.T) {
	clock, tree, _ := quietTree(t)
	must(t, tree.Touch())
	clock.advance(settle)
	if !quietBy(t, tree) {
		t.Error("a touch is no event")
	}
	mustBe(t, barrierTake(t, tree), nil, nil)
}

// TestSystemClock: the real timer works too.
func TestSystemClock(t *testing.T) {
	w := newWatcher(t, Options{Settle: time.Millisecond})
	root := t.TempDir()
	tree := watchTree(t, w, root)
	write(t, root+"/f", "1")
	select {
	case <-tree.Quiet():
	case <-time.After(patience.Of(time.Minute)):
		t.Fatal("never quiet")
	}
}

// TestStirs tells the first event of each time between two quiets, once.
func TestStirs(t *testing.T) {
	clock, tree, root := quietTree(t)
	stirred := func() bool {
		select {
		case <-tree.Stirs():
			return true
		default:
			return false
		}
	}
	if stirred() {
		t.Error("stirred without an event")
	}
	for i := range 2 {
		for j := range 3 {
			write(t, fmt.Sprint(root, "/", i, j), "1")
			barrier(t, tree)
			if got, want := stirred(), j == 0; got != want {
				t.Errorf("round %d, event %d: %v", i, j, got)
			}
		}
		clock.advance(maxWait)
		if !quietBy(t, tree) || stirred() {
			t.Errorf("round %d: not quiet, or stirred by it", i)
		}
	}
}
