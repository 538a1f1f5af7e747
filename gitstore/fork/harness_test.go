package fork

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// lab is a source under test: a workspace, its repository and its project's
// store.
type lab struct {
	t     testing.TB
	base  string
	top   string // top level of the repository, or the plain directory
	scope string
	store *shadow.Store
	repo  *usergit.Repository
	cap   int64
}

func hermetic(t testing.TB) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, home)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_SYSTEM", "/dev/null")
}

func newLab(t testing.TB) *lab {
	t.Helper()
	hermetic(t)
	return newLabIn(t, t.TempDir())
}

func newLabIn(t testing.TB, base string) *lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, base: base, top: filepath.Join(base, "source"), cap: 1 << 20}
	if err := os.Mkdir(l.top, 0o755); err != nil {
		t.Fatal(err)
	}
	l.store, err = shadow.Create(t.Context(), filepath.Join(base, "shadow.git"), shadow.CreateOptions{ProjectID: uuid()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.store.Close() })
	return l
}

func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (l *lab) live() string { return joinPath(l.top, l.scope) }

// write makes a file below the top level.
func (l *lab) write(path, content string) {
	l.t.Helper()
	at := filepath.Join(l.top, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) git(dir string, args ...string) string {
	l.t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=U", "-c", "user.email=u@x", "-c", "commit.gpgsign=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// initGit makes the directory a repository with a first commit of all.
func (l *lab) initGit() {
	l.t.Helper()
	l.git(l.top, "init", "-q", "-b", "main", ".")
	l.commit("first")
}

func (l *lab) commit(message string) string {
	l.t.Helper()
	l.git(l.top, "add", "-A")
	l.git(l.top, "commit", "-q", "--allow-empty", "-m", message)
	return l.git(l.top, "rev-parse", "HEAD")
}

// snapshot captures the workspace and gives the moment as a source.
func (l *lab) snapshot() Source {
	l.t.Helper()
	if repo, err := usergit.Discover(l.top); err == nil {
		l.repo = repo
	} else if !errors.Is(err, usergit.ErrNoRepository) {
		l.t.Fatal(err)
	}
	root, err := beneath.Open(l.live())
	if err != nil {
		l.t.Fatal(err)
	}
	defer root.Close()
	rules, err := capture.LoadRules(capture.Sources{Root: l.live(), Repository: l.repo, Settings: capture.Settings{SizeCap: l.cap}})
	if err != nil {
		l.t.Fatal(err)
	}
	batch := l.store.NewBatch()
	defer batch.Discard()
	scanner := capture.NewScanner(capture.Workspace{Root: l.live(), Identity: root.Identity()})
	result, err := scanner.Capture(l.t.Context(), batch, rules, capture.Dirty{All: true}, capture.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := batch.Flush(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	scanner.Accept(result)
	src := Source{
		Known: scanner.Known(), Store: l.store, Tree: result.Tree, Moment: Moment{Modes: result.Modes}, Skipped: documents.NewSkippedSet(result.Skipped),
		Live: l.live(), Identity: root.Identity(), Now: true, Repo: l.repo, Scope: l.scope,
	}
	if src.Rules, err = documents.ParseRules(result.Rules, l.reader(result.Tree)); err != nil {
		l.t.Fatal(err)
	}
	if l.repo != nil {
		l.gitState(&src)
	}
	return src
}

func (l *lab) reader(tree gitstore.ID) documents.FileReader {
	return func(path string) ([]byte, bool, error) {
		if tree.IsZero() {
			return nil, false, nil
		}
		e, err := l.store.Lookup(tree, path)
		if errors.Is(err, gitstore.ErrNoEntry) {
			return nil, false, nil
		}
		if err != nil || !e.Mode.IsBlob() || e.Mode == gitstore.ModeSymlink {
			return nil, false, err
		}
		data, err := l.store.Blob(e.ID)
		return data, err == nil, err
	}
}

// gitState reads HEAD and the staged state, as the missions package does.
func (l *lab) gitState(src *Source) {
	l.t.Helper()
	head, err := tryGit(l.top, "rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		return
	}
	src.Head = head
	src.Branch, _ = tryGit(l.top, "symbolic-ref", "-q", "--short", "HEAD")
	src.Ancestors = strings.Fields(l.git(l.top, "rev-list", "--first-parent", "-n", "50", "HEAD"))[1:]
	index, err := l.repo.Index()
	if err != nil {
		l.t.Fatal(err)
	}
	inHead := map[string]string{}
	for line := range strings.SplitSeq(l.git(l.top, "ls-tree", "-r", "--full-tree", "HEAD"), "\n") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			fields := strings.Fields(meta)
			inHead[path] = fields[0] + fields[2]
		}
	}
	batch := l.store.NewBatch()
	defer batch.Discard()
	for _, e := range index.Entries {
		was := inHead[e.Path]
		delete(inHead, e.Path)
		if e.Stage == 0 && was == e.Mode.String()+e.ID.String() && !e.Flags.IntentToAdd {
			continue
		}
		s := Staged{Path: e.Path, Mode: e.Mode, ID: e.ID, Stage: e.Stage, Flags: e.Flags}
		if e.Mode != usergit.ModeGitlink && !e.Flags.IntentToAdd {
			cmd := exec.Command("git", "cat-file", "blob", e.ID.String())
			cmd.Dir = l.top
			data, err := cmd.Output()
			if err != nil {
				l.t.Fatal(err)
			}
			if s.Blob, err = batch.Blob(data); err != nil {
				l.t.Fatal(err)
			}
		}
		src.Staged = append(src.Staged, s)
	}
	for path := range inHead {
		src.Staged = append(src.Staged, Staged{Path: path})
	}
	if err := batch.Flush(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) target(name string) Target {
	return Target{Operation: uuid(), Directory: filepath.Join(l.base, "forks", name), Name: name, CopyIgnored: true, Trash: filepath.Join(l.base, "trash")}
}

func (l *lab) fork(src Source, target Target) *Made {
	l.t.Helper()
	made, err := Make(l.t.Context(), src, target)
	if err != nil {
		l.t.Fatal(err)
	}
	return made
}

// contents describes everything below dir but the names given: type, mode,
// content.
func contents(t testing.TB, dir string, but ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if slices.Contains(but, rel) || rel == "." {
			if d.IsDir() && rel != "." {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " -> " + target
		}
		out[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// equal compares two descriptions, and names what differs.
func equal(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	var differs []string
	for path, w := range want {
		if g, ok := got[path]; !ok {
			differs = append(differs, fmt.Sprintf("%q is missing (%.60q)", path, w))
		} else if g != w {
			differs = append(differs, fmt.Sprintf("%q is %.60q, not %.60q", path, g, w))
		}
	}
	for path, g := range got {
		if _, ok := want[path]; !ok {
			differs = append(differs, fmt.Sprintf("%q is too much (%.60q)", path, g))
		}
	}
	slices.Sort(differs)
	if len(differs) > 0 {
		t.Errorf("%s:\n%s", what, strings.Join(differs, "\n"))
	}
}

// stats describes the stat data of everything below dir, times of access and
// of directories aside.
func stats(t testing.TB, dir string) map[string]string {
	t.Helper()
	root, err := beneath.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	out := map[string]string{}
	for path := range contents(t, dir) {
		if strings.HasPrefix(path, ".git/objects/") {
			continue // git renews the times of those it uses
		}
		st, err := root.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Kind() == beneath.Directory {
			st.Size, st.Mtime, st.Ctime, st.Links = 0, 0, 0, 0
		}
		out[path] = fmt.Sprintf("%+v", st)
	}
	return out
}

// untouched checks at the end that the source is as it was, but for what a
// fork may add to its repository and what begins with a prefix of changing.
func (l *lab) untouched(changing ...string) func() {
	l.t.Helper()
	bytesBefore, statsBefore := contents(l.t, l.top), stats(l.t, l.top)
	return func() {
		l.t.Helper()
		ours := func(path string) bool {
			path = strings.TrimPrefix(path, ".git/")
			for _, prefix := range []string{"worktrees", "refs/heads/umbra", "logs/refs/heads/umbra", "objects/"} {
				if strings.HasPrefix(path, prefix) {
					return true
				}
			}
			return false
		}
		after := map[string]map[string]string{"bytes": contents(l.t, l.top), "stat data": stats(l.t, l.top)}
		for what, before := range map[string]map[string]string{"bytes": bytesBefore, "stat data": statsBefore} {
			for _, prefix := range changing {
				for _, m := range []map[string]string{after[what], before} {
					maps.DeleteFunc(m, func(path, _ string) bool { return strings.HasPrefix(path, prefix) })
				}
			}
			for path := range after[what] {
				if _, was := before[path]; !was && ours(path) {
					delete(after[what], path)
				}
			}
			equal(l.t, "the source's "+what, after[what], before)
		}
	}
}

func oneLine(paths []string) string { return strings.Join(paths, " ") }

func reasons(left []Left) map[string]string {
	out := map[string]string{}
	for _, l := range left {
		out[l.Path] = l.Reason
	}
	return out
}

// same compares the workspaces of source and fork as git and the disk see them.
func (l *lab) same(made *Made, but ...string) {
	l.t.Helper()
	but = append(but, ".git")
	equal(l.t, "files of the fork", contents(l.t, made.Workspace, but...), contents(l.t, l.live(), but...))
	if made.Branch == "" {
		return
	}
	for _, args := range [][]string{
		{"status", "--porcelain=v1", "--ignored", "-uall"}, {"ls-files", "--stage"}, {"ls-files", "-v"}, {"diff", "--cached", "--raw"}, {"diff", "--raw"},
	} {
		got, want := l.git(made.Worktree, args...), l.git(l.top, args...)
		if got != want {
			l.t.Errorf("git %s in the fork:\n%s\nin the source:\n%s", oneLine(args), got, want)
		}
	}
	if out := l.git(l.top, "fsck", "--no-progress", "--no-dangling"); bytes.Contains([]byte(out), []byte("error")) {
		l.t.Errorf("fsck: %s", out)
	}
}
