package capture

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

func (l *lab) save(generation uint64) string {
	l.t.Helper()
	file := filepath.Join(l.home, "cache")
	l.must(l.scanner.Save(generation, func(data []byte) error { return os.WriteFile(file, data, 0o600) }))
	return file
}

func TestCacheFile(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write("d/.gitignore", "*.o\n")
	l.write("d/\xffb", "b")
	l.write("d/x.o", "o")
	l.write(".env", "secret")
	l.must(os.Symlink("a", l.path("link")))
	want := l.settle()
	file := l.save(7)
	s, err := OpenScanner(l.scanner.workspace, file, 7)
	l.must(err)
	l.scanner = s
	r := l.capture(Dirty{}, Options{})
	if r.Tree != want.Tree || r.Stats.ReadFiles != 0 || !r.Walked {
		t.Errorf("tree right: %v, read %d, walked %v", r.Tree == want.Tree, r.Stats.ReadFiles, r.Walked)
	}
	if got := string(documents.SkippedDocument(r.Skipped)); got != string(documents.SkippedDocument(want.Skipped)) {
		t.Error(got)
	}
	if !bytes.Equal(r.Rules, want.Rules) || !bytes.Equal(r.Modes.Document(), want.Modes.Document()) {
		t.Error("the documents differ")
	}
	l.write("d/x.o", "other")
	l.write("a", "changed")
	s, err = OpenScanner(l.scanner.workspace, file, 7)
	l.must(err)
	l.scanner = s
	if r := l.walk(); l.files(r)["a"] != "changed" || r.Stats.ReadFiles != 1 {
		t.Errorf("read %d", r.Stats.ReadFiles)
	}
}

func TestCacheFileThatIsWrongIsDropped(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write("d/b", "b")
	l.settle()
	file := l.save(1)
	good, err := os.ReadFile(file)
	l.must(err)
	for n := range good {
		bad := bytes.Clone(good)
		bad[n] ^= 0x40
		l.must(os.WriteFile(file, bad, 0o600))
		if s, err := OpenScanner(l.scanner.workspace, file, 1); err == nil || s.base != nil {
			t.Fatalf("byte %d changed: %v", n, err)
		}
		l.must(os.WriteFile(file, good[:n], 0o600))
		if s, err := OpenScanner(l.scanner.workspace, file, 1); err == nil || s.base != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	l.must(os.WriteFile(file, good, 0o600))
	moved := l.scanner.workspace
	moved.Identity.Inode++
	if s, err := OpenScanner(moved, file, 1); err == nil || s.base != nil {
		t.Error("the cache of another directory was taken")
	}
	if s, err := OpenScanner(l.scanner.workspace, filepath.Join(l.home, "none"), 1); err != nil || s.base != nil {
		t.Error(err)
	}
}

func FuzzCacheFile(f *testing.F) {
	f.Add([]byte("\x01\x02\x03"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		d := &decoder{rest: data}
		d.directory(0)
	})
}

// TestSuspectIdsAreProved: after a prune, or with objects missing, ids are not
// taken on trust.
func TestSuspectIdsAreProved(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write("d/b", "b")
	l.write("d/c", "c")
	want := l.settle()
	file := l.save(1)
	lost := gitstore.HashObject(gitstore.TypeBlob, []byte("b"))
	for id := range l.batch.trees {
		delete(l.batch.objects, id)
	}
	delete(l.batch.objects, lost)
	s, err := OpenScanner(l.scanner.workspace, file, 2)
	l.must(err)
	l.scanner = s
	clear(l.batch.trees)
	r := l.capture(Dirty{}, Options{Present: l.batch.has})
	if r.Tree != want.Tree || r.Stats.ReadFiles != 1 {
		t.Errorf("tree right: %v, read %d", r.Tree == want.Tree, r.Stats.ReadFiles)
	}
	l.wantFiles(r, map[string]string{"a": "a", "d/b": "b", "d/c": "c"})
}

// TestIntoARealRepository captures into a shadow repository and lets git read
// it.
func TestIntoARealRepository(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	for _, name := range []string{"a", "d/b", "d/e/c", "\xff", "n\nl"} {
		l.write(name, strings.Repeat(name, 100))
	}
	l.write("large", strings.Repeat("0123456789", wholeSize/5))
	l.must(os.Chmod(l.path("a"), 0o755))
	ctx := context.Background()
	dir := filepath.Join(l.home, "shadow.git")
	store, err := shadow.Create(ctx, dir, shadow.CreateOptions{ProjectID: "01234567-89ab-cdef-0123-456789abcdef"})
	l.must(err)
	defer store.Close()
	for range 2 {
		batch := store.NewBatch()
		defer batch.Discard()
		r, err := l.scanner.Capture(ctx, batch, l.refresh(), Dirty{All: true}, Options{Present: store.Has})
		l.must(err)
		l.must(batch.Flush(ctx))
		l.scanner.Accept(r)
		if got := l.oracle(); got != r.Tree {
			t.Errorf("tree %s, git says %s", r.Tree, got)
		}
		cmd := exec.Command("git", "--git-dir", dir, "rev-list", "--objects", r.Tree.String())
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		l.git(l.home, "--git-dir", dir, "fsck", "--full", "--strict")
		l.write("d/b", "changed")
		l.scanner.Suspect()
	}
}
