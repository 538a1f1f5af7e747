package daemon

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestRulesFoundChangedByAnyCapture: whatever capture is the first to find that
// less is ignored, and whomever it is for, what was ignored is watched from then
// on.
func TestRulesFoundChangedByAnyCapture(t *testing.T) {
	finds := map[string]func(b *bench, c missions.Service) error{
		"a snapshot": func(b *bench, c missions.Service) error {
			_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work"})
			return err
		},
		"a difference": func(b *bench, c missions.Service) error {
			_, err := c.Diff(b.ctx(), missions.DiffRequest{Caller: b.caller(), From: "work"})
			return err
		},
		"a preview": func(b *bench, c missions.Service) error {
			_, err := c.Restore(b.ctx(), missions.RestoreRequest{Caller: b.caller(), Mission: "work", Moment: "work@start", All: true, Preview: true})
			return err
		},
		"a snapshot of a mission without an agent": func(b *bench, c missions.Service) error {
			_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller(), Mission: "quiet"})
			return err
		},
	}
	for name, find := range finds {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.start()
			c := b.connect()
			_, err := exec.Command("git", "-C", b.work, "init", "-q").CombinedOutput()
			must(t, err)
			b.write(".gitignore", "out\n")
			b.write("out/sub/x", "one\n")
			for i := range 100 { // more than are read again in rotation
				b.write(fmt.Sprintf("a/%02d", i), "a\n")
			}
			b.mission(c, "quiet")
			b.agent(c, b.mission(c, "work"))
			b.until("watched", func() bool { return b.watched(s) })
			snapshot := func() {
				_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work"})
				must(t, err)
			}
			b.until("the next snapshot need not walk", func() bool {
				snapshot()
				d := s.watch.Take(b.ctx(), b.work)
				s.watch.Return(b.work, d)
				return !d.Full
			})
			b.write(".gitignore", "")
			must(t, find(b, c))
			for _, content := range []string{"two\n", "three\n"} {
				b.write("out/sub/x", content)
				snapshot()
				got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "out/sub/x"})
				if err != nil || string(got) != content {
					t.Errorf("the snapshot holds %q, %v; on disk is %q", got, err, content)
				}
			}
		})
	}
}
