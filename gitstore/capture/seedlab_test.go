package capture

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// seedLab is a workspace that is a checkout, and a shadow repository.
type seedLab struct {
	*lab
	store *shadow.Store
	attrs []string
	dirty []string
}

func newSeedLab(t *testing.T) *seedLab {
	t.Helper()
	l := &seedLab{lab: newLab(t, Settings{})}
	l.gitInit()
	l.store = l.newStore()
	return l
}

func (l *seedLab) newStore() *shadow.Store {
	l.t.Helper()
	dir := filepath.Join(l.t.TempDir(), "shadow.git")
	store, err := shadow.Create(context.Background(), dir, shadow.CreateOptions{ProjectID: "01234567-89ab-cdef-0123-456789abcdef"})
	l.must(err)
	l.t.Cleanup(func() { _ = store.Close() })
	return store
}

// commit commits everything, and lets the index be of a later second.
func (l *seedLab) commit() {
	l.t.Helper()
	l.git(l.root, "add", "-A")
	l.git(l.root, "commit", "-q", "-m", "c")
	l.settle()
}

// settle dates the index as if it had been written seconds later, so that no
// entry is racy.
func (l *seedLab) settle() {
	l.t.Helper()
	later := time.Now().Add(10 * time.Second)
	l.must(os.Chtimes(l.index(), later, later))
}

func (l *seedLab) index() string {
	l.t.Helper()
	repo, err := usergit.Discover(l.root)
	l.must(err)
	return filepath.Join(repo.GitDir, "index")
}

// first takes a first capture, seeded, and says which files were opened. The
// tree is that of an unseeded capture, and every object of it is stored.
func (l *seedLab) first() (opened []string, r *Result) {
	l.t.Helper()
	repo, err := usergit.Discover(l.root)
	l.must(err)
	l.sources.Repository, l.rules = repo, nil
	var mu sync.Mutex
	scanner := l.newScanner()
	scanner.hooks.beforeOpen = func(path string) {
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, path)
	}
	batch := l.store.NewBatch()
	defer batch.Discard()
	seed := &Seed{Repository: repo, Attributes: l.attrs, Store: l.store}
	r, err = scanner.Capture(context.Background(), batch, l.refresh(), Dirty{All: true, Paths: l.dirty}, Options{Seed: seed})
	l.must(err)
	l.must(batch.Flush(context.Background()))
	l.must(batch.ProveTree(r.Tree, gitstore.ID{}))
	scanner.Accept(r)
	scanner.hooks = &hooks{}
	l.scanner = l.newScanner()
	if want := l.walk(); r.Tree != want.Tree {
		l.t.Errorf("tree %s, unseeded %s:\n%s\n%s", r.Tree, want.Tree, l.lsTree(r.Tree), l.lsTree(want.Tree))
	}
	// What was taken over is trusted by the next walk.
	again, err := scanner.Capture(context.Background(), l.batch, l.refresh(), Dirty{All: true}, Options{})
	l.must(err)
	if again.Stats.ReadFiles > r.Stats.ReadFiles || again.Tree != r.Tree {
		l.t.Errorf("the next walk read %d files", again.Stats.ReadFiles)
	}
	slices.Sort(opened)
	return opened, r
}

func (l *seedLab) lsTree(tree gitstore.ID) string {
	out, err := l.store.Git(context.Background(), "ls-tree", "-r", tree.String())
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// wantOpened wants just these files to be read.
func (l *seedLab) wantOpened(paths ...string) *Result {
	l.t.Helper()
	opened, r := l.first()
	slices.Sort(paths)
	if !slices.Equal(opened, paths) {
		l.t.Errorf("opened %q, want %q (%v)", opened, paths, r.Unseeded)
	}
	return r
}

// rewrite edits a file in place and puts its mtime back.
func (l *seedLab) rewrite(name, content string) {
	l.t.Helper()
	info, err := os.Stat(l.path(name))
	l.must(err)
	if int64(len(content)) != info.Size() {
		l.t.Fatalf("%s: another size", name)
	}
	f, err := os.OpenFile(l.path(name), os.O_WRONLY, 0)
	l.must(err)
	_, err = f.WriteString(content)
	l.must(err)
	l.must(f.Close())
	l.must(os.Chtimes(l.path(name), info.ModTime(), info.ModTime()))
}

// stampIndex writes the file's present stat data into its entry, as if git had
// read it in the very tick in which it was changed afterwards.
func (l *seedLab) stampIndex(name string) {
	l.t.Helper()
	data, err := os.ReadFile(l.index())
	l.must(err)
	at := strings.Index(string(data), name+"\x00") - 62
	if at < 12 {
		l.t.Fatalf("no entry of %s", name)
	}
	var st unix.Stat_t
	l.must(unix.Lstat(l.path(name), &st))
	for i, v := range []int64{st.Ctim.Sec, st.Ctim.Nsec, st.Mtim.Sec, st.Mtim.Nsec} {
		binary.BigEndian.PutUint32(data[at+4*i:], uint32(v))
	}
	sum := sha1.Sum(data[:len(data)-sha1.Size])
	l.must(os.WriteFile(l.index(), append(data[:len(data)-sha1.Size], sum[:]...), 0o644))
}
