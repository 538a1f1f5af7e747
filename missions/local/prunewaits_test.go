package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestPruneBesideHousekeeping: housekeeping, which has the project for as long as git packs it,
// gives way to whoever prunes.
func TestPruneBesideHousekeeping(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.mission("work")
	b.numbered(1, 8)
	p := b.project()
	// Git waits until somebody writes into the FIFO: this is a repack that takes for ever.
	stuck := filepath.Join(m.ShadowRepo, "objects", "ab", strings.Repeat("cd", 19))
	if err := os.MkdirAll(filepath.Dir(stuck), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(stuck, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := make(chan error, 1)
	go func() {
		_, err := b.local.Housekeep(context.Background(), p.Dir)
		_ = os.Remove(stuck)
		kept <- err
	}()
	at := filepath.Join(m.ShadowRepo, "umbra", "repack", "objects-*", "pack")
	for end := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(5 * time.Millisecond) {
		if there, err := filepath.Glob(at); err == nil && len(there) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no repack began")
		}
	}
	if r := b.pruned(2); r.Pruned() == 0 {
		t.Errorf("nothing was pruned: %+v", r)
	}
	b.fails("housekeeping", <-kept, missions.KindBusy)
	b.fscked(m)
}

// TestPruneWaits: a prune that waits for others says for whom, once, and then goes on.
func TestPruneWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	b.numbered(1, 8)
	p := b.project()
	push := b.local.Self
	push.Command = "umbra push"
	held, err := lock.Try(lock.ProjectFile(b.local.Home.Dir, p.ID), lock.Shared, push)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	ctx := missions.WithNotify(context.Background(), func(n missions.Notice) {
		if said = append(said, n.Text); len(said) == 1 {
			_ = held.Release()
		}
	})
	n, within := 2, time.Duration(0)
	r, err := b.local.Prune(ctx, missions.PruneRequest{Caller: b.caller(), Policy: missions.PrunePolicy{KeepLast: &n, KeepWithin: &within}})
	if err != nil || r.Pruned() == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "(umbra push)") || !strings.Contains(said[0], p.Name) {
		t.Errorf("it said %q", said)
	}
}
