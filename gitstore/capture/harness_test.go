package capture

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// memory is a Batch that keeps its objects in memory.
type memory struct {
	mu      sync.Mutex
	objects map[gitstore.ID][]byte
	trees   map[gitstore.ID][]gitstore.TreeEntry
	fail    func() error
}

func newMemory() *memory {
	return &memory{objects: map[gitstore.ID][]byte{}, trees: map[gitstore.ID][]gitstore.TreeEntry{}}
}

func (m *memory) Blob(data []byte) (gitstore.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(); err != nil {
			return gitstore.ID{}, err
		}
	}
	id := gitstore.HashObject(gitstore.TypeBlob, data)
	m.objects[id] = bytes.Clone(data)
	return id, nil
}

func (m *memory) BlobFrom(r io.Reader, size int64) (gitstore.ID, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return gitstore.ID{}, err
	}
	if int64(len(data)) != size {
		return gitstore.ID{}, gitstore.ErrSizeChanged
	}
	return m.Blob(data)
}

func (m *memory) Tree(entries []gitstore.TreeEntry) (gitstore.ID, error) {
	gitstore.SortEntries(entries)
	var data []byte
	for _, e := range entries {
		mode := e.Mode.String()
		if mode[0] == '0' {
			mode = mode[1:]
		}
		data = append(append(append(data, mode+" "+e.Name...), 0), e.ID[:]...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := gitstore.HashObject(gitstore.TypeTree, data)
	m.objects[id] = data
	m.trees[id] = append([]gitstore.TreeEntry(nil), entries...)
	return id, nil
}

func (m *memory) has(id gitstore.ID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.objects[id]
	return ok, nil
}

// files lists a tree's blobs by path.
func (m *memory) files(t *testing.T, tree gitstore.ID) map[string]string {
	t.Helper()
	out := map[string]string{}
	var walk func(id gitstore.ID, path string)
	walk = func(id gitstore.ID, path string) {
		entries, ok := m.trees[id]
		if !ok {
			t.Fatalf("tree %s of %q was not written", id, path)
		}
		for _, e := range entries {
			at := treepath.Join(path, e.Name)
			if e.Mode.IsDir() {
				walk(e.ID, at)
				continue
			}
			data, ok := m.objects[e.ID]
			if !ok {
				t.Fatalf("blob %s of %q was not written", e.ID, at)
			}
			out[at] = string(data)
		}
	}
	walk(tree, "")
	return out
}

// lab is a workspace under test.
type lab struct {
	t       *testing.T
	root    string
	home    string
	batch   *memory
	sources Sources
	rules   *Rules
	scanner *Scanner
}

func newLab(t *testing.T, settings Settings) *lab {
	t.Helper()
	base := t.TempDir()
	l := &lab{t: t, root: filepath.Join(base, "ws"), home: filepath.Join(base, "home"), batch: newMemory()}
	for _, dir := range []string{l.root, l.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.sources = Sources{Root: l.root, Excludes: filepath.Join(l.home, "excludes"), Settings: settings}
	l.scanner = l.newScanner()
	return l
}

func (l *lab) newScanner() *Scanner {
	l.t.Helper()
	root, err := beneath.Open(l.root)
	if err != nil {
		l.t.Fatal(err)
	}
	defer root.Close()
	return NewScanner(Workspace{Root: l.root, Identity: root.Identity()})
}

// gitInit makes the workspace a repository.
func (l *lab) gitInit() {
	l.t.Helper()
	l.git(l.root, "init", "-q", ".")
	repo, err := usergit.At(l.root)
	if err != nil {
		l.t.Fatal(err)
	}
	l.sources.Repository = repo
	l.rules = nil
}

func (l *lab) git(dir string, args ...string) []byte {
	l.t.Helper()
	return l.gitWith(dir, nil, nil, args...)
}

func (l *lab) gitWith(dir string, env []string, stdin []byte, args ...string) []byte {
	l.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.excludesFile=" + l.sources.Excludes}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C",
	}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 && args[0] == "check-ignore" {
		err = nil
	}
	if err != nil {
		l.t.Fatalf("git %q: %v: %s", args, err, stderr.Bytes())
	}
	return out
}

func (l *lab) path(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

func (l *lab) write(name, content string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path(name)), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(l.path(name), []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// refresh brings the rules up to date.
func (l *lab) refresh() *Rules {
	l.t.Helper()
	var err error
	if l.rules == nil {
		l.rules, err = LoadRules(l.sources)
	} else {
		l.rules, err = l.rules.Refresh()
	}
	l.must(err)
	return l.rules
}

// capture takes a capture and accepts it.
func (l *lab) capture(dirty Dirty, options Options) *Result {
	l.t.Helper()
	result, err := l.try(dirty, options)
	l.must(err)
	l.scanner.Accept(result)
	return result
}

func (l *lab) try(dirty Dirty, options Options) (*Result, error) {
	l.t.Helper()
	return l.scanner.Capture(context.Background(), l.batch, l.refresh(), dirty, options)
}

func (l *lab) walk() *Result { l.t.Helper(); return l.capture(Dirty{All: true}, Options{}) }

func (l *lab) paths(paths ...string) *Result {
	l.t.Helper()
	return l.capture(Dirty{Paths: paths}, Options{})
}

// recorded is the rules that a capture recorded.
func (l *lab) recorded(r *Result) *documents.Rules {
	l.t.Helper()
	files := l.files(r)
	recorded, err := documents.ParseRules(r.Rules, func(path string) ([]byte, bool, error) { s, ok := files[path]; return []byte(s), ok, nil })
	l.must(err)
	return recorded
}

// files is what a capture holds.
func (l *lab) files(r *Result) map[string]string { l.t.Helper(); return l.batch.files(l.t, r.Tree) }
