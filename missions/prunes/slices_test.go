package prunes

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	testpatience "github.com/umbra-vcs/umbra/scripts/patience"
)

// slicing is a pruner in an empty home, and what it prunes.
func slicing(t *testing.T) (*Pruner, choice) {
	t.Helper()
	d, err := projects.NewDesk(projects.Options{
		Home: home.Home{Dir: t.TempDir()}, Clock: time.Now, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	left := time.Hour
	return New(d, nil, nil), choice{project: &projects.Project{ID: "p", Name: "project"}, said: &sync.Once{}, left: &left}
}

// TestHookComesBetweenSlices: whoever waits for the project during a slice has it before the next.
func TestHookComesBetweenSlices(t *testing.T) {
	t.Parallel()
	pr, c := slicing(t)
	ctx, cancel := context.WithTimeout(t.Context(), testpatience.Of(time.Minute))
	defer cancel()
	path := lock.ProjectFile(pr.Home.Dir, c.project.ID)
	var came chan error
	for range 20 {
		err := pr.runSlice(ctx, c, func() error {
			if came != nil {
				select {
				case err := <-came:
					if err != nil {
						t.Error(err)
					}
				default:
					t.Error("a slice began before whoever waited for the project had it")
				}
			}
			came = make(chan error, 1)
			go func(came chan error) {
				hook, err := lock.Wait(ctx, path, lock.Shared, lock.Self("hook"))
				came <- err
				_ = hook.Release()
			}(came)
			return awaitWaiter(ctx, path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// awaitWaiter returns once somebody waits for a lock: then nobody can give way at once.
func awaitWaiter(ctx context.Context, path string) error {
	for {
		now, cancel := context.WithCancel(ctx)
		cancel()
		if lock.GiveWay(now, path) != nil {
			return ctx.Err()
		}
	}
}

// TestSliceWaitsForOperations: an operation that is under way makes a removal wait, which says so
// once, and does not end it.
func TestSliceWaitsForOperations(t *testing.T) {
	t.Parallel()
	pr, c := slicing(t)
	op, err := pr.Journal.Begin("0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11", "fork", map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	ctx := missions.WithNotify(t.Context(), func(missions.Notice) {
		said++
		if err := op.Advance(journal.Done); err != nil {
			t.Error(err)
		}
	})
	ran := 0
	for range 2 {
		if err := pr.runSlice(ctx, c, func() error { ran++; return nil }); err != nil {
			t.Error(err)
		}
	}
	if said != 1 || ran != 2 || *c.left > time.Hour-silence {
		t.Errorf("said %d times, %d slices, and %s are left to wait", said, ran, *c.left)
	}
	if err := pr.runSlice(ctx, c, func() error { return missions.Errorf(missions.KindBusy, "", "its own") }); err == nil {
		t.Error("an error of the slice itself is lost")
	}
}

// TestSlicesWaitTogether: once all slices together have waited for as long as they may, the next
// runs only if it need not wait.
func TestSlicesWaitTogether(t *testing.T) {
	t.Parallel()
	for _, still := range []func() error{nil, func() error { return nil }} {
		pr, c := slicing(t)
		*c.left, c.still = 0, still
		ran := 0
		slice := func() error {
			return pr.runSlice(t.Context(), c, func() error { ran++; return nil })
		}
		if err := slice(); err != nil || ran != 1 {
			t.Errorf("nobody was at it, and %d slices ran: %v", ran, err)
		}
		other, err := lock.Try(lock.ProjectFile(pr.Home.Dir, c.project.ID), lock.Shared, lock.Self("push"))
		if err != nil {
			t.Fatal(err)
		}
		if err := slice(); err == nil || missions.AsError(err).Kind != missions.KindBusy {
			t.Errorf("beside a push: %v", err)
		}
		if err := other.Release(); err != nil {
			t.Fatal(err)
		}
		if _, err := pr.Journal.Begin("0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11", "fork", map[string]string{}); err != nil {
			t.Fatal(err)
		}
		if err := slice(); err == nil || missions.AsError(err).Kind != missions.KindBusy || ran != 1 {
			t.Errorf("beside an operation %d slices ran: %v", ran, err)
		}
	}
}

// TestHistoriesChangeBetweenSlices: that is for the next prune, which packs anew.
func TestHistoriesChangeBetweenSlices(t *testing.T) {
	t.Parallel()
	noErr := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pr, c := slicing(t)
	s, err := shadow.Create(t.Context(), filepath.Join(t.TempDir(), "shadow.git"), shadow.CreateOptions{ProjectID: "0f8fad5b-d9cb-469f-a165-70867728950e"})
	noErr(err)
	defer s.Close()
	c.project.Store = s
	b := s.NewBatch()
	defer b.Discard()
	tree, err := b.Tree(nil)
	noErr(err)
	by := gitstore.Signature{Name: "n", Email: "e", When: time.Unix(1_700_000_000, 0).UTC()}
	made, err := b.Commit(gitstore.FormatSnapshot(&gitstore.Snapshot{
		Tree: tree, Author: by, At: by.When, Message: "made", Trailers: gitstore.Trailers{Mission: "7c9e6679-7425-40de-944b-e07fc1f90ae7"},
	}))
	noErr(err)
	noErr(b.Flush(t.Context()))
	noErr(s.UpdateRef(t.Context(), gitstore.PinRef("made"), gitstore.ID{}, made, gitstore.Durable))
	op, err := pr.Journal.Begin("0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11", "fork", map[string]string{})
	noErr(err)
	ctx := missions.WithNotify(t.Context(), func(missions.Notice) { // it is packed by now
		noErr(s.Bind(t.Context(), made, gitstore.ID{}))
		noErr(op.Advance(journal.Done))
	})
	if _, err := pr.giveBack(ctx, c); err == nil || missions.AsError(err).Kind != missions.KindBusy || missions.AsError(err).Hint != "umbra prune again" {
		t.Errorf("it ends with %v", err)
	}
	if _, err := pr.giveBack(t.Context(), c); err != nil {
		t.Errorf("the next time: %v", err)
	}
}
