package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// merge does a step of a merge into the mission "m".
func (b *testBench) merge(step missions.MergeStep, change ...func(*missions.MergeRequest)) (missions.MergeResult, error) {
	b.Helper()
	r := missions.MergeRequest{Caller: b.caller(), Step: step, Into: "m"}
	for _, c := range change {
		c(&r)
	}
	return b.local.Merge(context.Background(), r)
}

// forksToMerge is a mission "m" and forks of it, with their workspaces.
func forksToMerge(t *testing.T, files map[string]string, names ...string) (b *testBench, dirs map[string]string) {
	t.Helper()
	b, dirs = newBench(t), map[string]string{}
	for name, content := range files {
		b.write(name, content)
	}
	b.mission("m")
	dirs["m"] = b.dir
	for _, name := range names {
		made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "m", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		dirs[name] = made.Missions[0].Workspace
	}
	return b, dirs
}

// TestMergeLosesNoLine merges random edits of three forks, with random answers where they
// conflict: each line that one side added is there, but for sides that were asked about, and
// each that nobody removed. Until the last step the target is as it was.
func TestMergeLosesNoLine(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 22))
			const lines = 40
			var text []string
			for n := range lines {
				text = append(text, fmt.Sprintf("line %d", n))
			}
			b, dirs := forksToMerge(t, map[string]string{"a.txt": strings.Join(text, "\n") + "\n"}, "fa", "fb", "fc")
			added := map[string]int{} // line -> where
			removed := map[string]bool{}
			for _, name := range []string{"m", "fa", "fb", "fc"} {
				var out []string
				for n, line := range text {
					switch rnd.IntN(10) {
					case 0:
						own := fmt.Sprintf("%s added at %d", name, n)
						added[own] = n
						out = append(out, own, line)
					case 1:
						removed[line] = true
					default:
						out = append(out, line)
					}
				}
				if err := os.WriteFile(filepath.Join(dirs[name], "a.txt"), []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := b.read("a.txt")
			names, asked, answers := []string{"fa", "fb", "fc"}, map[string]bool{}, []missions.MergeTake{}
			r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) {
				r.Forks, r.Auto = names, missions.MergeMedium
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Conflicts) > 0 {
				if b.read("a.txt") != before {
					t.Error("an open merge has changed the target")
				}
				for len(r.Conflicts) > 0 {
					options := r.Conflicts[0].Options
					take := options[rnd.IntN(len(options)-1)] // a file is the last one
					answers = append(answers, take)
					for _, name := range names {
						named := slices.Contains(options, missions.TakeTheirs) || slices.Contains(options, missions.MergeTake(name))
						asked[name] = asked[name] || take != missions.TakeBoth && named
					}
					asked["m"] = asked["m"] || take != missions.TakeBoth && take != missions.TakeOurs
					if r, err = b.merge(missions.MergeResolve, func(r *missions.MergeRequest) {
						r.Choices = []missions.MergeChoice{{Path: "a.txt", Take: take}}
					}); err != nil {
						t.Fatal(err)
					}
				}
				if b.read("a.txt") != before {
					t.Error("an answer has changed the target")
				}
				if r, err = b.merge(missions.MergeContinue); err != nil {
					t.Fatal(err)
				}
			}
			if !r.Done || len(r.From) != 3 {
				t.Fatalf("merged %+v", r)
			}
			now := strings.Split(b.read("a.txt"), "\n")
			for own := range added {
				side, _, _ := strings.Cut(own, " ")
				if !asked[side] && !slices.Contains(now, own) {
					t.Errorf("%q is lost by %q", own, answers)
				}
			}
			for _, line := range text {
				if !removed[line] && !slices.Contains(now, line) {
					t.Errorf("%q is lost, which nobody removed", line)
				}
			}
			if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "m"}); err != nil || b.read("a.txt") != before {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

// TestMergeAsksOfEachSide: what several sides conflict in is seen before anybody chooses, and
// a conflict that comes up by a choice is asked about: the choice before is no answer to it.
func TestMergeAsksOfEachSide(t *testing.T) {
	t.Parallel()
	text := func(change map[int]string) string {
		var out strings.Builder
		for n := range 20 {
			if fmt.Fprint(&out, n); change[n] != "" {
				fmt.Fprint(&out, " ", change[n])
			}
			fmt.Fprintln(&out)
		}
		return out.String()
	}
	b, dirs := forksToMerge(t, map[string]string{"f": text(nil), "g": text(nil)}, "fa", "fb")
	for side, change := range map[string][2]map[int]string{
		"m": {{2: "m"}, {2: "m"}}, "fa": {{2: "fa", 15: "fa"}, {2: "fa", 3: "fa", 4: "fa"}}, "fb": {{15: "fb"}, {4: "fb"}},
	} {
		for i, name := range []string{"f", "g"} {
			if err := os.WriteFile(filepath.Join(dirs[side], name), []byte(text(change[i])), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fa", "fb"} })
	if err != nil || len(r.Conflicts) != 2 || !slices.Contains(r.Conflicts[0].Options, "fb") || slices.Contains(r.Conflicts[1].Options, "fb") {
		t.Fatalf("%+v, %v", r.Conflicts, err)
	}
	choose := func(step missions.MergeStep, path missions.Path, take missions.MergeTake) missions.MergeResult {
		t.Helper()
		r, err := b.merge(step, func(r *missions.MergeRequest) { r.Choices = []missions.MergeChoice{{Path: path, Take: take}} })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	_, err = b.merge(missions.MergeResolve, func(r *missions.MergeRequest) { r.Choices = []missions.MergeChoice{{Path: "g", Take: "m"}} })
	if err == nil {
		t.Error("the target's name is taken for ours, which has lines of fa")
	}
	choose(missions.MergeResolve, "f", "fb")
	if r := choose(missions.MergeResolve, "g", missions.TakeTheirs); len(r.Conflicts) != 1 || r.Conflicts[0].Path != "g" || r.Conflicts[0].Chosen != "" {
		t.Errorf("fa's lines conflict with those of fb, and open is %+v", r.Conflicts)
	}
	choose(missions.MergeResolve, "g", missions.TakeBoth)
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	if got, want := b.read("f"), text(map[int]string{2: "m", 15: "fb"}); got != want {
		t.Errorf("f is %q", got)
	}
	if got := b.read("g"); !strings.Contains(got, "2 fa\n3 fa\n4 fa\n2\n3\n4 fb\n") {
		t.Errorf("g is %q", got)
	}
}

// TestMergeCutOff: a merge whose restore fails leaves the target as it was, and goes on; one
// that was in place when its process was killed is ended by the next step, and its agent is
// told once.
func TestMergeCutOff(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "child")
	if err := os.WriteFile(filepath.Join(dirs["child"], "a.txt"), []byte("fork\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.local.RestoreStep = func(string) error { return errors.New("the disk is broken") }
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"child"} }); err == nil {
		t.Fatal("it was merged by a broken disk")
	}
	b.local.RestoreStep = nil
	if b.read("a.txt") != "one\n" {
		t.Error("a merge that failed has changed the target")
	}
	view, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.local.MissionByID(view.ID)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(m.Project.Dir, "merges", m.ID+".json")
	waits, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.merge(missions.MergeContinue)
	if err != nil || !r.Done || b.read("a.txt") != "fork\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := os.WriteFile(file, waits, 0o600); err != nil { // as if the process had been killed before it removed it
		t.Fatal(err)
	}
	if seen, err := b.merge(missions.MergeStatus); err != nil || !seen.Done {
		t.Errorf("its status: %+v, %v", seen, err)
	}
	if _, err := b.merge(missions.MergeContinue, func(r *missions.MergeRequest) { r.Merge = "another" }); missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("a step that is meant for another merge: %v", err)
	}
	again, err := b.merge(missions.MergeContinue)
	if err != nil || !again.Done || again.Result != r.Result {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	told, err := b.local.Updates(context.Background(), missions.UpdatesRequest{Caller: b.caller(), Mission: "m"})
	if err != nil || len(told) != 1 || told[0].Kind != missions.UpdateMerged {
		t.Errorf("told %+v, %v", told, err)
	}
	if _, err := b.merge(missions.MergeStatus); missions.AsError(err).Kind != missions.KindNotFound {
		t.Errorf("what waits: %v", err)
	}
}

// TestMergeBase: what was merged once is not merged again, and after an undo it is.
func TestMergeBase(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, "child")
	begin := func() missions.MergeResult {
		t.Helper()
		r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"child"} })
		if err != nil || !r.Done {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	put := func(dir, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(dirs["child"], "a.txt", "fork\n")
	begin()
	put(b.dir, "a.txt", "mine again\n") // over what came from the fork
	put(dirs["child"], "b.txt", "fork\n")
	if r := begin(); len(r.Taken) != 1 || b.read("a.txt") != "mine again\n" || b.read("b.txt") != "fork\n" {
		t.Errorf("the second merge took %+v", r.Taken)
	}
	put(b.dir, "a.txt", "fork\n")
	for range 2 {
		if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	if r := begin(); len(r.Taken) != 2 || b.read("a.txt") != "fork\n" {
		t.Errorf("after the undo %+v was taken, a.txt is %q", r.Taken, b.read("a.txt"))
	}
}

// TestMergeTakenBackByTheFork: what a fork takes back of its parent's work, once that was
// merged into it, is taken back in the parent too.
func TestMergeTakenBackByTheFork(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "child")
	b.write("by-m.txt", "m\n")
	b.write("kept.txt", "m\n")
	into := func(name, from string) missions.MergeResult {
		t.Helper()
		r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Into, r.Forks = name, []string{from} })
		if err != nil || !r.Done {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	into("child", "m")
	if err := os.Remove(filepath.Join(dirs["child"], "by-m.txt")); err != nil {
		t.Fatal(err)
	}
	if r := into("m", "child"); len(r.Taken) != 1 || r.Taken[0].Path != "by-m.txt" {
		t.Errorf("taken is %+v", r.Taken)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "by-m.txt")); !os.IsNotExist(err) || b.read("kept.txt") != "m\n" {
		t.Errorf("by-m.txt: %v, kept.txt %q", err, b.read("kept.txt"))
	}
}

// TestMergeWithoutBytes: a merge that changes permissions alone, or one in which all stayed as
// it was, is done once, is not asked again, and is undone.
func TestMergeWithoutBytes(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"}, "child")
	mode := func() os.FileMode {
		t.Helper()
		info, err := os.Stat(filepath.Join(b.dir, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	private := filepath.Join(dirs["child"], "a.txt")
	if err := os.Chmod(private, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func() missions.MergeResult {
		t.Helper()
		r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"child"} })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := begin(); !r.Done || mode() != 0o600 {
		t.Errorf("%+v; a.txt has mode %o", r, mode())
	}
	b.write("b.txt", "m\n")
	if err := os.WriteFile(filepath.Join(dirs["child"], "b.txt"), []byte("child\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := begin(); r.Done || len(r.Conflicts) != 1 {
		t.Fatalf("%+v", r)
	}
	if _, err := b.merge(missions.MergeResolve, func(r *missions.MergeRequest) {
		r.Choices = []missions.MergeChoice{{Path: "b.txt", Take: missions.TakeOurs}}
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done || r.Result == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	if r := begin(); !r.Done || len(r.Taken)+len(r.Conflicts) > 0 {
		t.Errorf("it is asked again: %+v", r)
	}
	undo := missions.UndoRequest{Caller: b.caller(), Mission: "m"}
	if r, err := b.local.Undo(context.Background(), undo); err != nil || !r.Done || r.Snapshot == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	if r := begin(); r.Done || len(r.Conflicts) != 1 {
		t.Errorf("after the undo: %+v", r)
	}
	if _, err := b.merge(missions.MergeAbort); err != nil {
		t.Fatal(err)
	}
	if r, err := b.local.Undo(context.Background(), undo); err != nil || !r.Done || mode() != 0o644 {
		t.Errorf("%+v, %v; a.txt has mode %o", r, err, mode())
	}
}

// TestMergeUndoneIsNotTold: what an undo took back, and no prompt has told yet, waits no
// longer; a redo has it wait again.
func TestMergeUndoneIsNotTold(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "child")
	if err := os.WriteFile(filepath.Join(dirs["child"], "a.txt"), []byte("child\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"child"} }); err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	waits := func(want int) {
		t.Helper()
		list, err := b.local.Updates(context.Background(), missions.UpdatesRequest{Caller: b.caller(), Mission: "m"})
		if err != nil || len(list) != want {
			t.Errorf("%d updates wait, %v, want %d", len(list), err, want)
		}
	}
	waits(1)
	undo := missions.UndoRequest{Caller: b.caller(), Mission: "m"}
	if _, err := b.local.Undo(context.Background(), undo); err != nil {
		t.Fatal(err)
	}
	waits(0)
	if _, err := b.local.Redo(context.Background(), undo); err != nil {
		t.Fatal(err)
	}
	waits(1)
}

// TestMergeRefused: while one command merges into a mission another one does not, and where
// its workspace is gone none begins, nor does one wait.
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "fa", "fb")
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dirs[name], "a.txt"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("fa", "fa\n")
	var second error
	b.local.RestoreStep = func(string) error {
		_, second = b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fb"} })
		return nil
	}
	if r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fa"} }); err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	b.local.RestoreStep = nil
	if e := missions.AsError(second); e.Kind != missions.KindBusy || !strings.Contains(e.Message, "just now") {
		t.Errorf("a merge beside another one: %v", second)
	}

	put("fb", "fb\n")
	if err := os.RemoveAll(dirs["fa"]); err != nil {
		t.Fatal(err)
	}
	begin := func(r *missions.MergeRequest) { r.Into, r.Forks = "fa", []string{"fb"} }
	if _, err := b.merge(missions.MergeBegin, begin); err == nil || !strings.Contains(err.Error(), "nothing was merged into fa: its workspace") {
		t.Errorf("into a mission whose workspace is gone: %v", err)
	}
	if _, err := b.merge(missions.MergeStatus, func(r *missions.MergeRequest) { r.Into = "fa" }); missions.AsError(err).Kind != missions.KindNotFound {
		t.Errorf("what waits: %v", err)
	}
}
