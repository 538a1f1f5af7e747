package local

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/doctor"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// holds is everything below a path of the workspace: kind, mode and content.
func (b *testBench) holds(dir string) map[string]string {
	b.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Join(b.dir, dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := []byte{}
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[path] = fmt.Sprintf("%s %s", info.Mode(), content)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// differs names what is not the same in two listings.
func differs(before, after map[string]string) []string {
	names := map[string]bool{}
	for name := range before {
		names[name] = before[name] != after[name]
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			names[name] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool { return !names[name] })
}

// TestWhatGitCannotAddIsCaptured: an unborn nested repository, where git add
// fails and leaves the empty tree behind.
func TestWhatGitCannotAddIsCaptured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("nested/b.txt", "two\n")
	(&testBench{T: t, user: b.user, dir: filepath.Join(b.dir, "nested")}).git("init", "-q")
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	_, failed := naive.Try("add", "-A")
	naive.Git("commit", "-q", "--allow-empty", "-m", "snapshot") // the failure is not looked at
	naive.Restore("HEAD")
	hazards.Shown(t, hazards.H1, failed != nil && !other.exists("a.txt"), "`git add` fails for an unborn nested repository; the empty tree is committed, and restoring it wipes the workspace")

	b.mission("work")
	if b.cat("work", "a.txt") != "one\n" || b.cat("work", "nested/b.txt") != "two\n" {
		t.Error("the snapshot does not hold what is on disk")
	}
	b.write("nested/b.txt", "three\n")
	b.restore("work@start")
	if b.read("a.txt") != "one\n" || b.read("nested/b.txt") != "two\n" || !b.exists("nested/.git/HEAD") {
		t.Errorf("a %q, b %q", b.read("a.txt"), b.read("nested/b.txt"))
	}
	b.healthy()
	hazards.Held(t, hazards.H1, "nested repositories are captured as plain files, and restored so")
}

// TestNestedRepositoriesStayWhereTheyAre: no `.git` is renamed, not even for a
// moment.
func TestNestedRepositoriesStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("nested/b.txt", "two\n")
	nested := &testBench{T: t, user: b.user, dir: filepath.Join(b.dir, "nested")}
	nested.git("init", "-q")
	nested.git("add", ".")
	nested.git("commit", "-qm", "nested")
	other := b.twin()
	killed := exec.Command("sh", "-c", "mv nested/.git nested/.git_disabled; kill -9 $$; git add -A; mv nested/.git_disabled nested/.git")
	killed.Dir = other.dir
	_ = killed.Run()
	hazards.Shown(t, hazards.H16, !other.exists("nested/.git") && other.exists("nested/.git_disabled"), "`.git` is renamed so that `git add` sees files, and a kill leaves it renamed")

	changed := func() (times []syscall.Timespec) {
		for _, name := range []string{"nested/.git", "nested/.git/HEAD"} {
			var st syscall.Stat_t
			if err := syscall.Lstat(filepath.Join(b.dir, name), &st); err != nil {
				t.Fatal(err)
			}
			times = append(times, st.Ctim)
		}
		return times
	}
	before, held := changed(), b.holds("nested/.git")
	b.mission("work")
	b.write("nested/b.txt", "three\n")
	b.snapshot("three")
	b.restore("work@start")
	if after := changed(); !slices.Equal(before, after) || len(differs(held, b.holds("nested/.git"))) > 0 {
		t.Errorf("the nested repository was touched: %v, was %v", after, before)
	}
	if b.read("nested/b.txt") != "two\n" {
		t.Errorf("b.txt is %q", b.read("nested/b.txt"))
	}
	hazards.Held(t, hazards.H16, "no `.git` is renamed or written to: its change time stays through capture and restore")
}

// TestUsersRepositoryIsOnlyRead: capture, restore and undo leave every byte of
// the user's `.git` as it is.
func TestUsersRepositoryIsOnlyRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	b.write("a.txt", "staged\n")
	b.git("add", "a.txt")
	b.write("a.txt", "unstaged\n")
	other := b.twin()
	staged := other.git("show", ":a.txt")
	if _, err := hazards.Git(other.dir, "add", "-A"); err != nil {
		t.Fatal(err)
	}
	hazards.Shown(t, hazards.H17, staged == "staged\n" && other.git("show", ":a.txt") == "unstaged\n", "`git add -A` for a snapshot in the user's repository throws away what was staged")

	before := b.holds(".git")
	b.mission("work")
	b.write("a.txt", "more\n")
	b.write("b.txt", "new\n")
	b.snapshot("more")
	for _, committed := range []bool{false, true} {
		if committed { // a restore to before it knocks it off no branch
			b.git("commit", "-qm", "second")
			before = b.holds(".git")
		}
		b.restore("work@start")
		if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil {
			t.Fatal(err)
		}
		b.healthy()
		if changed := differs(before, b.holds(".git")); len(changed) > 0 {
			t.Errorf("committed %t: the user's repository was changed: %q", committed, changed)
		}
	}
	hazards.Held(t, hazards.H17, "after snapshot, restore and undo each file of the user's `.git` is byte for byte as it was, with commits made meanwhile too: index, refs, HEAD, info/exclude")
}

// TestEnvironmentOfAGitHook: Umbra called from a hook of Git's, where GIT_DIR
// and the like are set, works on its own repository.
func TestEnvironmentOfAGitHook(t *testing.T) {
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	other.write("b.txt", "not the user's index\n")
	index := filepath.Join(other.dir, ".git", "index")
	before := other.holds(".git/index")
	hooked := exec.Command("git", "--git-dir", naive.Dir, "--work-tree", other.dir, "add", "-A")
	hooked.Dir, hooked.Env = other.dir, append(os.Environ(), "GIT_INDEX_FILE="+index)
	if out, err := hooked.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	hazards.Shown(t, hazards.H18, len(differs(before, other.holds(".git/index"))) > 0, "with the environment of a Git hook, `git --git-dir SHADOW add` writes the user's index")

	ran := filepath.Join(t.TempDir(), "ran")
	hooks := filepath.Join(b.user, "hooks")
	for _, name := range []string{"pre-commit", "post-commit", "reference-transaction", "post-index-change"} {
		b.put(filepath.Join(hooks, name), "#!/bin/sh\ntouch "+ran+"\n")
		if err := os.Chmod(filepath.Join(hooks, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put(filepath.Join(b.user, ".gitconfig"), "[core]\n\thooksPath = "+hooks+"\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /nowhere/gpg\n[init]\n\ttemplateDir = "+hooks+"\n")
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(b.dir, ".git"), "GIT_WORK_TREE": "/nowhere", "GIT_INDEX_FILE": filepath.Join(b.dir, ".git/index"),
		"GIT_OBJECT_DIRECTORY": "/nowhere", "GIT_CONFIG_PARAMETERS": "'core.hooksPath=" + hooks + "'", "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "touch " + ran,
	} {
		t.Setenv(name, value)
	}
	t.Setenv("HOME", b.user)
	all := b.holds(".git")
	b.mission("work")
	b.write("b.txt", "two\n")
	b.snapshot("two")
	b.restore("work@start")
	b.healthy()
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the user's was run")
	}
	if changed := differs(all, b.holds(".git")); len(changed) > 0 || b.exists("b.txt") {
		t.Errorf("the user's repository was changed: %q; b.txt is there: %v", changed, b.exists("b.txt"))
	}
	hazards.Held(t, hazards.H18, "`GIT_*` variables have no say, and no hook, template, monitor or signing program of the user's is run")
}

// TestGitWorkBetweenSnapshots: whatever the agent does with Git meanwhile, each
// snapshot is what was on disk.
func TestGitWorkBetweenSnapshots(t *testing.T) {
	t.Parallel()
	plain := t.TempDir()
	_, none := hazards.Git(plain, "stash", "create")
	if _, err := hazards.Git(plain, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	_, unborn := hazards.Git(plain, "stash", "create")
	hazards.Shown(t, hazards.H19, none != nil && unborn != nil, "snapshots by `git stash create` fail where there is no repository, and in one without commits")
	for name, format := range map[string][]string{"sha1": {}, "sha256": {"--object-format=sha256"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "no repository\n")
			b.mission("work")
			did := map[string]string{b.only().Head: "no repository\n"}
			for _, step := range []struct {
				content string
				git     [][]string
			}{
				{"unborn\n", [][]string{append([]string{"init", "-q", "-b", "main"}, format...)}},
				{"committed\n", [][]string{{"add", "."}, {"commit", "-qm", "one"}}},
				{"amended\n", [][]string{{"commit", "-qam", "two"}, {"commit", "-q", "--amend", "-m", "2"}}},
				{"branch\n", [][]string{{"switch", "-qc", "topic"}, {"commit", "-qam", "three"}}},
				{"stashed\n", [][]string{{"stash", "-q"}, {"stash", "pop", "-q"}}},
				{"detached\n", [][]string{{"commit", "-qam", "four"}, {"rebase", "-q", "--force-rebase", "--root"}, {"checkout", "-q", "--detach"}}},
				{"reset\n", [][]string{{"reset", "-q", "--hard", "HEAD~1"}}},
				{"collected\n", [][]string{{"reflog", "expire", "--expire=now", "--all"}, {"gc", "-q", "--prune=now"}}},
			} {
				for _, args := range step.git {
					b.git(args...)
				}
				b.write("a.txt", step.content)
				did[b.snapshot(step.content).ID] = step.content
			}
			for id, content := range did {
				if got := b.cat(id, "a.txt"); got != content {
					t.Errorf("snapshot %s is %q, want %q", id, got, content)
				}
			}
			b.healthy()
		})
	}
	hazards.Held(t, hazards.H19, "from before `git init` to after a reset and a `gc --prune=now`, each snapshot is what was on disk, SHA-1 or SHA-256")
}

// TestUsersGarbageCollection removes what a snapshot had borrowed.
func TestUsersGarbageCollection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", strings.Repeat("borrowed\n", 100))
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	other, packed := b.twin(), b.twin()
	packed.git("repack", "-adfq")
	naive := hazards.NewNaive(t, other.dir)
	b.put(filepath.Join(naive.Dir, "objects/info/alternates"), filepath.Join(other.dir, ".git/objects")+"\n")
	first := naive.Save()
	forget := func(b *testBench) {
		b.write("a.txt", "rewritten\n")
		b.git("commit", "-qa", "--amend", "-m", "another")
		b.git("reflog", "expire", "--expire=now", "--all")
		b.git("gc", "-q", "--prune=now")
	}
	forget(other)
	_, lost := naive.Try("cat-file", "blob", first+":a.txt")
	hazards.Shown(t, hazards.H20, lost != nil, "a snapshot that borrows the user's objects by alternates is broken by the user's `git gc --prune=now`")

	for name, b := range map[string]*testBench{"loose": b, "packed": packed} {
		b.git("update-index", "-q", "--refresh")
		later := time.Now().Add(10 * time.Second) // of an index as old as its files nothing is believed
		if err := os.Chtimes(filepath.Join(b.dir, ".git/index"), later, later); err != nil {
			t.Fatal(err)
		}
		m := b.mission("work")
		at, err := b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject)
		if err != nil || !doctor.Unverified(at.Project) {
			t.Fatalf("%s: nothing was borrowed, %v", name, err)
		}
		forget(b)
		_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start"})
		if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "is no longer in the repository") {
			t.Errorf("%s: restore over a rewritten history: %v", name, err)
		}
		b.restore("work@start", func(r *missions.RestoreRequest) { r.Force = true })
		if b.read("a.txt") != strings.Repeat("borrowed\n", 100) {
			t.Errorf("%s: a.txt is %.30q", name, b.read("a.txt"))
		}
		b.healthy()
	}
	hazards.Held(t, hazards.H20, "what is borrowed has a second name of Umbra's own, and is restored after the user's is gone")
}

// TestBytesComeBackAsTheyWere: line ends, and a clean filter.
func TestBytesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	files := map[string]string{
		"crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\nc\r\n", "lf.txt": "a\nb\n", "x.secret": "password\n",
		".gitattributes": "* text=auto\ncrlf.txt eol=lf\n*.secret filter=redact\n",
	}
	for name, content := range files {
		b.write(name, content)
	}
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	naive.Git("config", "core.autocrlf", "true")
	naive.Git("config", "filter.redact.clean", "sed s/password/XXX/")
	first := naive.Save()
	for name := range files {
		other.remove(name)
	}
	naive.Restore(first)
	hazards.Shown(t, hazards.H21, other.read("mixed.txt") != files["mixed.txt"] && other.read("lf.txt") != files["lf.txt"] && strings.HasPrefix(other.read("x.secret"), "XXX"),
		"`git add` and `reset --hard` under `core.autocrlf` and a clean filter give other bytes back")

	b.git("init", "-q")
	b.git("config", "core.autocrlf", "true")
	b.git("config", "filter.redact.clean", "sed s/password/XXX/")
	b.mission("work")
	for name := range files {
		b.remove(name)
	}
	b.restore("work@start")
	for name, content := range files {
		if got := b.read(name); got != content {
			t.Errorf("%s is %q, was %q", name, got, content)
		}
	}
	b.healthy()
	hazards.Held(t, hazards.H21, "the bytes on disk are stored and put back, whatever attributes and filters say")
}
