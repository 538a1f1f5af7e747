package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestMergeBaseOfBoth: what a mission takes back of another one's work, it takes back where it
// is merged too, whichever of them had been merged into the other, or a third one into both.
func TestMergeBaseOfBoth(t *testing.T) {
	t.Parallel()
	type bench struct {
		merge func(from, into string)
		put   func(mission, name, content string)
		undo  func(mission string)
	}
	for _, c := range []struct {
		name         string
		do           func(b bench)
		into         string
		want, second string
	}{
		{"the parent into its fork", func(b bench) {
			b.put("m", "a.txt", "parent\n")
			b.put("m", "b.txt", "parent\n")
			b.merge("m", "fa")
			b.put("fa", "a.txt", "one\n")
			b.merge("fa", "m")
		}, "m", "one\n", "parent\n"},
		{"the parent into its fork, and undone", func(b bench) {
			b.put("m", "a.txt", "parent\n")
			b.merge("m", "fa")
			b.undo("fa")
			b.put("fa", "b.txt", "fork\n")
			b.merge("fa", "m")
		}, "m", "parent\n", "fork\n"},
		{"each into the other", func(b bench) {
			b.put("fa", "a.txt", "fork\n")
			b.merge("fa", "m")
			b.put("m", "b.txt", "parent\n")
			b.merge("m", "fa")
			b.put("fa", "b.txt", "one\n")
			b.put("m", "a.txt", "one\n")
			b.merge("fa", "m")
		}, "m", "one\n", "one\n"},
		{"a fork into its sibling, and back", func(b bench) {
			b.put("fa", "a.txt", "fork\n")
			b.merge("fa", "fb")
			b.put("fb", "a.txt", "one\n")
			b.merge("fb", "fa")
		}, "fa", "one\n", "one\n"},
		{"the parent into two forks", func(b bench) {
			b.put("m", "a.txt", "parent\n")
			b.merge("m", "fa")
			b.put("m", "b.txt", "parent\n")
			b.merge("m", "fb")
			b.put("fa", "a.txt", "one\n")
			b.merge("fa", "fb")
		}, "fb", "one\n", "parent\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, "fa", "fb")
			c.do(bench{
				merge: func(from, into string) {
					t.Helper()
					r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Into = []string{from}, into })
					if err != nil || !r.Done {
						t.Fatalf("%+v, %v", r, err)
					}
				},
				put: func(mission, name, content string) {
					t.Helper()
					if err := os.WriteFile(filepath.Join(dirs[mission], name), []byte(content), 0o644); err != nil {
						t.Fatal(err)
					}
				},
				undo: func(mission string) {
					t.Helper()
					if _, err := b.local.Undo(t.Context(), missions.UndoRequest{Caller: b.caller(), Mission: mission}); err != nil {
						t.Fatal(err)
					}
				},
			})
			for name, want := range map[string]string{"a.txt": c.want, "b.txt": c.second} {
				if got, err := os.ReadFile(filepath.Join(dirs[c.into], name)); err != nil || string(got) != want {
					t.Errorf("%s is %q, want %q (%v)", name, got, want, err)
				}
			}
		})
	}
}

// TestMergeBaseCrossed: where each of two missions was merged into the other, and neither saw
// what came of that, what either brought is known to both, and what both made of the same
// lines is asked.
func TestMergeBaseCrossed(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"}, "fa")
	put := func(mission, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dirs[mission], name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("m", "a.txt", "parent\n")
	put("fa", "b.txt", "fork\n")
	put("m", "c.txt", "parent\n")
	put("fa", "c.txt", "fork\n")
	step := func(step missions.MergeStep, from, into string, take missions.MergeTake) missions.MergeResult {
		t.Helper()
		r, err := b.merge(step, func(r *missions.MergeRequest) {
			if r.Into = into; step == missions.MergeBegin {
				r.Forks = []string{from}
			}
			if take != "" {
				r.Choices = []missions.MergeChoice{{Path: "c.txt", Take: take}}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	step(missions.MergeBegin, "m", "fa", "")
	step(missions.MergeBegin, "fa", "m", "")
	for _, into := range []string{"m", "fa"} {
		step(missions.MergeResolve, "", into, missions.TakeOurs)
		if r := step(missions.MergeContinue, "", into, ""); !r.Done {
			t.Fatalf("%+v", r)
		}
	}
	put("fa", "a.txt", "one\n")
	put("m", "b.txt", "one\n")
	if r := step(missions.MergeBegin, "fa", "m", ""); len(r.Conflicts) != 1 || r.Conflicts[0].Path != "c.txt" {
		t.Fatalf("open is %+v", r.Conflicts)
	}
	step(missions.MergeResolve, "", "m", missions.TakeTheirs)
	step(missions.MergeContinue, "", "m", "")
	for name, want := range map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "fork\n"} {
		if got := b.read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
