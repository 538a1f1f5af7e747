package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// missionStore holds one mission of three snapshots with records, each of which holds
// what the one before does, and a line more.
func missionStore(t *testing.T) (s *Store, snapshots, records []ID) {
	t.Helper()
	s = newStore(t)
	ctx := context.Background()
	tip := ID{}
	record := &Record{Kind: KindSnapshot, Mission: testMission}
	var lines []TreeEntry
	for i := range 3 {
		b := s.NewBatch()
		lines = append(lines, TreeEntry{Name: fmt.Sprint("line", i), Mode: ModeFile, ID: must[ID](t)(b.Blob(fmt.Appendf(nil, "{\"line\":%d}\n", i)))})
		record.Tree, record.Author, record.At = must[ID](t)(b.Tree(lines)), testSignature(i), testSignature(i).When
		id := must[ID](t)(s.WriteRecord(b, record))
		record.Parents, records = []ID{id}, append(records, id)
		tree := writeTree(t, b, map[string]testFile{"f": {ModeFile, fmt.Sprint(i)}, "dir/g": {ModeFile, "g"}})
		snap := &Snapshot{Tree: tree, Author: testSignature(i), At: testSignature(i).When, State: "idle", Trailers: Trailers{Mission: testMission, Record: id}}
		if !tip.IsZero() {
			snap.Parents = []ID{tip}
		}
		snapshot := must[ID](t)(s.WriteSnapshot(b, snap))
		noErr(t, b.Flush(ctx))
		b.Discard()
		noErr(t, s.UpdateRef(ctx, AgentRef(testMission), tip, snapshot, Durable))
		tip, snapshots = snapshot, append(snapshots, snapshot)
	}
	noErr(t, s.UpdateRef(ctx, RecordRef(testMission), ID{}, records[2], Durable))
	noErr(t, s.SetSymbolic(ctx, HeadRef("m"), "", AgentRef(testMission), Durable))
	return s, snapshots, records
}

func TestCheckFinds(t *testing.T) {
	ctx := context.Background()
	write := func(t *testing.T, s *Store, name, data string) {
		noErr(t, os.WriteFile(filepath.Join(s.Dir(), name), []byte(data), 0o600))
	}
	publish := func(t *testing.T, s *Store, ref RefName, old ID, snap *Snapshot) ID {
		b := s.NewBatch()
		defer b.Discard()
		snap.Tree = must[ID](t)(b.Tree(nil))
		snap.Author, snap.State = testSignature(9), "idle"
		id := must[ID](t)(s.WriteSnapshot(b, snap))
		noErr(t, b.Flush(ctx))
		noErr(t, s.UpdateRef(ctx, ref, old, id, Durable))
		return id
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, s *Store, snapshots, records []ID)
		want   string
	}{
		"nothing":      {func(*testing.T, *Store, []ID, []ID) {}, ""},
		"empty ref":    {func(t *testing.T, s *Store, _, _ []ID) { write(t, s, string(AgentRef(testOther)), "") }, "I1"},
		"missing blob": {func(t *testing.T, s *Store, _, _ []ID) { removeObject(t, s, HashObject(TypeBlob, []byte("g"))) }, "I1"},
		"records ref": {func(t *testing.T, s *Store, _, r []ID) {
			write(t, s, string(RecordRef(testMission)), r[0].String()+"\n")
		}, "I3"},
		"missing chunk": {func(t *testing.T, s *Store, _, _ []ID) {
			removeObject(t, s, HashObject(TypeBlob, []byte("{\"line\":1}\n")))
		}, "I1"},
		"pin not kept": {func(t *testing.T, s *Store, c, _ []ID) {
			noErr(t, s.UpdateRef(ctx, PinRef("p"), ID{}, c[1], Durable))
		}, "I3"},
		"pin kept": {func(t *testing.T, s *Store, c, r []ID) {
			noErr(t, s.UpdateRef(ctx, PinRef("p"), ID{}, c[1], Durable))
			noErr(t, s.UpdateRef(ctx, KeepRef(c[1]), ID{}, r[1], Durable))
		}, ""},
		"foreign history": {func(t *testing.T, s *Store, c, r []ID) {
			publish(t, s, AgentRef(testOther), ID{}, &Snapshot{Parents: c[1:2], Trailers: Trailers{Mission: testOther, Record: r[1]}})
			noErr(t, s.UpdateRef(ctx, RecordRef(testOther), ID{}, r[1], Durable))
		}, "I2"},
		"fork": {func(t *testing.T, s *Store, c, r []ID) {
			publish(t, s, AgentRef(testOther), ID{}, &Snapshot{Parents: c[1:2], Trailers: Trailers{Mission: testOther, Record: r[1], ForkedFrom: c[1]}})
			noErr(t, s.UpdateRef(ctx, RecordRef(testOther), ID{}, r[1], Durable))
		}, ""},
		"no record": {func(t *testing.T, s *Store, c, _ []ID) {
			publish(t, s, AgentRef(testMission), c[2], &Snapshot{Parents: c[2:], Trailers: Trailers{Mission: testMission, Record: testID(8)}})
		}, "I1"},
		"shallow": {func(t *testing.T, s *Store, c, r []ID) {
			write(t, s, "shallow", c[1].String()+"\n"+r[1].String()+"\n")
			removeObject(t, s, c[0])
			removeObject(t, s, r[0])
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, snapshots, records := missionStore(t)
			c.damage(t, s, snapshots, records)
			for _, path := range []string{os.Getenv("PATH"), ""} {
				t.Setenv("PATH", path)
				problems := must[[]Problem](t)(s.Check(ctx))
				got := map[string]bool{}
				for _, p := range problems {
					got[p.Invariant] = true
				}
				if c.want == "" && len(problems) > 0 || c.want != "" && !got[c.want] {
					t.Errorf("PATH %q: %+v", path, problems)
				}
			}
		})
	}
}

func removeObject(t *testing.T, s *Store, id ID) {
	t.Helper()
	noErr(t, os.Remove(s.current()[0].loosePath(id)))
}

// TestOddFilesPassFsck: a workspace may hold what fsck dislikes in a repository.
func TestOddFilesPassFsck(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	for i, files := range []map[string]testFile{
		{".gitmodules": {ModeFile, "[submodule \"../x\"]\n\tpath = -x\n\turl = -y\n\tupdate = !sh\n"}},
		{".gitmodules": {ModeFile, "[submodule \"unclosed\n"}},
		{".gitmodules": {ModeSymlink, "elsewhere"}, ".gitattributes": {ModeSymlink, "x"}, ".gitignore": {ModeSymlink, "x"}, ".mailmap": {ModeSymlink, "x"}},
		{".gitattributes": {ModeFile, strings.Repeat("x", 5000) + " text\n"}},
		{".gitmodules/sub": {ModeFile, "a directory"}, ".gitattributes/sub": {ModeFile, "a directory"}},
	} {
		b := s.NewBatch()
		tree := writeTree(t, b, files)
		id := must[ID](t)(s.WriteSnapshot(b, &Snapshot{Tree: tree, Author: testSignature(i), At: testSignature(i).When, Trailers: Trailers{Mission: testMission}}))
		noErr(t, b.Flush(ctx))
		b.Discard()
		noErr(t, s.UpdateRef(ctx, PinRef(fmt.Sprint("p", i)), ID{}, id, Durable))
	}
	fsck(t, s)
}

func TestTreeRefusesBadNames(t *testing.T) {
	t.Parallel()
	b := newStore(t).NewBatch()
	defer b.Discard()
	for _, name := range []string{"", ".", "..", "a/b", ".git", ".GIT", "git~1", ".g\u200cit", "a\x00"} {
		if _, err := b.Tree([]TreeEntry{{Name: name, Mode: ModeFile, ID: testID(1)}}); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	for _, entries := range [][]TreeEntry{
		{{Name: "a", Mode: ModeFile, ID: testID(1)}, {Name: "a", Mode: ModeFile, ID: testID(2)}},
		{{Name: "a", Mode: ModeFile, ID: testID(1)}, {Name: "a", Mode: ModeDir, ID: testID(2)}},
		{{Name: "a", Mode: ModeFile, ID: testID(1)}, {Name: "a.b", Mode: ModeFile, ID: testID(1)}, {Name: "a", Mode: ModeDir, ID: testID(2)}},
		{{Name: "a", Mode: 0o100600, ID: testID(1)}},
		{{Name: "a", Mode: ModeFile}},
	} {
		if _, err := b.Tree(entries); err == nil {
			t.Errorf("%v was taken", entries)
		}
	}
}

// TestGitIsHermetic: H18.
func TestGitIsHermetic(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	hook := filepath.Join(dir, "hooks", "post-commit")
	ran := filepath.Join(dir, "ran")
	noErr(t, os.MkdirAll(filepath.Join(dir, "template", "hooks"), 0o700))
	noErr(t, os.MkdirAll(filepath.Dir(hook), 0o700))
	script := []byte("#!/bin/sh\ntouch " + ran + "\n")
	noErr(t, os.WriteFile(hook, script, 0o700))
	noErr(t, os.WriteFile(filepath.Join(dir, "template", "hooks", "post-commit"), script, 0o700))
	noErr(t, os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte("[core]\n\thooksPath = "+filepath.Dir(hook)+
		"\n[init]\n\ttemplateDir = "+filepath.Join(dir, "template")+"\n[commit]\n\tgpgSign = true\n[user]\n\tname = Evil\n"), 0o600))
	t.Setenv("HOME", dir)
	t.Setenv("GIT_DIR", filepath.Join(dir, "nowhere"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, "noindex"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
	t.Setenv("GIT_CONFIG_VALUE_0", filepath.Dir(hook))
	t.Setenv("GIT_CONFIG_PARAMETERS", "'user.name=Evil'")
	repo := filepath.Join(dir, "repo")
	noErr(t, os.Mkdir(repo, 0o700))
	for _, args := range [][]string{{"init", "-q", "."}, {"commit", "-q", "--allow-empty", "-m", "x"}} {
		_, err := git.Run(ctx, git.Command{Dir: repo, Args: args})
		noErr(t, err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a hook ran")
	}
	if got := string(must[[]byte](t)(git.Run(ctx, git.Command{Dir: repo, Args: []string{"log", "--format=%an"}}))); got != "Umbra\n" {
		t.Errorf("author %q", got)
	}
	_, err := git.Run(ctx, git.Command{Dir: repo, Args: []string{"rev-parse", "--verify", "nothing"}})
	var failed *git.Error
	if !errors.As(err, &failed) || failed.ExitCode != 128 || !strings.Contains(failed.Stderr, "Needed a single revision") {
		t.Errorf("got %v", err)
	}
}

func TestImportTree(t *testing.T) {
	t.Parallel()
	from, ctx := newStore(t), context.Background()
	b := from.NewBatch()
	big := strings.Repeat("0123456789", 200_000)
	tree := writeTree(t, b, map[string]testFile{"a/b": {ModeExec, "b"}, "big": {ModeFile, big}, "l": {ModeSymlink, "x"}})
	noErr(t, b.Flush(ctx))
	b.Discard()
	to := newStore(t)
	c := to.NewBatch()
	defer c.Discard()
	noErr(t, c.ImportTree(ctx, from.Objects, tree))
	noErr(t, c.Flush(ctx))
	noErr(t, c.ProveTree(tree, ID{}))
	e := must[TreeEntry](t)(to.Lookup(tree, "big"))
	if got := must[[]byte](t)(to.Blob(e.ID)); string(got) != big {
		t.Error("content differs")
	}
	if err := c.ImportTree(ctx, from.Objects, testID(1)); !errors.Is(err, ErrMissing) {
		t.Errorf("a missing tree: %v", err)
	}
}

// TestCheckBelievesFsckTwice: an object that was written while git fsck ran is
// missing to it, and no damage.
func TestCheckBelievesFsckTwice(t *testing.T) {
	s := newStore(t)
	bin := fakeGit(t, `case "$*" in *fsck*) ;; *) exit 0;; esac
cd "$(dirname "$0")"
if [ -e ran ]; then echo "missing commit b"; echo "missing commit c"; else echo "missing commit a"; echo "missing commit b"; fi
: >ran
exit 2
`)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	problems := must[[]Problem](t)(s.Check(context.Background()))
	if len(problems) != 1 || !slices.Equal(problems[0].Details, []string{"missing commit b"}) {
		t.Errorf("%+v", problems)
	}
}
