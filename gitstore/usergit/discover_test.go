package usergit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// sameAsGit holds what Discover finds in dir against git rev-parse.
func sameAsGit(t *testing.T, dir string) *Repository {
	t.Helper()
	r := &testRepo{t: t, dir: dir}
	found := r.discover()
	if want := r.git("rev-parse", "--absolute-git-dir"); found.GitDir != want {
		t.Errorf("%s: git directory %s, want %s", dir, found.GitDir, want)
	}
	if want := r.git("rev-parse", "--path-format=absolute", "--git-common-dir"); found.CommonDir != want {
		t.Errorf("%s: common directory %s, want %s", dir, found.CommonDir, want)
	}
	want, err := r.try("rev-parse", "--show-toplevel")
	if err != nil {
		want = ""
	}
	if want = trimLine(want); found.TopLevel != want {
		t.Errorf("%s: top level %q, want %q", dir, found.TopLevel, want)
	}
	if want := r.git("rev-parse", "--is-bare-repository") == "true"; found.Bare != want {
		t.Errorf("%s: bare %v, want %v", dir, found.Bare, want)
	}
	if want := r.git("rev-parse", "--show-object-format"); string(found.Format) != want {
		t.Errorf("%s: object format %s, want %s", dir, found.Format, want)
	}
	return found
}

func trimLine(s string) string {
	if n := len(s); n > 0 && s[n-1] == '\n' {
		return s[:n-1]
	}
	return s
}

func TestDiscoverAsGit(t *testing.T) {
	// Pointed at from everywhere, and to be ignored.
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_WORK_TREE", "/nonexistent")
	r := newRepo(t)
	r.commit("a/b/c", "x")
	main := sameAsGit(t, r.dir)
	sameAsGit(t, filepath.Join(r.dir, "a/b"))
	sameAsGit(t, filepath.Join(r.dir, ".git"))
	sameAsGit(t, filepath.Join(r.dir, ".git/objects"))

	tmp := filepath.Dir(r.dir)
	r.git("worktree", "add", "-q", filepath.Join(tmp, "linked"))
	linked := sameAsGit(t, filepath.Join(tmp, "linked/a"))
	if !linked.Linked || main.Linked || linked.Submodule {
		t.Errorf("linked: %v, main %v, submodule %v", linked.Linked, main.Linked, linked.Submodule)
	}
	one, err1 := main.Identity()
	two, err2 := linked.Identity()
	if err1 != nil || err2 != nil || one != two || one.Inode == 0 {
		t.Errorf("identities %v (%v) and %v (%v)", one, err1, two, err2)
	}

	r.git("clone", "-q", "--bare", ".", filepath.Join(tmp, "bare.git"))
	if bare := sameAsGit(t, filepath.Join(tmp, "bare.git/refs")); !bare.Bare {
		t.Error("bare.git is not bare")
	}
	r.git("init", "-q", "--template=", "--separate-git-dir", filepath.Join(tmp, "elsewhere"), filepath.Join(tmp, "separate"))
	sameAsGit(t, filepath.Join(tmp, "separate"))
	r.git("init", "-q", "--template=", "--object-format=sha256", filepath.Join(tmp, "sha256"))
	sameAsGit(t, filepath.Join(tmp, "sha256"))

	r.git("submodule", "--quiet", "add", filepath.Join(tmp, "bare.git"), "sub/mod")
	sub := sameAsGit(t, filepath.Join(r.dir, "sub/mod"))
	if !sub.Submodule || sub.Linked || main.Submodule {
		t.Errorf("submodule: %v, linked %v, main %v", sub.Submodule, sub.Linked, main.Submodule)
	}
	if err := os.Symlink(filepath.Join(r.dir, "a"), filepath.Join(tmp, "link")); err != nil {
		t.Fatal(err)
	}
	sameAsGit(t, filepath.Join(tmp, "link"))
	// A .git that is no repository is passed over.
	if err := os.MkdirAll(filepath.Join(r.dir, "a/.git"), 0o777); err != nil {
		t.Fatal(err)
	}
	sameAsGit(t, filepath.Join(r.dir, "a/b"))
}

func TestDiscoverWorktreeSettings(t *testing.T) {
	r := newRepo(t)
	r.commit("tree/a", "x")
	r.git("config", "core.worktree", filepath.Join(r.dir, "tree"))
	sameAsGit(t, filepath.Join(r.dir, "tree"))
	if found := r.discover(); found.TopLevel != "" {
		t.Errorf("outside its work tree the top level is %q", found.TopLevel)
	}
	r.git("config", "--unset", "core.worktree")
	r.git("config", "core.bare", "true")
	sameAsGit(t, r.dir)
	linked := filepath.Join(filepath.Dir(r.dir), "linked")
	r.git("worktree", "add", "-q", linked)
	sameAsGit(t, linked)
	r.git("config", "core.repositoryFormatVersion", "1")
	r.git("config", "extensions.worktreeConfig", "true")
	r.git("config", "--unset", "core.bare")
	r.git("config", "--worktree", "core.bare", "true")
	sameAsGit(t, r.dir)
	sameAsGit(t, linked)
	// What is in the shared file counts in linked worktrees then.
	r.git("config", "--worktree", "--unset", "core.bare")
	r.git("config", "core.worktree", r.dir)
	sameAsGit(t, r.dir)
	if found, err := At(linked); err != nil || found.TopLevel != "" {
		t.Errorf("with a shared core.worktree the top level of %s is %q, %v", linked, found.TopLevel, err)
	}
	r.git("config", "--unset", "core.worktree")
	sameAsGit(t, linked)
	r.git("config", "core.bare", "true")
	if found, err := At(linked); err != nil || !found.Bare {
		t.Errorf("with a shared core.bare %s is not bare, %v", linked, err)
	}
}

func TestDiscoverNothingOrDamage(t *testing.T) {
	dir := t.TempDir()
	if _, err := Discover(dir); !errors.Is(err, ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
	if _, err := Discover(filepath.Join(dir, "missing")); err == nil || errors.Is(err, ErrNoRepository) {
		t.Errorf("missing directory: %v", err)
	}
	for _, data := range []string{"", "gitdir: ", "gitdir: nowhere\n", "other"} {
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err := Discover(dir); err != nil || !isDamaged(r.Unread) || r.TopLevel != dir || !r.LeadsNowhere() {
			t.Errorf(".git with %q: %+v, %v", data, r, err)
		}
	}
}

// TestDiscoverUnread: of a repository whose configuration is damaged it is known
// where it is, and its methods say why no more is.
func TestDiscoverUnread(t *testing.T) {
	r := newRepo(t)
	r.commit("a/b", "x")
	whole := r.discover()
	linked := filepath.Join(filepath.Dir(r.dir), "linked")
	r.git("worktree", "add", "-q", linked)
	r.write(".git/config", "[broken")
	for _, dir := range []string{r.dir, filepath.Join(r.dir, "a"), linked} {
		found, err := Discover(dir)
		if err != nil || !isDamaged(found.Unread) || found.CommonDir != whole.CommonDir || found.LeadsNowhere() {
			t.Errorf("%s: %+v, %v", dir, found, err)
			continue
		}
		if top := linked; found.Linked != (dir == linked) || found.TopLevel != r.dir && (dir != linked || found.TopLevel != top) {
			t.Errorf("%s: the top level is %s", dir, found.TopLevel)
		}
		if _, err := found.Head(); !isDamaged(err) {
			t.Errorf("HEAD: %v", err)
		}
		if _, err := found.Index(); !isDamaged(err) {
			t.Errorf("the index: %v", err)
		}
		if _, err := found.Operations(); !isDamaged(err) {
			t.Errorf("operations: %v", err)
		}
	}
}

func TestAt(t *testing.T) {
	r := newRepo(t)
	r.commit("a/b", "x")
	if _, err := At(filepath.Join(r.dir, "a")); !errors.Is(err, ErrNoRepository) {
		t.Errorf("below the top level: %v", err)
	}
	if found, err := At(r.dir); err != nil || found.TopLevel != r.dir {
		t.Errorf("at the top level: %v, %v", found, err)
	}
}

func TestUnsupportedFormats(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "x")
	r.git("config", "core.repositoryFormatVersion", "1")
	r.git("config", "extensions.refStorage", "reftable")
	found := r.discover()
	if !found.RefTable {
		t.Error("reftable not seen")
	}
	if _, err := found.Head(); !isUnsupported(err) {
		t.Errorf("HEAD with reftable: %v", err)
	}
	if _, err := found.Operations(); !isUnsupported(err) {
		t.Errorf("operations with reftable: %v", err)
	}
	if _, err := found.Index(); err != nil {
		t.Errorf("index with reftable: %v", err)
	}
	config := filepath.Join(found.CommonDir, "config")
	for _, text := range []string{
		"[core]\nrepositoryformatversion = 2\n",
		"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha3\n",
	} {
		if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if found, err := Discover(r.dir); err != nil || !isUnsupported(found.Unread) {
			t.Errorf("%q: %+v, %v", text, found, err)
		}
	}
	if err := os.WriteFile(config, []byte("[core]\nrepositoryformatversion = 1\n[extensions]\nfuture = yes\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	found = r.discover()
	if _, err := found.Head(); !isUnsupported(err) {
		t.Errorf("HEAD with an unknown extension: %v", err)
	}
	if _, err := found.Index(); !isUnsupported(err) {
		t.Errorf("index with an unknown extension: %v", err)
	}
}
