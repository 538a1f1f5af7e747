package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestOpeningsReadOnce: of rollouts that were looked through before, only those are read
// whose first line was not whole; what is deleted is gone, and what is new is found.
func TestOpeningsReadOnce(t *testing.T) {
	a := New()
	env, s := newTeam(t, led)
	names := func() (list []string) {
		t.Helper()
		sides, err := a.Sides(env, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range sides {
			list = append(list, filepath.Base(side.Name)[len("rollout-2026-11-22T07-57-42-"):])
		}
		slices.Sort(list) // ids begin with the time
		return list
	}
	const begunID, laterID = "01a20245-eeee-70f3-8cf7-6473b39ae7cc", "01a20246-eeee-70f3-8cf7-6473b39ae7cc"
	begun := mkfile(t, a.Path(env, "", begunID), subagent(begunID, idA)[:200])
	want := fmt.Sprint([]string{subID + ".jsonl", subSub + ".jsonl"})
	if got := fmt.Sprint(names()); got != want {
		t.Fatalf("the subagents are %s, want %s", got, want)
	}

	// What was read is not read again: in place of it is what could not be.
	read := a.Path(env, "", idB)
	if err := os.WriteFile(read, []byte(transcript(subagent(idB, idA))), 0o600); err != nil {
		t.Fatal(err)
	}
	mkfile(t, begun, transcript(subagent(begunID, idA)))
	mkfile(t, a.Path(env, "", laterID), transcript(subagent(laterID, idA)))
	if err := os.Remove(a.Path(env, "", subID)); err != nil {
		t.Fatal(err)
	}
	want = fmt.Sprint([]string{subSub + ".jsonl", begunID + ".jsonl", laterID + ".jsonl"})
	if got := fmt.Sprint(names()); got != want {
		t.Errorf("the subagents are then %s, want %s", got, want)
	}
	if fresh, err := (Adapter{}).Sides(env, s); err != nil || len(fresh) != 4 {
		t.Errorf("one that remembers nothing finds %+v, %v", fresh, err)
	}
}

// BenchmarkSides looks for a session's subagents among a thousand rollouts that have
// begun since, as each snapshot does.
func BenchmarkSides(b *testing.B) {
	for name, a := range map[string]Adapter{"first": {}, "again": New()} {
		b.Run(name, func(b *testing.B) {
			env := sessions.Environ{Home: b.TempDir()}
			main := a.Path(env, "", idA)
			if err := os.MkdirAll(filepath.Dir(main), 0o700); err != nil {
				b.Fatal(err)
			}
			other := meta(idB) + strings.Repeat(" ", 16<<10) + "\n"
			for n := range 1000 {
				if err := os.WriteFile(a.Path(env, "", fmt.Sprintf("01a20243-eeee-70f3-8cf7-%012d", n)), []byte(other), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(main, []byte(transcript(led)), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := a.Sides(env, sessions.Session{ID: idA, Path: main}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
