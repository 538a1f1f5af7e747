package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// calledOff ends at the n-th look at whether it has ended.
type calledOff struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func callOffAt(n int64) *calledOff {
	c := &calledOff{}
	c.Context, c.cancel = context.WithCancel(context.Background())
	c.left.Store(n)
	return c
}

func (c *calledOff) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestInterruptedFirstSnapshot calls a first snapshot off at many moments: each
// time nothing is left of it, and the next one is whole.
func TestInterruptedFirstSnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 300 {
		b.write(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat(fmt.Sprint(i), i))
	}
	interrupted := 0
	for n := int64(1); ; n = n*3/2 + 1 {
		ctx := callOffAt(n)
		m, err := b.local.NewMission(ctx, missions.NewMissionRequest{Caller: b.caller(), Name: fmt.Sprint("m", n), Command: []string{"sh"}})
		ctx.cancel()
		if err != nil {
			if !errors.Is(err, context.Canceled) && missions.AsError(err).Kind != missions.KindInterrupted {
				t.Fatalf("called off at %d: %v", n, err)
			}
			interrupted++
			if list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil || len(list) > 0 {
				t.Fatalf("called off at %d, there is %v (%v)", n, list, err)
			}
			b.noTemporary(n)
			if left, err := filepath.Glob(filepath.Join(b.home, "projects", "*")); err != nil || len(left) > 0 {
				t.Fatalf("called off at %d, left %s (%v)", n, left, err)
			}
			continue
		}
		if interrupted < 8 {
			t.Errorf("called off only %d times", interrupted)
		}
		if out, err := exec.Command("git", "-C", m.ShadowRepo, "ls-tree", "-r", "--name-only", "m"+fmt.Sprint(n)).Output(); err != nil || strings.Count(string(out), "\n") != 300 {
			t.Errorf("the snapshot holds %d files (%v)", strings.Count(string(out), "\n"), err)
		}
		if out, err := exec.Command("git", "-C", m.ShadowRepo, "fsck", "--full").CombinedOutput(); err != nil {
			t.Errorf("git fsck: %v\n%s", err, out)
		}
		return
	}
}

func (b *testBench) noTemporary(n int64) {
	b.Helper()
	err := filepath.WalkDir(b.home, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), "tmp_") {
			b.Errorf("called off at %d, left %s", n, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}
