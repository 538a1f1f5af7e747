package shadow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// deltaStore makes a store whose content is worth deltas: many versions of a few
// files. It returns what each blob holds.
func deltaStore(t testing.TB, versions int) (*shadow.Store, map[gitstore.ID]string) {
	t.Helper()
	s, ctx := storetest.New(t), context.Background()
	rnd := rand.New(rand.NewPCG(11, 1))
	blobs := map[gitstore.ID]string{}
	files := map[string]string{}
	tip := gitstore.ID{}
	for i := range versions {
		b := s.NewBatch()
		for f := range 4 {
			name := fmt.Sprint("file", f)
			files[name] += fmt.Sprintf("line %d of version %d %x\n", f, i, rnd.Uint64())
			blobs[gitstore.HashObject(gitstore.TypeBlob, []byte(files[name]))] = files[name]
		}
		var parents []gitstore.ID
		if !tip.IsZero() {
			parents = []gitstore.ID{tip}
		}
		c := storetest.CommitFiles(t, b, i, files, parents...)
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), tip, c, gitstore.Derived))
		tip = c
	}
	return s, blobs
}

func readAll(o *objects.Reader, blobs map[gitstore.ID]string) error {
	for id, want := range blobs {
		got, err := o.Blob(id)
		if err != nil {
			return err
		}
		if string(got) != want {
			return fmt.Errorf("blob %s differs", id)
		}
		r, size, err := o.BlobReader(id)
		if err != nil {
			return err
		}
		got, err = io.ReadAll(r)
		r.Close()
		if err != nil || string(got) != want || size != int64(len(want)) {
			return fmt.Errorf("blob %s streamed: %w", id, err)
		}
	}
	return nil
}

func TestReadDeltas(t *testing.T) {
	t.Parallel()
	s, blobs := deltaStore(t, 60)
	ctx := context.Background()
	_, err := s.Git(ctx, "repack", "-adfq", "--depth=50", "--window=50")
	storetest.NoErr(t, err)
	_, err = s.Git(ctx, "prune-packed", "-q")
	storetest.NoErr(t, err)
	if left := storetest.LoosePaths(t, s); len(left) > 0 {
		t.Fatalf("%d loose objects", len(left))
	}
	storetest.NoErr(t, readAll(s.Reader, blobs))
	info := string(storetest.Must[[]byte](t)(s.Git(ctx, "verify-pack", "-s", storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), "objects/pack/*.idx")))[0])))
	if !strings.Contains(info, "chain length") {
		t.Errorf("no deltas were read: %s", info)
	}
}

// TestReadWhileRepacked reads with many goroutines while git repacks and deletes
// what it packed (H39).
func TestReadWhileRepacked(t *testing.T) {
	hazards.Held(t, hazards.H39, "what is not found is looked up again after a repack before it is believed missing")
	t.Parallel()
	s, blobs := deltaStore(t, 30)
	ctx := context.Background()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := readAll(s.Reader, blobs); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 6 {
		storetest.NoErr(t, storetest.AppendCommit(ctx, s, gitstore.AgentRef(storetest.Other), fmt.Sprint(i), gitstore.Derived))
		_, err := s.Git(ctx, "repack", "-adfq")
		storetest.NoErr(t, err)
	}
	close(stop)
	wg.Wait()
}

func TestObjectsOfAUsersRepository(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := git.Run(ctx, git.Command{Dir: dir, Args: args})
		storetest.NoErr(t, err)
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "base")
	for i := range 20 {
		storetest.NoErr(t, os.WriteFile(filepath.Join(dir, "base", fmt.Sprint("f", i%3)), []byte(strings.Repeat(fmt.Sprint("line ", i, "\n"), 100)), 0o600))
		git("-C", "base", "add", ".")
		git("-C", "base", "commit", "-q", "-m", fmt.Sprint("c", i))
	}
	git("-C", "base", "gc", "-q")
	git("clone", "-q", "--shared", "base", "clone")
	storetest.NoErr(t, os.WriteFile(filepath.Join(dir, "clone", "own"), []byte("own"), 0o600))
	git("-C", "clone", "add", ".")
	git("-C", "clone", "commit", "-q", "-m", "own")
	o := storetest.Must[*objects.Reader](t)(objects.Open(filepath.Join(dir, "clone", ".git")))
	defer o.Close()
	for line := range strings.SplitSeq(git("-C", "clone", "rev-list", "--objects", "HEAD"), "\n") {
		id := storetest.Must[gitstore.ID](t)(gitstore.ParseID(line[:40]))
		kind, data, err := o.Object(id)
		storetest.NoErr(t, err)
		if gitstore.HashObject(kind, data) != id || git("-C", "clone", "cat-file", "-t", id.String()) != kind.String() {
			t.Errorf("%s differs", id)
		}
	}
	head := storetest.Must[gitstore.ID](t)(gitstore.ParseID(git("-C", "clone", "rev-parse", "HEAD")))
	c := storetest.Must[*gitstore.Commit](t)(o.Commit(head))
	e := storetest.Must[gitstore.TreeEntry](t)(o.Lookup(c.Tree, "own"))
	if got := storetest.Must[[]byte](t)(o.Blob(e.ID)); string(got) != "own" {
		t.Errorf("own = %q", got)
	}
	if _, err := o.Lookup(c.Tree, "own/below"); !errors.Is(err, gitstore.ErrNoEntry) {
		t.Errorf("below a file: %v", err)
	}
	git("init", "-q", "--object-format=sha256", "sha256")
	var unsupported *objects.UnsupportedRepositoryError
	if _, err := objects.Open(filepath.Join(dir, "sha256", ".git")); !errors.As(err, &unsupported) {
		t.Errorf("sha256: %v", err)
	}
}

func TestResolvePrefix(t *testing.T) {
	t.Parallel()
	s, blobs := deltaStore(t, 40)
	var all []gitstore.ID
	for c, err := range s.History(storetest.Must[gitstore.ID](t)(s.Ref(gitstore.AgentRef(storetest.Mission))), shadow.HistoryOptions{}) {
		storetest.NoErr(t, err)
		all = append(all, c.ID)
	}
	check := func() {
		t.Helper()
		for _, id := range all {
			for _, n := range []int{4, 7, 39, 40} {
				got := storetest.Must[[]gitstore.ID](t)(s.ResolvePrefix(id.String()[:n]))
				found := false
				for _, g := range got {
					found = found || g == id
				}
				if !found || n > 10 && len(got) != 1 {
					t.Errorf("%s: %v", id.String()[:n], got)
				}
			}
		}
		for id := range blobs {
			if got := storetest.Must[[]gitstore.ID](t)(s.ResolvePrefix(id.String())); len(got) != 0 {
				t.Errorf("a blob was resolved")
			}
		}
	}
	check()
	_, err := s.Git(context.Background(), "repack", "-adq")
	storetest.NoErr(t, err)
	check()
	for _, bad := range []string{"", "abc", "xyz1", strings.Repeat("a", 41), "ABCD"} {
		if _, err := s.ResolvePrefix(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// TestDamageIsNeverAbsence: H3.
func TestDamageIsNeverAbsence(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	id := storetest.Must[gitstore.ID](t)(b.Blob(bytes.Repeat([]byte("content "), 1000)))
	storetest.NoErr(t, b.Flush(ctx))
	path := storetest.LooseFile(s.Dir(), id)
	whole := storetest.Must[[]byte](t)(os.ReadFile(path))
	storetest.NoErr(t, os.Chmod(path, 0o600))
	for i := range whole {
		broken := bytes.Clone(whole)
		broken[i] ^= 0x55
		storetest.NoErr(t, os.WriteFile(path, broken, 0o600))
		if _, err := s.Blob(id); !errors.Is(err, gitstore.ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
		r, _, err := s.BlobReader(id)
		if err == nil {
			_, err = io.ReadAll(r)
			r.Close()
		}
		if !errors.Is(err, gitstore.ErrDamaged) {
			t.Fatalf("byte %d, streamed: %v", i, err)
		}
	}
	storetest.NoErr(t, os.WriteFile(path, whole[:len(whole)/2], 0o600))
	if _, err := s.Blob(id); !errors.Is(err, gitstore.ErrDamaged) {
		t.Errorf("truncated: %v", err)
	}
	storetest.NoErr(t, os.Remove(path))
	if _, err := s.Blob(id); !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("gone: %v", err)
	}
	if ok, err := s.Has(id); ok || err != nil {
		t.Errorf("gone: %v %v", ok, err)
	}
}

func TestDamagedPack(t *testing.T) {
	t.Parallel()
	s, blobs := deltaStore(t, 10)
	ctx := context.Background()
	_, err := s.Git(ctx, "repack", "-adq")
	storetest.NoErr(t, err)
	path := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), "objects/pack/*.pack")))[0]
	whole := storetest.Must[[]byte](t)(os.ReadFile(path))
	storetest.NoErr(t, os.Chmod(path, 0o600))
	rnd := rand.New(rand.NewPCG(12, 1))
	for range 100 {
		broken := bytes.Clone(whole)
		for range 1 + rnd.IntN(5) {
			broken[12+rnd.IntN(len(broken)-12)] ^= byte(1 + rnd.IntN(255))
		}
		storetest.NoErr(t, os.WriteFile(path, broken, 0o600))
		for id, want := range blobs {
			got, err := s.Blob(id)
			if err == nil && string(got) != want || err != nil && errors.Is(err, gitstore.ErrMissing) {
				t.Fatalf("%s: %v", id, err)
			}
		}
	}
	storetest.NoErr(t, os.WriteFile(path, whole, 0o600))
	storetest.NoErr(t, readAll(s.Reader, blobs))
}

func TestProveFindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	tree := storetest.WriteTree(t, b, map[string]storetest.File{"a/b/c": {Mode: gitstore.ModeFile, Data: "c"}, "d": {Mode: gitstore.ModeFile, Data: "d"}})
	storetest.NoErr(t, b.Flush(ctx))
	fresh := s.NewBatch()
	defer fresh.Discard()
	storetest.NoErr(t, fresh.ProveTree(tree, gitstore.ID{}))
	storetest.NoErr(t, os.Remove(storetest.LooseFile(s.Dir(), gitstore.HashObject(gitstore.TypeBlob, []byte("c")))))
	var not *shadow.NotProvedError
	if err := fresh.ProveTree(tree, gitstore.ID{}); !errors.As(err, &not) || not.Path != "a/b/c" || !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("got %v", err)
	}
	storetest.NoErr(t, fresh.ProveTree(tree, tree))
	_, err := fresh.Blob([]byte("new"))
	storetest.NoErr(t, err)
	if err := fresh.Prove(gitstore.HashObject(gitstore.TypeBlob, []byte("new"))); err == nil {
		t.Error("proved before the flush")
	}
}
