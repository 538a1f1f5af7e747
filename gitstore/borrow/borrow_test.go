package borrow

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// lender is a repository of a user's.
type lender struct {
	t   testing.TB
	dir string
}

// newLender makes one with some commits of files that are worth deltas.
func newLender(t testing.TB) *lender {
	t.Helper()
	l := &lender{t, filepath.Join(t.TempDir(), "user")}
	storetest.NoErr(t, os.Mkdir(l.dir, 0o755))
	l.git("init", "-q", ".")
	for i := range 6 {
		for f := range 12 {
			l.write(fmt.Sprintf("d%d/f%d", f%3, f), strings.Repeat(fmt.Sprintf("line of file %d\n", f), 40)+strings.Repeat(fmt.Sprintf("more in %d\n", i), i))
		}
		l.git("add", ".")
		l.git("commit", "-q", "-m", fmt.Sprint("c", i))
	}
	return l
}

func (l *lender) git(args ...string) string {
	l.t.Helper()
	out, err := git.Run(context.Background(), git.Command{Dir: l.dir, Args: args})
	storetest.NoErr(l.t, err)
	return strings.TrimSpace(string(out))
}

func (l *lender) write(name, content string) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	storetest.NoErr(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	storetest.NoErr(l.t, os.WriteFile(path, []byte(content), 0o644))
}

func (l *lender) objects() *objects.Reader {
	l.t.Helper()
	o := storetest.Must[*objects.Reader](l.t)(objects.Open(filepath.Join(l.dir, ".git")))
	l.t.Cleanup(func() { o.Close() })
	return o
}

// tree is HEAD's tree and the blobs in it, as the work tree's files tell.
func (l *lender) tree() (gitstore.ID, []Wanted) {
	l.t.Helper()
	var wanted []Wanted
	for line := range strings.SplitSeq(l.git("ls-tree", "-r", "-l", "HEAD"), "\n") {
		meta, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(meta)
		fi := storetest.Must[fs.FileInfo](l.t)(os.Stat(filepath.Join(l.dir, name)))
		wanted = append(wanted, Wanted{storetest.Must[gitstore.ID](l.t)(gitstore.ParseID(fields[2])), fi.Size()})
	}
	return storetest.Must[gitstore.ID](l.t)(gitstore.ParseID(l.git("rev-parse", "HEAD^{tree}"))), wanted
}

// publish takes a snapshot of the tree, by name only where its objects are here.
func publish(t testing.TB, s *shadow.Store, tree gitstore.ID, from *objects.Reader) {
	t.Helper()
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	storetest.NoErr(t, from.WalkTree(tree, func(_ string, e gitstore.TreeEntry) error {
		if !e.Mode.IsDir() {
			return nil
		}
		return b.Import(from, e.ID)
	}))
	storetest.NoErr(t, b.Import(from, tree))
	snap := &gitstore.Snapshot{Tree: tree, Author: storetest.Signature(1), At: storetest.Signature(1).When, State: "idle", Message: "x", Trailers: gitstore.Trailers{Mission: storetest.Mission}}
	id := storetest.Must[gitstore.ID](t)(b.Commit(gitstore.FormatSnapshot(snap)))
	storetest.NoErr(t, b.Flush(ctx))
	storetest.NoErr(t, b.ProveTree(tree, gitstore.ID{}))
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, id, gitstore.Durable))
}

func (l *lender) packs() []string {
	l.t.Helper()
	names := storetest.Must[[]string](l.t)(filepath.Glob(filepath.Join(l.dir, ".git/objects/pack/*")))
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	return names
}

func borrow(t testing.TB, s *shadow.Store, from *objects.Reader, wanted []Wanted) Borrowed {
	t.Helper()
	return borrowBy(t, os.Link, s, from, wanted)
}

// borrowBy is borrow with another way to link.
func borrowBy(t testing.TB, link func(from, to string) error, s *shadow.Store, from *objects.Reader, wanted []Wanted) Borrowed {
	t.Helper()
	b := storetest.Must[Borrowed](t)((&borrowing{store: s, from: from, ctx: context.Background(), link: link}).borrow(wanted))
	if len(b.Have) != len(wanted) {
		t.Fatalf("%d answers to %d questions", len(b.Have), len(wanted))
	}
	return b
}

func (b Borrowed) all() bool { return !slices.Contains(b.Have, false) }

// TestBorrowPacks links packs, and what was borrowed outlives everything that
// the user's git may do (H20).
func TestBorrowPacks(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(*lender){
		"gc --prune=now": func(l *lender) { l.git("reflog", "expire", "--expire=now", "--all"); l.git("gc", "-q", "--prune=now") },
		"repack -ad":     func(l *lender) { l.git("repack", "-adfq") },
		"history rewritten": func(l *lender) {
			l.git("checkout", "-q", "--orphan", "other")
			l.git("rm", "-rfq", ".")
			l.git("commit", "-q", "--allow-empty", "-m", "empty")
			l.git("branch", "-D", "master")
			l.git("reflog", "expire", "--expire=now", "--all")
			l.git("gc", "-q", "--prune=now")
		},
		"removed": func(l *lender) { storetest.NoErr(l.t, os.RemoveAll(filepath.Join(l.dir, ".git"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := newLender(t), storetest.New(t)
			l.git("repack", "-adq", "--depth=20", "--write-bitmap-index", "--write-midx")
			storetest.NoErr(t, os.WriteFile(filepath.Join(l.dir, ".git/objects/pack", strings.TrimSuffix(l.packs()[0], ".bitmap")+".x"), nil, 0o600))
			tree, wanted := l.tree()
			o := l.objects()
			b := borrow(t, s, o, wanted)
			if !b.all() || b.Packs != 1 || b.Copied+b.Loose != 0 {
				t.Fatalf("borrowed %+v", b)
			}
			for _, name := range l.packs() {
				user := storetest.Must[fs.FileInfo](t)(os.Stat(filepath.Join(l.dir, ".git/objects/pack", name)))
				own, err := os.Stat(filepath.Join(s.PackDir(), name))
				switch filepath.Ext(name) {
				case ".pack", ".idx", ".rev":
					if err != nil || !os.SameFile(user, own) {
						t.Errorf("%s is no link: %v", name, err)
					}
				default:
					if err == nil {
						t.Errorf("%s is here", name)
					}
				}
			}
			if keeps := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.PackDir(), "*.keep"))); len(keeps) != 1 {
				t.Errorf("kept: %v", keeps)
			}
			publish(t, s, tree, o)
			after(l)
			storetest.Fsck(t, s)
			_, err := s.Git(context.Background(), "repack", "-adq")
			storetest.NoErr(t, err)
			again := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer again.Close()
			for _, w := range wanted {
				if data := storetest.Must[[]byte](t)(again.Blob(w.ID)); int64(len(data)) != w.Size {
					t.Errorf("%s has %d bytes, not %d", w.ID, len(data), w.Size)
				}
			}
			storetest.Fsck(t, again)
		})
	}
}

// TestBorrowLoose links loose objects, and tells those that are torn.
func TestBorrowLoose(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	tree, wanted := l.tree()
	o := l.objects()
	torn := storetest.LooseFile(filepath.Join(l.dir, ".git"), wanted[3].ID)
	storetest.NoErr(t, os.Chmod(torn, 0o600))
	content := storetest.Must[[]byte](t)(os.ReadFile(torn))
	storetest.NoErr(t, os.Truncate(torn, 0))
	short := storetest.LooseFile(filepath.Join(l.dir, ".git"), wanted[4].ID)
	storetest.NoErr(t, os.Chmod(short, 0o600))
	storetest.NoErr(t, os.Truncate(short, 3))
	b := borrow(t, s, o, wanted)
	for i, have := range b.Have {
		if have != (i != 3 && i != 4) {
			t.Errorf("%d: %t", i, have)
		}
	}
	if b.Packs != 0 || b.Loose != len(wanted)-1 {
		t.Errorf("borrowed %+v", b)
	}
	storetest.NoErr(t, os.WriteFile(torn, content, 0o600))
	if b := borrow(t, s, o, wanted[3:4]); !b.all() {
		t.Errorf("whole again: %+v", b)
	}
	content = l.content(wanted[4].ID)
	batch := s.NewBatch()
	defer batch.Discard()
	storetest.Must[gitstore.ID](t)(batch.Blob(content))
	storetest.NoErr(t, batch.Flush(context.Background()))
	publish(t, s, tree, o)
	storetest.NoErr(t, os.RemoveAll(filepath.Join(l.dir, ".git")))
	storetest.Fsck(t, s)
}

// content is that of a blob, as a file in the work tree has it.
func (l *lender) content(id gitstore.ID) []byte {
	l.t.Helper()
	for name := range strings.FieldsSeq(l.git("ls-files")) {
		data := storetest.Must[[]byte](l.t)(os.ReadFile(filepath.Join(l.dir, name)))
		if gitstore.HashObject(gitstore.TypeBlob, data) == id {
			return data
		}
	}
	l.t.Fatalf("no file holds %s", id)
	return nil
}

// TestBorrowDamagedPack writes again what the pack holds damaged.
func TestBorrowDamagedPack(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	l.git("repack", "-adfq", "--window=0")
	tree, wanted := l.tree()
	o := l.objects()
	at := o.Locate([]gitstore.ID{wanted[5].ID})[0]
	storetest.NoErr(t, os.Chmod(at.Pack.Base+".pack", 0o600))
	f := storetest.Must[*os.File](t)(os.OpenFile(at.Pack.Base+".pack", os.O_RDWR, 0))
	storetest.Must[int](t)(f.WriteAt([]byte{0x70, 0xff, 0xff}, at.Offset))
	storetest.NoErr(t, f.Close())
	b := borrow(t, s, o, wanted)
	for i, have := range b.Have {
		if have != (i != 5) {
			t.Errorf("%d: %t", i, have)
		}
	}
	if ok := storetest.Must[bool](t)(s.Has(wanted[5].ID)); ok {
		t.Error("what is damaged counts as stored")
	}
	content := l.content(wanted[5].ID)
	batch := s.NewBatch()
	defer batch.Discard()
	storetest.Must[gitstore.ID](t)(batch.Blob(content))
	storetest.NoErr(t, batch.Flush(context.Background()))
	publish(t, s, tree, l.objects())
	other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer other.Close()
	if got := storetest.Must[[]byte](t)(other.Blob(wanted[5].ID)); !bytes.Equal(got, content) {
		t.Errorf("%q", got)
	}
}

// TestBorrowRefuses asks for what is not there, or not as it must be.
func TestBorrowRefuses(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	for _, packed := range []bool{false, true} {
		if packed {
			l.git("repack", "-adq")
			s = storetest.New(t)
		}
		tree, wanted := l.tree()
		questions := []Wanted{
			wanted[0],
			{wanted[1].ID, wanted[1].Size + 1},
			{wanted[2].ID, 0},
			{storetest.ID(9), 5},
			{tree, 100},
			wanted[0],
			{wanted[0].ID, wanted[0].Size + 7},
		}
		b := borrow(t, s, l.objects(), questions)
		if want := []bool{true, false, false, false, false, true, false}; !slices.Equal(b.Have, want) {
			t.Errorf("packed %t: %v", packed, b.Have)
		}
		if b := borrow(t, s, nil, questions[:1]); !b.all() {
			t.Errorf("packed %t: what is stored is not had", packed)
		}
	}
}

// TestBorrowFollowsAlternates takes from the repository that a clone borrows
// from, and from a linked worktree's common directory.
func TestBorrowFollowsAlternates(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	l.git("repack", "-adq")
	clone := &lender{t, filepath.Join(t.TempDir(), "clone")}
	l.git("clone", "-q", "--shared", ".", clone.dir)
	clone.write("own", "own")
	clone.git("add", ".")
	clone.git("commit", "-q", "-m", "own")
	tree, wanted := clone.tree()
	o := clone.objects()
	if b := borrow(t, s, o, wanted); !b.all() || b.Packs != 1 || b.Loose != 1 {
		t.Fatalf("borrowed %+v", b)
	}
	publish(t, s, tree, o)
	storetest.NoErr(t, os.RemoveAll(l.dir))
	storetest.NoErr(t, os.RemoveAll(clone.dir))
	storetest.Fsck(t, s)
}

// TestBorrowFromParts takes from shallow and partial clones what they have; the
// history that they lack is of no account.
func TestBorrowFromParts(t *testing.T) {
	hazards.Held(t, hazards.H19, "of shallow and partial clones is borrowed what they have")
	t.Parallel()
	l := newLender(t)
	l.git("config", "uploadpack.allowFilter", "true")
	for name, args := range map[string][]string{
		"shallow": {"--depth=1"},
		"partial": {"--filter=blob:none", "--no-checkout"},
		"limited": {"--filter=blob:limit=560"},
	} {
		t.Run(name, func(t *testing.T) {
			clone, s := &lender{t, filepath.Join(t.TempDir(), "clone")}, storetest.New(t)
			l.t = t
			l.git(append(append([]string{"clone", "-q"}, args...), "file://"+l.dir, clone.dir)...)
			o := clone.objects()
			tree, wanted := l.tree()
			b := borrow(t, s, o, wanted)
			if want := name != "partial"; b.all() != want || slices.Contains(b.Have, true) != want {
				t.Fatalf("borrowed %+v", b)
			}
			if name == "partial" {
				return
			}
			publish(t, s, tree, o)
			if names := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.PackDir(), "*.promisor"))); len(names) > 0 {
				t.Errorf("here: %v", names)
			}
			storetest.NoErr(t, os.RemoveAll(clone.dir))
			storetest.Fsck(t, s)
		})
	}
}

// TestBorrowWithoutLinks is another file system, or protected_hardlinks: a pack
// is copied if that is cheap, and otherwise nothing is had.
func TestBorrowWithoutLinks(t *testing.T) {
	t.Parallel()
	for _, cause := range []syscall.Errno{syscall.EXDEV, syscall.EPERM, syscall.EMLINK} {
		l, s := newLender(t), storetest.New(t)
		link := func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: cause} }
		_, wanted := l.tree()
		if b := borrowBy(t, link, s, l.objects(), wanted); slices.Contains(b.Have, true) || b.Loose+b.Packs > 0 {
			t.Errorf("%v: loose: %+v", cause, b)
		}
		l.git("repack", "-adq")
		o := l.objects()
		if b := borrowBy(t, link, s, o, wanted[:1]); b.all() || b.Packs > 0 {
			t.Errorf("%v: a copy that is not worth it: %+v", cause, b)
		}
		if left := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.PackDir(), "*"))); len(left) > 0 {
			t.Errorf("%v: left: %v", cause, left)
		}
		tree, wanted := l.tree()
		if b := borrowBy(t, link, s, o, wanted); !b.all() || b.Packs != 1 || b.Copied != 1 {
			t.Fatalf("%v: %+v", cause, b)
		}
		publish(t, s, tree, o)
		storetest.NoErr(t, os.RemoveAll(l.dir))
		storetest.Fsck(t, s)
	}
}

// TestBorrowGoesOnWithACopy: where packs are copied, a killed process has left a
// copy without its index. Who brings the index keeps a sweep from taking the copy
// for left behind.
func TestBorrowGoesOnWithACopy(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	l.git("repack", "-adq")
	tree, wanted := l.tree()
	pack := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(l.dir, ".git", "objects", "pack", "*.pack")))[0]
	own := filepath.Join(s.PackDir(), filepath.Base(pack))
	swept := false
	link := func(from, to string) error {
		if _, err := os.Lstat(to); err == nil { // link(2) looks for this first
			return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EEXIST}
		}
		if strings.HasSuffix(to, ".idx") && !swept {
			swept = true
			storetest.Must[upkeep.SweepStats](t)(upkeep.Sweep(context.Background(), s))
			if !shadow.IsThere(own) {
				t.Error("the copy is swept away from under its index")
			}
		}
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EXDEV}
	}
	storetest.NoErr(t, os.WriteFile(own, storetest.Must[[]byte](t)(os.ReadFile(pack)), 0o444))
	if b := borrowBy(t, link, s, l.objects(), wanted); !b.all() || !swept {
		t.Fatalf("%+v, swept %v", b, swept)
	}
	publish(t, s, tree, l.objects())
	storetest.NoErr(t, os.RemoveAll(l.dir))
	storetest.Fsck(t, s)
}
