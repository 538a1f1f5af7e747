//go:build unix

package lock

import (
	"path/filepath"
	"testing"
)

// TestGiveWay: a process that takes a lock again and again, and gives way before, lets in between
// whoever waits, once that has been seen to wait.
func TestGiveWay(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]Mode{"shared": Shared, "exclusive": Exclusive} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, path := soon(t), filepath.Join(t.TempDir(), "lock")
			for range 20 {
				must(t, GiveWay(ctx, path))
				mine, err := Try(path, Exclusive, Self("often"))
				must(t, err)
				came := make(chan error, 1)
				go func() {
					other, err := Wait(ctx, path, mode, Self("other"))
					came <- err // before anybody else can have it
					_ = other.Release()
				}()
				awaitWaiter(t, path)
				must(t, mine.Release())
				must(t, GiveWay(ctx, path))
				mine, err = Wait(ctx, path, Exclusive, Self("often"))
				must(t, err)
				select {
				case err := <-came:
					must(t, err)
				default:
					t.Fatal("the lock was taken again before whoever waited had it")
				}
				must(t, mine.Release())
			}
		})
	}
}

// TestGiveWayToTheKilled: nobody waits for a process that was killed while it waited.
func TestGiveWayToTheKilled(t *testing.T) {
	t.Parallel()
	ctx, path := soon(t), filepath.Join(t.TempDir(), "lock")
	must(t, GiveWay(ctx, path))
	mine, err := Try(path, Exclusive, Self("often"))
	must(t, err)
	other := player(t, "hold-after", path)
	must(t, other.Start())
	awaitWaiter(t, path)
	must(t, other.Process.Kill())
	_ = other.Wait()
	must(t, mine.Release())
	must(t, GiveWay(ctx, path))
	again, err := Try(path, Exclusive, Self("often"))
	must(t, err)
	must(t, again.Release())
}

// awaitWaiter returns once somebody waits for a lock.
func awaitWaiter(t *testing.T, path string) {
	t.Helper()
	for ctx := soon(t); ; {
		probe, err := Try(waitingFile(path), Exclusive, Self("probe"))
		if err != nil {
			return
		}
		must(t, probe.Release())
		must(t, ctx.Err())
	}
}
