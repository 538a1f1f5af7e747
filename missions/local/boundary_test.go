package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestLostInTheMiddle: snapshots that are lost in the middle of a history, their
// records or both, take none of those before them along. Doctor says so once, and is
// content then, as is git; log shows the gap, and addresses, restores and forks work
// on both sides of it.
func TestLostInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost            []int
		commit, records bool
		fork            bool // of a snapshot before, which keeps it
	}{
		"one":                        {lost: []int{3}, commit: true},
		"neighbours":                 {lost: []int{2, 3}, commit: true},
		"two stretches":              {lost: []int{2, 4}, commit: true},
		"the first of all":           {lost: []int{0}, commit: true},
		"with its record":            {lost: []int{3}, commit: true, records: true},
		"two stretches with records": {lost: []int{2, 4}, commit: true, records: true},
		"its record alone":           {lost: []int{3}, records: true},
		"before a fork":              {lost: []int{3}, commit: true, records: true, fork: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			b := newBench(t)
			b.write("a.txt", "0\n")
			m := b.mission("work")
			taken := []string{m.Head}
			for n := 1; n < 7; n++ {
				b.write("a.txt", fmt.Sprintln(n))
				taken = append(taken, b.snapshot(fmt.Sprint(n)).ID)
				if n == 4 && c.fork {
					if _, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: taken[4], Name: "beside"}); err != nil {
						t.Fatal(err)
					}
				}
			}
			gone, records := map[int]bool{}, map[int]string{}
			for _, n := range c.lost {
				records[n] = b.recordOf(m, taken[n])
			}
			for n, record := range records {
				if c.commit {
					b.loseObject(m, taken[n])
					gone[n] = true
				}
				if c.records {
					b.loseObject(m, record)
				}
			}
			b = b.again()
			before, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()})
			if err != nil || len(before.Problems) == 0 {
				t.Fatalf("doctor saw nothing: %+v %v", before, err)
			}
			said := b.said(missions.DoctorRequest{Fix: true})
			for n := range gone {
				if want := "snapshot " + taken[n][:10] + " is lost for good"; len(c.lost) == 1 && !strings.Contains(said, want) {
					t.Errorf("not said: %q, but\n%s", want, said)
				}
			}
			if c.commit {
				b.healthy()
			} else {
				b.knownLost(taken[c.lost[0]])
			}
			b = b.again()
			var left []string
			for n := len(taken) - 1; n >= 0; n-- {
				if !gone[n] {
					left = append(left, taken[n])
				}
			}
			list := b.history("work")
			for i, e := range list {
				if len(list) != len(left) || e.ID != left[i] {
					t.Fatalf("history: %+v", list)
				}
				after := -1 // the lost one that it followed
				for n := range taken {
					if taken[n] == e.ID && gone[n-1] {
						after = n - 1
					}
				}
				if after >= 0 != (e.LostBefore != "") || after >= 0 && e.LostBefore != taken[after] {
					t.Errorf("%s says that before it %q is lost", e.Message, e.LostBefore)
				}
			}
			for n, id := range taken {
				if gone[n] || c.records && !c.commit && n == c.lost[0] {
					continue
				}
				b.restore(id)
				if got, want := b.read("a.txt"), fmt.Sprintln(n); got != want {
					t.Errorf("restored %d: %q", n, got)
				}
			}
			if !gone[0] {
				if got := b.cat("work@start", "a.txt"); got != "0\n" {
					t.Errorf("its start has %q", got)
				}
			}
			if _, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: taken[1], Name: "early"}); err != nil {
				t.Errorf("fork: %v", err)
			}
			b.git("--git-dir", m.ShadowRepo, "fsck", "--full", "--no-dangling")
			if c.commit {
				b.healthy()
			}
		})
	}
}

// knownLost expects doctor to be content, and to name a snapshot of which it has said
// before that something in it is lost.
func (b *testBench) knownLost(snapshot string) {
	b.Helper()
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) > 0 || len(d.Lost) == 0 || !strings.Contains(d.Lost[0].Message, snapshot[:10]) {
		b.Errorf("problems %+v, lost %+v, %v", d.Problems, d.Lost, err)
	}
}

// TestLostComesBack: a snapshot that was lost and is there again, as from a backup, is
// a part of its history again.
func TestLostComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "0\n")
	m := b.mission("work")
	var taken []string
	for n := range 4 {
		b.write("a.txt", fmt.Sprintln(n))
		taken = append(taken, b.snapshot(fmt.Sprint(n)).ID)
	}
	file := filepath.Join(m.ShadowRepo, "objects", taken[1][:2], taken[1][2:])
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	b.mended("lost")
	if n := len(b.history("work")); n != 4 {
		t.Errorf("%d snapshots", n)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	b.loseObject(m, taken[2]) // so that there is something to mend
	b.mended("another")
	list := b.history("work")
	if len(list) != 4 || list[1].ID != taken[1] || list[0].LostBefore != taken[2] || list[1].LostBefore != "" {
		t.Errorf("history: %+v", list)
	}
}

// TestLogOverLostFiles: a file that is lost ends no log, which says that the snapshot
// is partial.
func TestLogOverLostFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "0\n")
	m := b.mission("work")
	for n := range 3 {
		b.write("a.txt", fmt.Sprintln("change", n))
		b.snapshot(fmt.Sprint(n))
	}
	b.loseObject(m, strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", "work~1:a.txt")))
	b = b.again()
	for _, patch := range []bool{false, true} {
		list, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Lines: true, Patch: patch})
		if err != nil || len(list) != 4 || !list[1].Partial || list[3].Partial {
			t.Errorf("patch %t: %+v, %v", patch, list, err)
		}
	}
}
