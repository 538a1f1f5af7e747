package usergit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// testRepo is a repository made by the real git, far from the user's settings.
type testRepo struct {
	t   *testing.T
	dir string
}

func testEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_EDITOR=true", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &testRepo{t: t, dir: filepath.Join(dir, "repo")}
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.git(append([]string{"init", "-q", "-b", "main", "--template="}, initArgs...)...)
	return r
}

// try runs git in the repository and returns its output and error.
func (r *testRepo) try(args ...string) (string, error) { return r.feed("", args...) }

// feed is try with something on git's standard input.
func (r *testRepo) feed(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = testEnv(filepath.Dir(r.dir))
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %q: %w\n%s%s", args, err, out, stderr.Bytes())
	}
	return string(out), err
}

func (r *testRepo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

func (r *testRepo) gitIn(stdin string, args ...string) string {
	r.t.Helper()
	out, err := r.feed(stdin, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

// fails runs a git command that must stop, as at a conflict.
func (r *testRepo) fails(args ...string) {
	r.t.Helper()
	if out, err := r.try(args...); err == nil {
		r.t.Fatalf("git %q did not stop: %s", args, out)
	}
}

func (r *testRepo) write(path, data string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(data), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes a file and commits it.
func (r *testRepo) commit(path, data string) string {
	r.t.Helper()
	r.write(path, data)
	r.git("add", "--", path)
	r.git("commit", "-q", "-m", path)
	return r.git("rev-parse", "HEAD")
}

// conflict makes a branch "other" that conflicts with main in the file "f".
func (r *testRepo) conflict() {
	r.t.Helper()
	r.commit("f", "base\n")
	r.git("switch", "-q", "-c", "other")
	r.commit("f", "theirs\n")
	r.git("switch", "-q", "main")
	r.commit("f", "ours\n")
}

func (r *testRepo) discover() *Repository {
	r.t.Helper()
	found, err := Discover(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// objects reads the repository's objects by the real git.
func (r *testRepo) objects() gitObjects { return gitObjects{r} }

type gitObjects struct{ r *testRepo }

func (o gitObjects) Commit(id ID) (Commit, error) {
	out, err := o.r.try("cat-file", "commit", id.String())
	if err != nil {
		return Commit{}, err
	}
	var c Commit
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.Tree, err = ParseID(value)
		case "parent":
			var parent ID
			parent, err = ParseID(value)
			c.Parents = append(c.Parents, parent)
		case "":
			return c, nil
		}
		if err != nil {
			return Commit{}, err
		}
	}
	return c, nil
}

func (o gitObjects) Tree(id ID) ([]TreeEntry, error) {
	out, err := o.r.try("ls-tree", "-z", "--full-tree", id.String())
	if err != nil {
		return nil, err
	}
	var entries []TreeEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if line == "" {
			continue
		}
		var mode Mode
		var kind, hex string
		meta, name, _ := strings.Cut(line, "\t")
		if _, err := fmt.Sscanf(meta, "%o %s %s", &mode, &kind, &hex); err != nil {
			return nil, err
		}
		id, err := ParseID(hex)
		if err != nil {
			return nil, err
		}
		entries = append(entries, TreeEntry{Name: name, Mode: mode, ID: id})
	}
	return entries, nil
}

// fingerprint lists all below a directory: type, size, times and content.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v %d %v", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// untouched fails the test if anything below the repository differs after
// everything that can be read of it has been.
func (r *testRepo) untouched() {
	r.t.Helper()
	before := fingerprint(r.t, r.dir)
	found := r.discover()
	if _, err := found.Identity(); err != nil {
		r.t.Error(err)
	}
	head, err := found.Head()
	if err != nil {
		r.t.Error(err)
	}
	if _, err := found.Operations(); err != nil {
		r.t.Error(err)
	}
	index, err := found.Index()
	if err != nil {
		r.t.Error(err)
	}
	if !head.Unborn() {
		if _, err := found.FirstParents(r.objects(), head.ID, 50); err != nil {
			r.t.Error(err)
		}
	}
	if _, err := Staged(r.objects(), r.tree(head), index); err != nil {
		r.t.Error(err)
	}
	if _, err := ReadConfiguration(r.t.Context(), r.dir, found, testEnv(filepath.Dir(r.dir)), Patience); err != nil {
		r.t.Error(err)
	}
	if after := fingerprint(r.t, r.dir); after != before {
		r.t.Errorf("reading changed the repository from\n%s\nto\n%s", before, after)
	}
}

func (r *testRepo) tree(head Head) ID {
	r.t.Helper()
	if head.Unborn() {
		return ID{}
	}
	commit, err := r.objects().Commit(head.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return commit.Tree
}

func isUnsupported(err error) bool {
	var unsupported *UnsupportedError
	return errors.As(err, &unsupported)
}

func isDamaged(err error) bool {
	var damaged *DamagedError
	return errors.As(err, &damaged)
}
