package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
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

// TestForkAmidOperation: a fork says that what was under way in the source's repository
// goes on there alone, and says nothing when that is over.
func TestForkAmidOperation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ begin, end []string }{
		"merge":  {[]string{"merge", "--no-ff", "--no-commit", "side"}, []string{"merge", "--abort"}},
		"rebase": {[]string{"-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-i", "HEAD~1"}, []string{"rebase", "--abort"}},
		"bisect": {[]string{"bisect", "start"}, []string{"bisect", "reset"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.git("init", "-q", "-b", "main")
			b.git("commit", "-q", "--allow-empty", "-m", "first")
			b.git("switch", "-q", "-c", "side")
			b.git("commit", "-q", "--allow-empty", "-m", "second")
			b.git("switch", "-q", "main")
			b.git("commit", "-q", "--allow-empty", "-m", "third")
			b.git(c.begin...)
			b.mission("source")
			said := func() bool { return strings.Contains(b.forkNotes(), "git "+name+" was under way") }
			if !said() {
				t.Error("nothing is said of it")
			}
			b.git(c.end...)
			b.write("a.txt", "one\n")
			if said() {
				t.Error("it is said of what is over")
			}
		})
	}
}

// forkNotes is what is said of two forks of the mission source, each line once.
func (b *testBench) forkNotes() string {
	b.Helper()
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "source", Count: 2})
	if err != nil {
		b.Fatal(err)
	}
	if slices.Sort(r.Notes); len(slices.Compact(slices.Clone(r.Notes))) != len(r.Notes) {
		b.Errorf("it says twice %q", r.Notes)
	}
	return strings.Join(r.Notes, "\n")
}

// TestForkHindrances: a fork says what does not work in it as it does in its source, a
// line for each kind, and what mends that.
func TestForkHindrances(t *testing.T) {
	t.Parallel()
	const crypt, annex, link = "git-crypt finds no key", "links of git-annex (1) lead nowhere", "lead from the fork into the source's workspace: abs.txt"
	for name, c := range map[string]struct {
		make func(b *testBench)
		want string
	}{
		"git-crypt": {(*testBench).useGitCrypt, crypt},
		"git-annex": {func(b *testBench) { b.link(".git/annex/objects/aa/bb/SHA256E-s1--x/SHA256E-s1--x", "big") }, annex},
		"a link":    {func(b *testBench) { b.link(filepath.Join(b.dir, "a.txt"), "abs.txt") }, link},
		"nothing": {func(b *testBench) {
			b.link("a.txt", "own")
			b.link(b.dir+"-2/a.txt", "others")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.git("init", "-q", "-b", "main")
			b.git("commit", "-q", "--allow-empty", "-m", "first")
			b.write("a.txt", "one\n")
			c.make(b)
			b.mission("source")
			notes := b.forkNotes()
			for _, text := range []string{crypt, annex, link} {
				if strings.Contains(notes, text) != (text == c.want) {
					t.Errorf("it says %q", notes)
				}
			}
		})
	}
}

// useGitCrypt leaves what git-crypt init leaves in a repository.
func (b *testBench) useGitCrypt() {
	b.Helper()
	b.git("config", "filter.git-crypt.clean", "\"git-crypt\" clean")
	b.git("config", "filter.git-crypt.smudge", "\"git-crypt\" smudge")
	b.write(".git/git-crypt/keys/default", "key")
}

// link makes a symbolic link in the workspace.
func (b *testBench) link(target, name string) {
	b.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.Fatal(err)
	}
}

// TestForkCryptKey: what a fork says to type gives git-crypt its key.
func TestForkCryptKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	b.useGitCrypt()
	b.mission("source")
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "source"})
	if err != nil || len(r.Notes) != 1 {
		t.Fatalf("%q, %v", r.Notes, err)
	}
	_, command, _ := strings.Cut(r.Notes[0], "until: ")
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
	gitDir := strings.TrimSpace(b.git("-C", r.Missions[0].Workspace, "rev-parse", "--absolute-git-dir"))
	if key, err := os.ReadFile(filepath.Join(gitDir, "git-crypt", "keys", "default")); err != nil || string(key) != "key" {
		t.Errorf("git-crypt finds %q, %v", key, err)
	}
	b.healthy()
}

// TestForkWhoseDirectoryLeadsOut: where a snapshot has a link in the place of the agent's
// directory, a fork's agent stays in the fork.
func TestForkWhoseDirectoryLeadsOut(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{"": "sub", "other": "sub", "/": "", "../..": ""} {
		b := newBench(t)
		b.git("init", "-q", "-b", "main")
		b.write("other/file", "x")
		b.write("sub/file", "x")
		caller := b.caller()
		caller.Cwd = filepath.Join(b.dir, "sub")
		if _, err := b.local.NewMission(t.Context(), missions.NewMissionRequest{Caller: caller, Name: "source", Command: []string{"true"}}); err != nil {
			t.Fatal(err)
		}
		if target != "" {
			if err := errors.Join(os.RemoveAll(caller.Cwd), os.Symlink(target, caller.Cwd)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: "source", Name: "elsewhere"})
		if err != nil {
			t.Fatal(err)
		}
		m := r.Missions[0]
		if m.Cwd != filepath.Join(m.Workspace, want) {
			t.Errorf("sub leads to %q: the fork's agent works in %s, its workspace is %s", target, m.Cwd, m.Workspace)
		}
		if said := strings.Contains(strings.Join(r.Notes, "\n"), "leads out of the workspace"); said != (want == "") {
			t.Errorf("sub leads to %q: the notes are %q", target, r.Notes)
		}
		b.healthy()
	}
}
