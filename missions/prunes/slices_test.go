package prunes

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
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
	return New(d, nil, nil), choice{project: &projects.Project{ID: "p", Name: "project"}, said: &sync.Once{}}
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
	if said != 1 || ran != 2 {
		t.Errorf("said %d times, %d slices", said, ran)
	}
	if err := pr.runSlice(ctx, c, func() error { return missions.Errorf(missions.KindBusy, "", "its own") }); err == nil {
		t.Error("an error of the slice itself is lost")
	}
}
