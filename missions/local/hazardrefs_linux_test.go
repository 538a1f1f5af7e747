package local

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// longestRef is how long a ref's name may be. Windows reads no loose ref whose path
// is longer than 259 characters, of which the way to the repository takes its part.
const longestRef = 100

// strangeRefs names the refs of a repository that Git clients are known to stumble
// over: what is no commit, and what is too long for a file's name.
func strangeRefs(t *testing.T, repository string) (all, strange []string) {
	t.Helper()
	out, err := hazards.Git(repository, "for-each-ref", "--format=%(objecttype) %(refname)")
	if err != nil {
		t.Fatal(err, out)
	}
	for line := range strings.Lines(out) {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, err := hazards.Git(repository, "rev-parse", "--verify", "--quiet", name+"^{commit}")
		if all = append(all, name); kind != "commit" || err != nil || len(name) > longestRef {
			strange = append(strange, line)
		}
	}
	return all, strange
}

// TestRefsThatOtherClientsRead: each ref that Umbra makes, in the user's repository
// and in its own, is a commit under a short name.
func TestRefsThatOtherClientsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "one\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	other := b.twin()
	hash := strings.Repeat("0123456789abcdef", 4)
	tree := fmt.Sprintf("refs/snapshots/checkpoints/%s/%s/1754640000000/0b3c9c1e-0000-4000-8000-000000000001", hash, hash)
	other.git("update-ref", tree, strings.TrimSpace(other.git("write-tree")))
	_, strange := strangeRefs(t, other.dir)
	_, none := hazards.Git(other.dir, "rev-parse", "--verify", tree+"^{commit}")
	hazards.Shown(t, hazards.H17, len(strange) == 1 && none != nil && len(filepath.Join(other.dir, ".git", tree)) > 255,
		"a ref to a tree for each turn has no commit that a client could show, and under two hashes, a time and a UUID its path is longer than 255 bytes")

	users, _ := strangeRefs(t, b.dir)
	b.write("a.txt", "a long prompt\n")
	name := strings.Repeat("n", 63) // the longest
	m := b.mission(name)
	if _, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Moment: name, Name: strings.Repeat("p", 63)}); err != nil {
		t.Fatal(err)
	}
	_, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Moment: name, Name: strings.Repeat("p", 64)})
	b.fails("a pin with a longer name", err, missions.KindUsage)
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: name, Name: strings.Repeat("f", 63), NoWait: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{name}}); err != nil {
		t.Fatal(err)
	}
	now, strange := strangeRefs(t, b.dir)
	if want := slices.Sorted(slices.Values(append(users, "refs/heads/"+made.Missions[0].Branch))); !slices.Equal(slices.Sorted(slices.Values(now)), want) || len(strange) > 0 {
		t.Errorf("the user's refs are %q, want %q; strange are %q", now, want, strange)
	}
	now, strange = strangeRefs(t, m.ShadowRepo)
	kinds := map[string]bool{}
	for _, ref := range now {
		kinds[ref[:strings.LastIndexByte(ref, '/')]] = true
	}
	if got, want := slices.Sorted(maps.Keys(kinds)), []string{"refs/agents", "refs/heads", "refs/keep", "refs/pins", "refs/records", "refs/trash/agents", "refs/trash/records"}; !slices.Equal(got, want) || len(strange) > 0 {
		t.Errorf("the shadow repository's refs are in %q, want %q; strange are %q", got, want, strange)
	}
	if out, err := hazards.Git(t.TempDir(), "clone", "-q", "--mirror", m.ShadowRepo, "copy"); err != nil {
		t.Errorf("a clone: %v %s", err, out)
	}
	hazards.Held(t, hazards.H17, "each ref that Umbra makes, in the user's repository (a fork's branch) and in its own, is a commit under a name of at most 100 bytes")
}

// branchIn puts a branch with a commit of its own into a git directory of the workspace.
func (b *testBench) branchIn(gitDir, branch string) {
	b.Helper()
	tree := strings.TrimSpace(b.git("-C", gitDir, "hash-object", "-w", "-t", "tree", "/dev/null"))
	commit := strings.TrimSpace(b.git("-C", gitDir, "commit-tree", tree, "-m", branch))
	b.git("-C", gitDir, "update-ref", "refs/heads/"+branch, commit)
}

// TestBareCloneAfterItsWorkTrees: when the last work tree in a bare clone is gone, a restore
// brings its files back, and takes none of the clone's branches.
func TestBareCloneAfterItsWorkTrees(t *testing.T) {
	t.Parallel()
	for _, at := range []string{".", "deep/app.git"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("deep/a", "a")
			b.git("init", "-q", "--bare", at)
			b.branchIn(at, "main")
			b.git("-C", at, "worktree", "add", "-q", "w", "main")
			b.write(at+"/w/a", "kept\n")
			b.mission("work")
			b.git("-C", at, "worktree", "remove", "--force", "w")
			gone := b.snapshot("gone")
			if b.exists(at + "/worktrees") {
				t.Fatal("git has kept what it knows of work trees")
			}
			b.branchIn(at, "later")
			b.restore("work@start")
			if b.read(at+"/w/a") != "kept\n" {
				t.Errorf("the work tree's file is %q", b.read(at+"/w/a"))
			}
			b.restore(gone.ID)
			if b.exists(at + "/w/a") {
				t.Error("the file stays where a snapshot has none")
			}
			if refs := b.git("-C", at, "for-each-ref"); !strings.Contains(refs, "refs/heads/later") || !strings.Contains(refs, "refs/heads/main") {
				t.Errorf("a restore took branches away: %q", refs)
			}
			b.healthy()
		})
	}
}

// TestBareCloneSeenByAnotherMission: a mission that begins when Umbra has lost what it knew
// of the workspace holds none of a bare clone's branches where another one's snapshot, or
// that of one in the trash, tells what it was.
func TestBareCloneSeenByAnotherMission(t *testing.T) {
	t.Parallel()
	for _, removed := range []bool{false, true} {
		b := newBench(t)
		b.write("deep/a", "a")
		b.git("init", "-q", "--bare", "deep/app.git")
		b.branchIn("deep/app.git", "main")
		b.git("-C", "deep/app.git", "worktree", "add", "-q", "w", "main")
		b.mission("one")
		b.git("-C", "deep/app.git", "worktree", "remove", "--force", "w")
		b.snapshot("gone")
		if removed {
			if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"one"}}); err != nil {
				t.Fatal(err)
			}
		}
		b = b.again()
		if err := os.RemoveAll(filepath.Join(b.home, "statcache")); err != nil {
			t.Fatal(err)
		}
		b.mission("two")
		names := []string{"two"}
		if !removed {
			names = append(names, "one")
		}
		for _, name := range names {
			e, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: name, Message: "later"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: name, Path: "deep/app.git/HEAD"})
			b.fails("HEAD in "+e.ID, err, missions.KindNotFound)
		}
	}
}

// TestOddRepositories: repositories that hold part of their history, keep their refs
// another way or have no directory of files of their own.
func TestOddRepositories(t *testing.T) {
	t.Parallel()
	origin := newBench(t)
	origin.git("init", "-q", "-b", "main")
	origin.git("config", "uploadpack.allowFilter", "true")
	for n := range 3 {
		origin.write("a.txt", fmt.Sprintf("%d\n", n))
		origin.write("sub/b.txt", fmt.Sprintf("%d\n", n))
		origin.git("add", ".")
		origin.git("commit", "-qm", fmt.Sprint(n))
	}
	for name, prepare := range map[string]func(b *testBench){
		"shallow": func(b *testBench) { b.git("clone", "-q", "--depth=1", "file://"+origin.dir, ".") },
		"partial": func(b *testBench) {
			b.git("clone", "-q", "--filter=blob:none", "file://"+origin.dir, ".")
			b.git("remote", "set-url", "origin", "file:///nowhere") // nothing can be fetched
		},
		"worktree of a bare one": func(b *testBench) {
			bare := b.TempDir()
			b.git("clone", "-q", "--bare", origin.dir, bare)
			b.git("--git-dir", bare, "worktree", "add", "-q", "--force", b.dir, "main")
		},
		"reftable": func(b *testBench) {
			b.git("init", "-q", "-b", "main")
			b.git("config", "core.repositoryFormatVersion", "1")
			b.git("config", "extensions.refStorage", "reftable")
			b.write("a.txt", "2\n")
			b.write("sub/b.txt", "2\n")
		},
		"inside a bare one": func(b *testBench) {
			b.git("init", "-q", "--bare")
			b.write("a.txt", "2\n")
			b.write("sub/b.txt", "2\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			prepare(b)
			before := map[string]string{}
			if b.exists(".git") {
				before = b.holds(".git")
			}
			b.mission("work")
			b.write("a.txt", "changed\n")
			b.remove("sub")
			changed := b.snapshot("changed")
			if b.exists("refs") {
				b.branchIn(".", "later")
			}
			b.restore("work@start")
			if b.exists("refs") && !strings.Contains(b.git("for-each-ref"), "refs/heads/later") {
				t.Error("a restore took a branch away")
			}
			if b.read("a.txt") != "2\n" || b.read("sub/b.txt") != "2\n" || b.cat(changed.ID, "a.txt") != "changed\n" {
				t.Errorf("a %q, b %q, changed %q", b.read("a.txt"), b.read("sub/b.txt"), b.cat(changed.ID, "a.txt"))
			}
			if b.exists(".git") {
				if changed := differs(before, b.holds(".git")); len(changed) > 0 {
					t.Errorf("the user's repository was changed: %q", changed)
				}
			}
			b.healthy()
		})
	}
	hazards.Held(t, hazards.H19, "shallow and partial clones, with nothing to be fetched, a worktree of a bare repository, one with reftables, the directory of a bare one: captured and restored, and only read")
}
