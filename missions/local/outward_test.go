package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestForkOutward: a fork's command finds what its source's named by a path relative to
// its own directory, outside of the workspace; what is in the workspace is the fork's, also by its whole path.
func TestForkOutward(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	above := filepath.Dir(b.dir)
	b.write("sub/mine.json", "{}\n")
	for _, dir := range []string{"lib", filepath.Base(b.dir) + "-2"} {
		if err := os.Mkdir(filepath.Join(above, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(above, "x.json"), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	caller := b.caller()
	caller.Cwd = filepath.Join(b.dir, "sub")
	command := []string{
		"tool", "--settings", "../../x.json", "--settings=../../x.json", "--add-dir", "../../lib", "../../" + filepath.Base(b.dir) + "-2", "look at ../../x.json",
		"mine.json", "../sub/mine.json", "../../none.json", "-v=1", "..",
		"--cd=" + caller.Cwd, filepath.Join(b.dir, "sub", "mine.json"), filepath.Join(b.dir, "none"), "see " + b.dir,
	}
	source, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: caller, Name: "source", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: caller, From: source.Name, Name: "elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(command)
	want[2], want[3] = filepath.Join(above, "x.json"), "--settings="+filepath.Join(above, "x.json")
	want[5], want[6] = filepath.Join(above, "lib"), b.dir+"-2"
	own := r.Missions[0].Workspace
	want[13], want[14] = "--cd="+filepath.Join(own, "sub"), filepath.Join(own, "sub", "mine.json")
	if got := r.Missions[0].Command; !slices.Equal(got, want) {
		t.Errorf("the fork runs\n%q\nwant\n%q", got, want)
	}
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: caller})
	if i := slices.IndexFunc(list, func(m missions.Mission) bool { return m.ID == source.ID }); err != nil || i < 0 || !slices.Equal(list[i].Command, command) {
		t.Errorf("its source is %+v (%v)", list, err)
	}
	b.healthy()
}

// TestForkAmidOperation: a fork says that what was under way in the source's repository,
// a merge here, goes on there alone.
func TestForkAmidOperation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	b.git("switch", "-q", "-c", "side")
	b.git("commit", "-q", "--allow-empty", "-m", "second")
	b.git("switch", "-q", "main")
	b.git("merge", "--no-ff", "--no-commit", "side")
	b.mission("source")
	said := func() bool {
		r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "source"})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, "A merge was under way") })
	}
	if !said() {
		t.Error("nothing is said of the merge")
	}
	b.git("commit", "-qm", "merged")
	b.write("a.txt", "one\n")
	if said() {
		t.Error("it is said of a merge that is over")
	}
}
