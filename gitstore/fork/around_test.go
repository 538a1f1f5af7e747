package fork

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// container makes of the top level a directory around a bare repository, which is at
// path, and two worktrees of it.
func (l *lab) container(path string) {
	l.t.Helper()
	seed := filepath.Join(l.base, "seed")
	l.git(l.base, "init", "-q", "-b", "main", seed)
	if err := os.WriteFile(filepath.Join(seed, "f"), []byte("one\n"), 0o644); err != nil {
		l.t.Fatal(err)
	}
	l.git(seed, "add", ".")
	l.git(seed, "commit", "-q", "-m", "first")
	bare := filepath.Join(l.top, path)
	l.git(l.base, "clone", "-q", "--bare", seed, bare)
	l.git(bare, "worktree", "add", "-q", filepath.Join(l.top, "main"), "main")
	l.git(bare, "worktree", "add", "-q", "-b", "feature", filepath.Join(l.top, "deep/feature"))
	l.write("main/f", "mine\n")
	l.git(filepath.Join(l.top, "main"), "add", "f")
	l.write("main/new", "new\n")
}

// around is a moment of the directory: what has no work tree there counts as no
// repository in a snapshot.
func (l *lab) around() Source {
	l.t.Helper()
	dotGit, aside := filepath.Join(l.top, ".git"), filepath.Join(l.base, "aside")
	repo, err := usergit.At(l.top)
	if err == nil && repo.Bare && repo.CommonDir != dotGit {
		if err := os.Rename(dotGit, aside); err != nil {
			l.t.Fatal(err)
		}
		defer os.Rename(aside, dotGit)
	}
	src := l.snapshot()
	src.Now = true
	if err == nil {
		src.Repo, src.Head, src.Branch, src.Ancestors, src.Staged = repo, "", "", nil, nil
	}
	return src
}

// worksApart shows that git in the fork works there alone: in each directory its top
// level and git directory lie in the fork, and a commit in it is none of the source's.
func (l *lab) worksApart(made *Made, dirs ...string) {
	l.t.Helper()
	for _, below := range dirs {
		dir := filepath.Join(made.Worktree, below)
		source := l.git(filepath.Join(l.top, below), "rev-parse", "HEAD")
		if got := l.git(dir, "rev-parse", "--show-toplevel"); got != dir {
			l.t.Errorf("%s works in %s", dir, got)
		}
		for _, which := range []string{"--absolute-git-dir", "--git-common-dir", "--git-path=objects"} {
			args := strings.SplitN(which, "=", 2)
			got := l.git(dir, append([]string{"rev-parse", "--path-format=absolute"}, args...)...)
			real, err := filepath.EvalSymlinks(got)
			if err != nil || !inside(real, made.Worktree) {
				l.t.Errorf("%s of %s is %s (%v)", which, dir, real, err)
			}
		}
		if got, want := l.git(dir, "status", "--porcelain"), l.git(filepath.Join(l.top, below), "status", "--porcelain"); got != want {
			l.t.Errorf("status in %s: %q, in the source %q", dir, got, want)
		}
		l.git(dir, "commit", "-q", "--allow-empty", "-m", "of the fork")
		l.git(dir, "fsck", "--full", "--strict")
		if got := l.git(filepath.Join(l.top, below), "rev-parse", "HEAD"); got != source || got == l.git(dir, "rev-parse", "HEAD") {
			l.t.Errorf("a commit in %s moved the source to %s", dir, got)
		}
	}
}

// TestForkAroundARepository: a directory around a repository and its worktrees has in
// the fork a copy of the repository, to which the worktrees there belong.
func TestForkAroundARepository(t *testing.T) {
	for what, lay := range map[string]func(l *lab){
		"a .git file leads to it": func(l *lab) {
			l.container(".bare")
			l.write(".git", "gitdir: ./.bare\n")
		},
		"a .git link leads to it": func(l *lab) {
			l.container("deep/.bare")
			if err := os.Symlink("deep/.bare", filepath.Join(l.top, ".git")); err != nil {
				l.t.Fatal(err)
			}
		},
		"it is the .git":      func(l *lab) { l.container(".git") },
		"nothing leads to it": func(l *lab) { l.container("app.git") },
		"its directory is closed": func(l *lab) {
			l.container("closed/.bare")
			if err := os.Chmod(filepath.Join(l.top, "closed"), 0o700); err != nil {
				l.t.Fatal(err)
			}
		},
		"settings name a place": func(l *lab) {
			l.container(".bare")
			l.write(".git", "gitdir: ./.bare\n")
			main := filepath.Join(l.top, "main")
			l.git(main, "config", "extensions.worktreeConfig", "true")
			l.git(main, "config", "--worktree", "core.bare", "false")
			l.git(main, "config", "--worktree", "core.worktree", main)
			l.git(filepath.Join(l.top, "deep/feature"), "config", "--worktree", "core.bare", "false")
		},
		"it has a work tree itself": func(l *lab) {
			l.git(l.top, "init", "-q", "-b", "main", "main")
			l.write("main/f", "mine\n")
			l.git(filepath.Join(l.top, "main"), "add", ".")
			l.git(filepath.Join(l.top, "main"), "commit", "-q", "-m", "first")
			l.git(filepath.Join(l.top, "main"), "worktree", "add", "-q", "-b", "feature", filepath.Join(l.top, "deep/feature"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			lay(l)
			src := l.around()
			made := l.fork(src, l.target("one"))
			if len(made.Left) != 0 || made.Branch != "" {
				t.Errorf("made %+v", made)
			}
			repo, err := usergit.At(l.top)
			if what != "it has a work tree itself" && (len(made.Notes) != 1 || !strings.Contains(made.Notes[0], "copy of the repository")) {
				t.Errorf("notes %q", made.Notes)
			}
			l.worksApart(made, "main", "deep/feature")
			if st, err := os.Stat(filepath.Join(made.Worktree, "closed")); err == nil && st.Mode().Perm() != 0o700 {
				t.Errorf("a closed directory is %v in the fork", st.Mode())
			} else if (err == nil) != (what == "its directory is closed") {
				t.Error(err)
			}
			if err == nil {
				if got := l.git(made.Worktree, "rev-parse", "--absolute-git-dir"); !inside(got, made.Worktree) || repo.CommonDir == got {
					t.Errorf("git around the worktrees is %s", got)
				}
			}
		})
	}
}

// TestForkOfThePastAroundARepository has the files of then and the Git of now, and says so.
func TestForkOfThePastAroundARepository(t *testing.T) {
	l := newLab(t)
	l.container(".bare")
	l.write(".git", "gitdir: ./.bare\n")
	src := l.around()
	src.Now = false
	main := filepath.Join(l.top, "main")
	l.git(main, "commit", "-q", "-am", "later")
	l.git(filepath.Join(l.top, ".bare"), "worktree", "add", "-q", "-b", "later", filepath.Join(l.top, "later"))
	l.write("main/f", "later\n")
	made := l.fork(src, l.target("past"))
	if got := l.git(filepath.Join(made.Worktree, "main"), "status", "--porcelain"); got != "?? new" {
		t.Errorf("status %q", got)
	}
	if len(made.Notes) != 2 || !strings.Contains(made.Notes[1], "of now") {
		t.Errorf("notes %q", made.Notes)
	}
	if got := l.git(filepath.Join(made.Worktree, "main"), "worktree", "list"); strings.Contains(got, l.top+"/") {
		t.Errorf("the fork's repository knows the source's worktrees:\n%s", got)
	}
}

// TestForkOfLinkedGitDirectories: Android's repo has git directories of links, of which
// the fork has what they lead to.
func TestForkOfLinkedGitDirectories(t *testing.T) {
	for what, absolute := range map[string]bool{"relative": false, "absolute": true} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.git(l.top, "init", "-q", "-b", "main", "tool/app")
			l.write("tool/app/f", "one\n")
			app := filepath.Join(l.top, "tool/app")
			l.git(app, "add", ".")
			l.git(app, "commit", "-q", "-m", "first")
			own, objects := filepath.Join(l.top, ".repo/projects/tool/app.git"), filepath.Join(l.top, ".repo/project-objects/app.git")
			for _, dir := range []string{filepath.Dir(own), objects} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			link := func(target, at string) {
				t.Helper()
				if !absolute {
					var err error
					if target, err = filepath.Rel(filepath.Dir(at), target); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink(target, at); err != nil {
					t.Fatal(err)
				}
			}
			move := func(from, to string) {
				t.Helper()
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			move(filepath.Join(app, ".git"), own)
			link(own, filepath.Join(app, ".git"))
			for _, name := range []string{"objects", "config", "hooks"} {
				move(filepath.Join(own, name), filepath.Join(objects, name))
				link(filepath.Join(objects, name), filepath.Join(own, name))
			}
			src := l.snapshot()
			src.Now = true
			made := l.fork(src, l.target("one"))
			if len(made.Left) != 0 {
				t.Errorf("left %+v", made.Left)
			}
			l.worksApart(made, "tool/app")
		})
	}
}

// TestForkAroundASubmodulesWorktree: the repository of a submodule has its place in that of
// the source, so that a worktree of it comes along as files.
func TestForkAroundASubmodulesWorktree(t *testing.T) {
	for what, nested := range map[string]string{"of the source": "", "of a nested repository": "nested"} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.write("f", "f\n")
			l.initGit()
			lib := filepath.Join(l.base, "lib")
			l.git(l.base, "clone", "-q", l.top, lib)
			top := filepath.Join(l.top, nested)
			if nested != "" {
				l.git(l.top, "init", "-q", nested)
			}
			l.git(top, "submodule", "--quiet", "add", lib, "sub")
			l.git(top, "commit", "-q", "-m", "submodule")
			l.git(filepath.Join(top, "sub"), "worktree", "add", "-q", "-b", "other", filepath.Join(l.top, "sub-wt"))
			src := l.snapshot()
			src.Now = true
			made := l.fork(src, l.target("one"))
			reasons := map[string]string{}
			for _, left := range made.Left {
				reasons[left.Path] = left.Reason
			}
			store := treepath.Join(nested, ".git/modules/sub")
			if len(reasons) != 2 || reasons["sub-wt/.git"] != reasonNotAlong || reasons[store] != reasonInsideGit {
				t.Errorf("left %v", reasons)
			}
			if _, err := os.Stat(filepath.Join(made.Worktree, "sub-wt/.git")); err == nil {
				t.Error("the worktree in the fork has a .git")
			}
			l.git(filepath.Join(made.Worktree, nested, "sub"), "status")
			if nested != "" {
				l.worksApart(made, treepath.Join(nested, "sub"))
			}
		})
	}
}

// TestForkOfThePastBlocksARepository: where a file or link was then, the repository of now
// does not come along.
func TestForkOfThePastBlocksARepository(t *testing.T) {
	for what, lay := range map[string]func(l *lab) error{
		"a file":     func(l *lab) error { l.write("place", "then\n"); return nil },
		"a link":     func(l *lab) error { return os.Symlink("main", filepath.Join(l.top, "place")) },
		"a link out": func(l *lab) error { return os.Symlink(l.base, filepath.Join(l.top, "place")) },
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			if err := lay(l); err != nil {
				t.Fatal(err)
			}
			l.write("main/f", "then\n")
			then := l.snapshot()
			if err := os.RemoveAll(filepath.Join(l.top, "place")); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(l.top, "main")); err != nil {
				t.Fatal(err)
			}
			l.container("place/deep/.bare")
			l.write(".git", "gitdir: ./place/deep/.bare\n")
			src := l.around()
			src.Tree, src.Known, src.Modes, src.Now = then.Tree, then.Known, then.Modes, false
			made := l.fork(src, l.target("past"))
			reasons := map[string]string{}
			for _, left := range made.Left {
				reasons[left.Path] = left.Reason
			}
			if reasons["place/deep/.bare"] != reasonInTheWay || reasons["main/.git"] != reasonNotAlong {
				t.Errorf("left %v", reasons)
			}
			if got, err := os.ReadFile(filepath.Join(made.Worktree, "main/f")); err != nil || string(got) != "then\n" {
				t.Errorf("the file of then: %q (%v)", got, err)
			}
		})
	}
}
