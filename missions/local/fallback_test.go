package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// loseObject removes an object of a mission's store.
func (b *testBench) loseObject(m missions.Mission, id string) {
	b.Helper()
	if err := os.Remove(filepath.Join(m.ShadowRepo, "objects", id[:2], id[2:])); err != nil {
		b.Fatal(err)
	}
}

// said is what doctor has mended, in one text.
func (b *testBench) said(r missions.DoctorRequest) string {
	b.Helper()
	r.Caller = b.caller()
	d, err := b.local.Doctor(context.Background(), r)
	if err != nil {
		b.Fatal(err)
	}
	text := ""
	for _, p := range d.Fixed {
		text += p.Mission + ": " + p.Message + "\n"
	}
	return text
}

// TestLostNewestSnapshot: a mission whose newest snapshots are lost goes on from
// the newest that is whole, with all before it; what was recorded with the lost
// ones is kept, and all of it is said. So it is where the chain of its records is
// broken too.
func TestLostNewestSnapshot(t *testing.T) {
	t.Parallel()
	for name, chain := range map[string]bool{"records whole": true, "records lost too": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "0\n")
			m := b.mission("work")
			var taken []missions.Entry
			for n := range 4 {
				b.write("a.txt", fmt.Sprintln("change", n))
				taken = append(taken, b.snapshot(fmt.Sprint(n)))
			}
			records := strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", string(gitstore.RecordRef(m.ID))))
			b.loseObject(m, taken[3].ID)
			b.loseObject(m, taken[2].ID)
			if !chain {
				b.loseObject(m, records)
			}
			b = b.again()
			said := b.said(missions.DoctorRequest{Fix: true})
			for _, want := range []string{"work: ", taken[3].ID[:10] + ", is lost", "goes on from " + taken[1].ID[:10]} {
				if !strings.Contains(said, want) {
					t.Errorf("not said: %q, but\n%s", want, said)
				}
			}
			if strings.Contains(said, "read again") {
				t.Errorf("what is lost was said to be read again:\n%s", said)
			}
			if chain {
				if got := strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", "refs/keep/"+taken[3].ID)); got != records {
					t.Errorf("%s is kept, not %s", got, records)
				}
			}
			b.healthy()
			if got := b.cat("work", "a.txt"); got != "change 3\n" {
				t.Errorf("what is on disk was not captured again: %q", got)
			}
			b.write("a.txt", "after\n")
			b.snapshot("after")
			if list := b.history("work"); len(list) != 5 || !list[1].Partial || list[2].ID != taken[1].ID || list[4].ID != m.Head {
				t.Errorf("history: %+v", list)
			}
			b.restore("work@start")
			if got := b.read("a.txt"); got != "0\n" {
				t.Errorf("restored %q", got)
			}
			b.healthy()
		})
	}
}

// TestLostNewestRecord: a mission whose newest record is lost can be read again,
// with its files as they were.
func TestLostNewestRecord(t *testing.T) {
	t.Parallel()
	for name, of := range map[string][]string{"the record": {"^{tree}", ""}, "the mission in it": {":" + projects.MissionDoc}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "0\n")
			m := b.mission("work")
			for n := range 3 {
				b.write("a.txt", fmt.Sprintln("change", n))
				b.snapshot(fmt.Sprint(n))
			}
			last := b.only().Head
			for _, object := range of {
				b.loseObject(m, strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", string(gitstore.RecordRef(m.ID))+object)))
			}
			b = b.again()
			_, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: m.ID})
			b.fails("show", err, missions.KindDamaged)
			if said := b.said(missions.DoctorRequest{Fix: true}); !strings.Contains(said, "work: ") || !strings.Contains(said, last[:10]+", is lost") {
				t.Errorf("said:\n%s", said)
			}
			b.knownLost(last)
			for _, moment := range []string{"work", last} {
				if got := b.cat(moment, "a.txt"); got != "change 2\n" {
					t.Errorf("%s has %q", moment, got)
				}
			}
			b.write("a.txt", "after\n")
			b.snapshot("after")
			if list := b.history("work"); len(list) != 7 || !list[1].Partial || !list[2].Partial || list[3].ID != last {
				t.Errorf("history: %+v", list)
			}
			b.restore("work~1")
			if got := b.read("a.txt"); got != "change 2\n" {
				t.Errorf("restored %q", got)
			}
			b.knownLost(last)
		})
	}
}
