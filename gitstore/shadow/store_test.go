package shadow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/durable"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

const (
	testProject = "0f8fad5b-d9cb-469f-a165-70867728950e"
	testMission = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	testOther   = "16fd2706-8baf-433b-82eb-8c7fada847da"
)

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "GIT_") {
			os.Unsetenv(key)
		}
	}
	os.Exit(m.Run())
}

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

func testSignature(n int) gitstore.Signature {
	return gitstore.Signature{Name: "A U Thor", Email: "author@example.com", When: time.Unix(1700000000+int64(n), 0).UTC()}
}

func fsck(t testing.TB, s *Store) {
	t.Helper()
	out, err := s.Git(context.Background(), "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
	if err != nil {
		t.Fatalf("fsck: %v\n%s", err, out)
	}
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

func testID(n byte) gitstore.ID { return gitstore.HashObject(gitstore.TypeBlob, []byte{'t', n}) }
