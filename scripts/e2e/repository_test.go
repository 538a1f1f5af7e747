package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// makeRepository makes a user's repository of some hundred files: committed,
// staged in every way, changed, untracked and ignored ones. It is a copy of one that is
// made once, with an index of its own. It is small, since what agents do with it does not
// depend on its size: scripts/endure and scripts/bench work on large ones.
func makeRepository(t *testing.T, dir string) {
	t.Helper()
	template.Do(func() { makeTemplate(t, templateDir()) })
	if out, err := exec.Command("cp", "-a", templateDir()+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the repository: %v\n%s", err, out)
	}
	gitIn(t, dir, "status", "--porcelain") // refreshes the index, once and for all
}

var template sync.Once

func templateDir() string { return filepath.Join(filepath.Dir(umbraPath()), "repository") }

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// makeTemplate makes that one: what was committed is in a pack, as in a clone.
func makeTemplate(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string, mode fs.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) { gitIn(t, dir, args...) }
	git("init", "-q", "-b", "main")
	for i := range 150 {
		write(fmt.Sprintf("pkg%d/sub%d/file%03d.go", i%5, i%7, i), fmt.Sprintf("package sub // %d\n", i), 0o644)
	}
	write(".gitignore", "*.log\n/out/\n", 0o644)
	write("state.txt", "0\n", 0o644)
	write("run.sh", "#!/bin/sh\necho run\n", 0o755)
	write("crlf.txt", "one\r\ntwo\n", 0o644)
	write("name with space é.txt", "x\n", 0o644)
	write("gone.txt", "to be deleted\n", 0o644)
	if err := os.Symlink("state.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-qm", "first")
	git("repack", "-adq")
	write("staged.txt", "staged\n", 0o644)
	write("pkg0/sub0/file000.go", "package sub // staged\n", 0o644)
	git("add", "staged.txt", "pkg0/sub0/file000.go")
	git("rm", "-q", "gone.txt")
	write("staged.txt", "staged, then changed\n", 0o644)
	write("untracked.txt", "untracked\n", 0o644)
	write("debug.log", "ignored\n", 0o644)
	write("out/build.bin", "\x00\x01ignored", 0o644)
}

// files is what a workspace holds: path to mode and content, without .git.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	walk(t, dir, func(name string, d fs.DirEntry) error {
		if name == ".git" {
			return skip(d)
		}
		found[name] = content(t, filepath.Join(dir, name))
		return nil
	})
	return found
}

func walk(t testing.TB, dir string, visit func(name string, d fs.DirEntry) error) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() && name != ".git" {
			return nil
		}
		return visit(filepath.ToSlash(name), d)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func content(t testing.TB, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			t.Fatal(err)
		}
		return "-> " + target
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 200 {
		return fmt.Sprintf("%v %q", info.Mode(), data)
	}
	return fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(data))
}

// fingerprint is every file of the repository and of its .git with mode, time
// and content: all that a fork must leave as it is. Its own worktree entries,
// branches and the objects it may add are left out, and a file of OpenCode's,
// which that writes anew whenever it runs.
func (p *person) fingerprint() map[string]string {
	p.Helper()
	found := map[string]string{}
	visit := func(root, prefix string) {
		walkAll(p.T, root, func(name string, info fs.FileInfo) {
			for _, own := range []string{".git/worktrees/", ".git/refs/heads/umbra/", ".git/logs/refs/heads/umbra/", ".git/opencode"} {
				if strings.HasPrefix(name, own) {
					return
				}
			}
			if !info.IsDir() {
				found[prefix+name] = info.ModTime().String() + " " + content(p.T, filepath.Join(root, name))
			}
		})
	}
	visit(p.repo, "repo/")
	return found
}

func walkAll(t testing.TB, dir string, visit func(name string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		visit(filepath.ToSlash(name), info)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// untouched compares the repository with an earlier fingerprint: objects may
// have been added, nothing else.
func (p *person) untouched(before map[string]string) {
	p.Helper()
	after := p.fingerprint()
	for name := range after {
		if _, was := before[name]; !was && strings.HasPrefix(name, "repo/.git/objects/") {
			delete(after, name)
		}
	}
	same(p.T, "the source repository", after, before)
}

// same reports the paths in which two sets of files differ.
func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	var lines []string
	for name, w := range want {
		if g, ok := got[name]; !ok {
			lines = append(lines, "missing "+name)
		} else if g != w {
			lines = append(lines, fmt.Sprintf("%s is %s, want %s", name, g, w))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			lines = append(lines, "added "+name)
		}
	}
	slices.Sort(lines)
	if len(lines) > 20 {
		lines = append(lines[:20], fmt.Sprintf("and %d more", len(lines)-20))
	}
	t.Errorf("%s differs:\n%s", what, strings.Join(lines, "\n"))
}
