package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/durable"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

const (
	testProject = "0f8fad5b-d9cb-469f-a165-70867728950e"
	testMission = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	testOther   = "16fd2706-8baf-433b-82eb-8c7fada847da"
)

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Create(context.Background(), filepath.Join(t.TempDir(), "shadow.git"), CreateOptions{ProjectID: testProject})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testSignature(n int) Signature {
	return Signature{Name: "A U Thor", Email: "author@example.com", When: time.Unix(1700000000+int64(n), 0).UTC()}
}

func fsck(t testing.TB, s *Store) {
	t.Helper()
	out, err := s.Git(context.Background(), "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
	if err != nil {
		t.Fatalf("fsck: %v\n%s", err, out)
	}
}

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "GIT_") {
			os.Unsetenv(key)
		}
	}
	if child, ok := os.LookupEnv(childEnv); ok {
		os.Exit(runChild(child))
	}
	os.Exit(m.Run())
}

// commitFiles writes a snapshot of flat files on top of parents.
func commitFiles(t testing.TB, b *Batch, n int, files map[string]string, parents ...ID) ID {
	t.Helper()
	var entries []TreeEntry
	for _, name := range slices.Sorted(maps.Keys(files)) { // so that a pack is the same each time
		id := must[ID](t)(b.Blob([]byte(files[name])))
		entries = append(entries, TreeEntry{Name: name, Mode: ModeFile, ID: id})
	}
	tree := must[ID](t)(b.Tree(entries))
	snap := &Snapshot{Tree: tree, Parents: parents, Author: testSignature(n), At: testSignature(n).When,
		State: "idle", Message: fmt.Sprintf("commit %d", n), Trailers: Trailers{Mission: testMission, Turn: n}}
	return must[ID](t)(b.Commit(FormatSnapshot(snap)))
}

// TestLargeBlobsAtOnce writes large blobs from several goroutines, small ones
// between them, in memory that does not grow with their size.
func TestLargeBlobsAtOnce(t *testing.T) {
	s := newStore(t)
	b := s.NewBatch()
	defer b.Discard()
	const size, most = 24 << 20, 48 << 20 // the race detector drops pooled buffers
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var ids [3]ID
	var work sync.WaitGroup
	for i := range ids {
		work.Go(func() {
			noise := io.LimitReader(rand.NewChaCha8([32]byte{byte(i % 2)}), size) // two are the same
			var err error
			if ids[i], err = b.BlobFrom(noise, size); err != nil {
				t.Error(err)
			}
		})
	}
	small := map[ID]string{}
	for i := range 100 {
		text := fmt.Sprint("small ", i)
		small[must[ID](t)(b.Blob([]byte(text)))] = text
	}
	work.Wait()
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
		t.Errorf("%d bytes were allocated for %d blobs of %d", grown, len(ids), size)
	}
	if ids[0] != ids[2] || ids[0] == ids[1] {
		t.Errorf("ids are %v", ids)
	}
	noErr(t, b.Flush(context.Background()))
	for id, text := range small {
		if got := must[[]byte](t)(s.Blob(id)); string(got) != text {
			t.Errorf("%q was stored as %q", text, got)
		}
	}
	for i, id := range ids[:2] {
		want := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(want)
		if got := must[[]byte](t)(s.Blob(id)); !bytes.Equal(got, want) {
			t.Errorf("large blob %d differs", i)
		}
	}
	noLeftovers(t, s)
	fsck(t, s)
}

func TestCreateAndOpen(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shadow.git")
	s := must[*Store](t)(Create(context.Background(), dir, CreateOptions{ProjectID: testProject}))
	defer s.Close()
	if fi := must[fs.FileInfo](t)(os.Stat(dir)); fi.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", fi.Mode())
	}
	if _, err := Create(context.Background(), dir, CreateOptions{ProjectID: testProject}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second create: %v", err)
	}
	if got := must[*Store](t)(Open(dir)).ProjectID(); got != testProject {
		t.Errorf("project %q", got)
	}
	for key, want := range map[string]string{"gc.auto": "0", "gc.pruneExpire": "never", "core.logAllRefUpdates": "false",
		"core.bare": "true", "umbra.project": testProject, "umbra.format": "1", "fsck.gitmodulesname": "ignore"} {
		if got := strings.TrimSpace(string(must[[]byte](t)(s.Git(context.Background(), "config", "--file", "config", key)))); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	fsck(t, s)
}

// TestCreateSyncs names what a new repository is made durable by: each file, and
// each directory in which something was made.
func TestCreateSyncs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var synced []string
	s := &durable.Syncer{Before: func(path string) error {
		rel, err := filepath.Rel(dir, path)
		synced = append(synced, rel)
		return err
	}}
	noErr(t, populate(s, dir, CreateOptions{ProjectID: testProject, FormatVersion: FormatVersion}))
	slices.Sort(synced)
	if want := []string{".", "HEAD", "config", "objects", "refs", "refs/trash", "umbra"}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	noErr(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if above := filepath.Dir(rel); err == nil && !slices.Contains(synced, above) {
			t.Errorf("%s is made in %s, which is not synced", rel, above)
		}
		return err
	}))
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "new.git")
	s, err := Create(ctx, dir, CreateOptions{ProjectID: testProject, FormatVersion: FormatVersion + 1})
	var format *FormatError
	if !errors.As(err, &format) || format.Have != FormatVersion+1 {
		t.Fatalf("other version: %v, %v", s, err)
	}
	var not *NotShadowError
	if _, err := Open(t.TempDir()); !errors.As(err, &not) {
		t.Errorf("empty directory: %v", err)
	}
	bare := t.TempDir()
	_, err = git.Run(ctx, git.Command{Dir: bare, Args: []string{"init", "-q", "--bare", "."}})
	noErr(t, err)
	if _, err := Open(bare); !errors.As(err, &not) {
		t.Errorf("other bare repository: %v", err)
	}
}

func TestBatchIsReadableByGitAndUs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 29, 30, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newStore(t)
			ctx := context.Background()
			b := s.NewBatch()
			defer b.Discard()
			rnd := rand.New(rand.NewPCG(1, uint64(n)))
			files := map[string]string{}
			for i := range n {
				data := make([]byte, rnd.IntN(5000))
				for j := range data {
					data[j] = byte(rnd.IntN(20))
				}
				files[fmt.Sprintf("f%d", i)] = string(data)
			}
			c := commitFiles(t, b, 1, files)
			before := s.Fsyncs()
			noErr(t, b.Flush(ctx))
			noErr(t, b.ProveTree(must[*Commit](t)(s.Commit(c)).Tree, ID{}))
			noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, c, Durable))
			noErr(t, s.UpdateRef(ctx, RecordRef(testMission), ID{}, c, Derived))
			if got := s.Fsyncs() - before; got > 5 {
				t.Errorf("%d fsyncs for a snapshot of %d files", got, n)
			}
			fsck(t, s)
			again := must[*Store](t)(Open(s.Dir()))
			defer again.Close()
			for name, data := range files {
				e := must[TreeEntry](t)(again.Lookup(must[*Commit](t)(again.Commit(c)).Tree, name))
				if got := must[[]byte](t)(again.Blob(e.ID)); string(got) != data {
					t.Fatalf("%s differs", name)
				}
			}
		})
	}
}

func TestBlobFrom(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	big := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	id := must[ID](t)(b.BlobFrom(bytes.NewReader(big), int64(len(big))))
	if id != HashObject(TypeBlob, big) {
		t.Fatal("wrong id")
	}
	if again := must[ID](t)(b.BlobFrom(bytes.NewReader(big), int64(len(big)))); again != id {
		t.Fatal("wrong id the second time")
	}
	for _, announced := range []int{len(big) - 1, len(big) + 1, 10} {
		if _, err := b.BlobFrom(bytes.NewReader(big), int64(announced)); !errors.Is(err, ErrSizeChanged) {
			t.Errorf("announced %d: %v", announced, err)
		}
	}
	small := must[ID](t)(b.BlobFrom(strings.NewReader("after"), 5))
	noErr(t, b.Flush(ctx))
	if got := must[[]byte](t)(s.Blob(id)); !bytes.Equal(got, big) {
		t.Error("content differs")
	}
	if got := must[[]byte](t)(s.Blob(small)); string(got) != "after" {
		t.Error("small content differs")
	}
	r, size, err := s.BlobReader(id)
	noErr(t, err)
	defer r.Close()
	var buf bytes.Buffer
	_, err = buf.ReadFrom(r)
	noErr(t, err)
	if size != int64(len(big)) || !bytes.Equal(buf.Bytes(), big) {
		t.Error("streamed content differs")
	}
	fsck(t, s)
}
