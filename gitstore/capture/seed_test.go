package capture

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// some writes a few files of every kind.
func (l *seedLab) some() {
	l.t.Helper()
	l.write("a.txt", "text of a\n")
	l.write("b/c.txt", "text of c\n")
	l.write("b/d/e.sh", "#!/bin/sh\n")
	l.must(os.Chmod(l.path("b/d/e.sh"), 0o755))
	l.write("empty", "")
	l.write("same", "text of a\n")
	l.must(os.Symlink("a.txt", l.path("link")))
}

// TestSeedCleanCheckout reads no content that Git knows (P5), whether loose,
// packed or both, in the repository itself or in a linked worktree.
func TestSeedCleanCheckout(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(l *seedLab){
		"loose":      func(*seedLab) {},
		"packed":     func(l *seedLab) { l.git(l.root, "gc", "-q") },
		"packed ref": func(l *seedLab) { l.git(l.root, "repack", "-adq") },
		"v4":         func(l *seedLab) { l.git(l.root, "update-index", "--index-version=4"); l.settle() },
		"worktree": func(l *seedLab) {
			root := filepath.Join(l.t.TempDir(), "tree")
			l.git(l.root, "worktree", "add", "-q", root)
			l.root, l.sources.Root = root, root
			l.settle()
		},
		"clone": func(l *seedLab) {
			root := filepath.Join(l.t.TempDir(), "clone")
			l.git(l.root, "clone", "-q", "--shared", ".", root)
			l.root, l.sources.Root = root, root
			l.settle()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSeedLab(t)
			l.some()
			l.commit()
			prepare(l)
			if r := l.wantOpened(); r.Stats.Seeded != 6 || r.Stats.ReadFiles != 0 || r.Unseeded != nil {
				t.Errorf("%+v %v", r.Stats, r.Unseeded)
			}
		})
	}
}

// TestSeedReadsWhatGitDoesNotKnow has an edit of each kind that an index hides
// (H4), and each is in the snapshot.
func TestSeedReadsWhatGitDoesNotKnow(t *testing.T) {
	hazards.Held(t, hazards.H4, "of the user's index, what is flagged, racy, or from another machine is read, not believed")
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(l *seedLab)
		read []string
	}{
		"edited": {func(l *seedLab) { l.write("a.txt", "another text\n") }, []string{"a.txt"}},
		"new":    {func(l *seedLab) { l.write("b/new", "new") }, []string{"b/new"}},
		"staged": {func(l *seedLab) { l.write("a.txt", "staged\n"); l.git(l.root, "add", "."); l.settle() }, nil},
		"staged, then edited": {func(l *seedLab) {
			l.write("a.txt", "staged\n")
			l.git(l.root, "add", ".")
			l.write("a.txt", "edited\n")
			l.settle()
		}, []string{"a.txt"}},
		"same size, mtime put back": {func(l *seedLab) { l.rewrite("a.txt", "edit of a\n") }, []string{"a.txt"}},
		"racy": {func(l *seedLab) {
			l.rewrite("a.txt", "edit of a\n")
			l.stampIndex("a.txt")
			info, err := os.Stat(l.path("a.txt"))
			l.must(err)
			l.must(os.Chtimes(l.index(), info.ModTime(), info.ModTime()))
		}, []string{"a.txt", "b/c.txt", "b/d/e.sh", "empty", "same"}},
		"racy by ctime": {func(l *seedLab) {
			old := time.Now().Add(-time.Hour)
			l.must(os.Chtimes(l.path("a.txt"), old, old))
			// The others were written in this second or the one before.
			for _, name := range []string{"b/c.txt", "b/d/e.sh", "empty", "same"} {
				l.must(os.Remove(l.path(name)))
			}
			l.rewrite("a.txt", "edit of a\n")
			l.stampIndex("a.txt")
			var st unix.Stat_t
			l.must(unix.Lstat(l.path("a.txt"), &st))
			changed := time.Unix(st.Ctim.Unix())
			l.must(os.Chtimes(l.index(), changed, changed))
		}, []string{"a.txt"}},
		"assume-unchanged": {func(l *seedLab) {
			l.git(l.root, "update-index", "--assume-unchanged", "a.txt")
			l.rewrite("a.txt", "edit of a\n")
			l.stampIndex("a.txt")
			l.settle()
		}, []string{"a.txt"}},
		"skip-worktree": {func(l *seedLab) {
			l.git(l.root, "update-index", "--skip-worktree", "b/c.txt")
			l.settle()
		}, []string{"b/c.txt"}},
		"core.ignoreStat": {func(l *seedLab) {
			l.git(l.root, "config", "core.ignoreStat", "true")
			l.write("f", "1")
			l.git(l.root, "add", "f")
			l.rewrite("f", "2")
			l.settle()
		}, []string{"f"}},
		"intent to add": {func(l *seedLab) {
			l.write("later", "")
			l.git(l.root, "add", "-N", "later")
			l.settle()
		}, []string{"later"}},
		"conflict": {func(l *seedLab) {
			l.git(l.root, "checkout", "-q", "-b", "other")
			l.write("a.txt", "theirs\n")
			l.git(l.root, "commit", "-qam", "theirs")
			l.git(l.root, "checkout", "-q", "-")
			l.write("a.txt", "ours\n")
			l.git(l.root, "commit", "-qam", "ours")
			l.gitFails("merge", "other")
			l.settle()
		}, []string{"a.txt"}},
		"chmod":           {func(l *seedLab) { l.must(os.Chmod(l.path("a.txt"), 0o755)) }, []string{"a.txt"}},
		"replaced":        {func(l *seedLab) { l.write("x", "text of a\n"); l.must(os.Rename(l.path("x"), l.path("a.txt"))) }, []string{"a.txt"}},
		"file for a link": {func(l *seedLab) { l.must(os.Remove(l.path("link"))); l.write("link", "a.txt") }, []string{"link"}},
		"another machine's": {func(l *seedLab) {
			root := filepath.Join(l.t.TempDir(), "copy")
			l.must(os.CopyFS(root, os.DirFS(l.root)))
			l.root, l.sources.Root = root, root
			l.settle()
		}, []string{"a.txt", "b/c.txt", "b/d/e.sh", "empty", "same"}},
		"split index": {func(l *seedLab) {
			l.git(l.root, "update-index", "--split-index")
			l.settle()
		}, []string{"a.txt", "b/c.txt", "b/d/e.sh", "empty", "same"}},
		"objects gone": {func(l *seedLab) {
			out := strings.TrimSpace(string(l.git(l.root, "rev-parse", "HEAD:b/c.txt")))
			l.must(os.Remove(l.path(".git/objects/" + out[:2] + "/" + out[2:])))
		}, []string{"b/c.txt"}},
		"file mode off": {func(l *seedLab) {
			l.git(l.root, "config", "core.fileMode", "false")
			l.must(os.Chmod(l.path("a.txt"), 0o755))
			l.git(l.root, "rm", "-q", "--cached", "a.txt")
			l.git(l.root, "add", "a.txt")
			l.settle()
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSeedLab(t)
			l.some()
			l.commit()
			c.edit(l)
			l.wantOpened(c.read...)
		})
	}
}

// TestSeedReadsWhatIsDirty reads what somebody saw being written to, whatever
// stat data say.
func TestSeedReadsWhatIsDirty(t *testing.T) {
	t.Parallel()
	l := newSeedLab(t)
	l.some()
	l.commit()
	l.dirty = []string{"a.txt", "b/d", "nowhere/x"}
	l.wantOpened("a.txt", "b/d/e.sh")
}

// gitFails runs a git that is to fail.
func (l *seedLab) gitFails(args ...string) {
	l.t.Helper()
	_, err := git.Run(context.Background(), git.Command{Dir: l.root, Args: args})
	if err == nil {
		l.t.Fatalf("git %q did not fail", args)
	}
}

// TestSeedConversions keeps the bytes on disk where Git keeps others (H21).
func TestSeedConversions(t *testing.T) {
	t.Parallel()
	rot13 := func(l *seedLab) {
		l.git(l.root, "config", "filter.rot13.clean", "tr a-z n-za-m")
		l.git(l.root, "config", "filter.rot13.smudge", "tr a-z n-za-m")
	}
	crlf := func(l *seedLab) { l.write("a.txt", "one\r\ntwo\r\n") }
	for name, c := range map[string]struct {
		before func(l *seedLab)
		after  func(l *seedLab)
		read   []string
	}{
		"filter": {before: func(l *seedLab) { rot13(l); l.write(".gitattributes", "*.txt filter=rot13\n") }, read: []string{"a.txt", "b/c.txt"}},
		"filter by macro": {before: func(l *seedLab) {
			rot13(l)
			l.write(".gitattributes", "# macros\n[attr]turn filter=rot13 -diff\n[attr]more turn\n\n\"b/c.txt\" more\n")
		}, read: []string{"b/c.txt"}},
		"filter in a directory": {before: func(l *seedLab) { rot13(l); l.write("b/.gitattributes", "c.* filter=rot13\n") }, read: []string{"b/c.txt"}},
		"info/attributes": {before: func(l *seedLab) {
			rot13(l)
			l.write(".git/info/attributes", "A.TXT filter=rot13\na.txt filter=rot13\n")
		}, read: []string{"a.txt"}},
		"user's attributes": {before: func(l *seedLab) {
			rot13(l)
			file := filepath.Join(l.home, "attributes")
			l.must(os.WriteFile(file, []byte("/b/** filter=rot13\n"), 0o600))
			l.git(l.root, "config", "core.attributesFile", file)
			l.attrs = []string{file}
		}, read: []string{"b/c.txt", "b/d/e.sh"}},
		"taken back on disk": {
			before: func(l *seedLab) { rot13(l); l.write(".gitattributes", "*.txt filter=rot13\n") },
			after:  func(l *seedLab) { l.write(".gitattributes", "") },
			read:   []string{".gitattributes", "a.txt", "b/c.txt"},
		},
		"removed on disk": {
			before: func(l *seedLab) { rot13(l); l.write(".gitattributes", "*.txt filter=rot13\n") },
			after:  func(l *seedLab) { l.must(os.Remove(l.path(".gitattributes"))) },
			read:   []string{"a.txt", "b/c.txt"},
		},
		"ignored attributes": {before: func(l *seedLab) {
			rot13(l)
			l.write(".git/info/exclude", ".gitattributes\n")
			l.write(".gitattributes", "*.txt filter=rot13\n")
		}, read: []string{"a.txt", "b/c.txt"}},
		"ident": {
			before: func(l *seedLab) { l.write(".gitattributes", "*.txt ident\n"); l.write("a.txt", "$Id$\n") },
			after: func(l *seedLab) {
				l.must(os.Remove(l.path("a.txt")))
				l.git(l.root, "checkout", "-q", "a.txt")
				l.settle()
			},
			read: []string{"a.txt", "b/c.txt"},
		},
		"working-tree-encoding": {before: func(l *seedLab) {
			l.write(".gitattributes", "a.txt working-tree-encoding=UTF-16LE\n")
			l.write("a.txt", "x\x00\n\x00")
		}, read: []string{"a.txt"}},
		"eol=crlf":               {before: func(l *seedLab) { l.write(".gitattributes", "*.txt text eol=crlf\n"); crlf(l) }, read: []string{"a.txt"}},
		"text=auto and autocrlf": {before: func(l *seedLab) { l.git(l.root, "config", "core.autocrlf", "true"); crlf(l) }, read: []string{"a.txt"}},
		"autocrlf turned off since": {
			before: func(l *seedLab) { l.git(l.root, "config", "core.autocrlf", "true"); crlf(l) },
			after:  func(l *seedLab) { l.git(l.root, "config", "core.autocrlf", "false") },
			read:   []string{"a.txt"},
		},
		"text that is as it was": {before: func(l *seedLab) { l.write(".gitattributes", "* text=auto\n") }},
		"nothing of that kind":   {before: func(l *seedLab) { l.write(".gitattributes", "*.txt -filter !ident diff=x\n!a.txt filter=rot13\n") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSeedLab(t)
			l.some()
			c.before(l)
			l.commit()
			if c.after != nil {
				c.after(l)
			}
			opened, r := l.first()
			if !slices.Equal(opened, c.read) {
				t.Errorf("read %q, want %q (%v)", opened, c.read, r.Unseeded)
			}
		})
	}
}

// TestSeedRepositories takes what it can from repositories of every kind.
func TestSeedRepositories(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(l *seedLab) (read []string, useless bool){
		"subdirectory": func(l *seedLab) ([]string, bool) {
			l.write(".gitattributes", "b/d/* ident\n")
			l.commit()
			root := l.path("b")
			l.root, l.sources.Root = root, root
			return []string{"d/e.sh"}, false
		},
		"sparse": func(l *seedLab) ([]string, bool) {
			l.git(l.root, "sparse-checkout", "set", "--cone", "--sparse-index", "b/d")
			l.must(os.MkdirAll(l.path("c"), 0o755))
			l.write("c/f", "put there by hand\n")
			l.settle()
			return []string{"c/f"}, false
		},
		"submodule": func(l *seedLab) ([]string, bool) {
			other := filepath.Join(l.t.TempDir(), "other")
			l.git(l.root, "clone", "-q", ".", other)
			l.git(l.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub")
			l.commit()
			return []string{"sub/.gitmodules", "sub/a.txt", "sub/b/c.txt", "sub/b/d/e.sh", "sub/c/f", "sub/empty", "sub/same"}[1:], false
		},
		"shallow": func(l *seedLab) ([]string, bool) {
			root := filepath.Join(l.t.TempDir(), "clone")
			l.git(l.root, "clone", "-q", "--depth=1", "file://"+l.root, root)
			l.root, l.sources.Root = root, root
			l.settle()
			return nil, false
		},
		"partial": func(l *seedLab) ([]string, bool) {
			l.git(l.root, "config", "uploadpack.allowFilter", "true")
			root := filepath.Join(l.t.TempDir(), "clone")
			l.git(l.root, "clone", "-q", "--filter=blob:none", "file://"+l.root, root)
			l.root, l.sources.Root = root, root
			l.settle()
			return nil, false
		},
		"sha256": func(l *seedLab) ([]string, bool) {
			l.must(os.RemoveAll(l.path(".git")))
			l.git(l.root, "init", "-q", "--object-format=sha256", ".")
			l.commit()
			return []string{"a.txt", "b/c.txt", "b/d/e.sh", "c/f", "empty", "same"}, true
		},
		"unborn": func(l *seedLab) ([]string, bool) {
			l.must(os.RemoveAll(l.path(".git")))
			l.git(l.root, "init", "-q", ".")
			return []string{"a.txt", "b/c.txt", "b/d/e.sh", "c/f", "empty", "same"}, false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSeedLab(t)
			l.some()
			l.write("c/f", "text of f\n")
			l.commit()
			read, useless := prepare(l)
			if r := l.wantOpened(read...); (r.Unseeded != nil) != useless {
				t.Errorf("%v", r.Unseeded)
			}
		})
	}
}

// TestSeedOutlivesTheUsersRepository restores everything by git alone after the
// user's repository is pruned, then gone (H20).
func TestSeedOutlivesTheUsersRepository(t *testing.T) {
	t.Parallel()
	l := newSeedLab(t)
	want := map[string]string{}
	for i := range 60 {
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		want[name] = strings.Repeat(fmt.Sprintf("line of %d\n", i), i)
		l.write(name, want[name])
	}
	l.git(l.root, "add", "-A")
	l.git(l.root, "commit", "-q", "-m", "c")
	l.git(l.root, "repack", "-adq")
	l.write("loose", "loose")
	want["loose"] = "loose"
	l.commit()
	r := l.wantOpened()
	l.git(l.root, "checkout", "-q", "--orphan", "other")
	l.git(l.root, "rm", "-rfq", ".")
	l.git(l.root, "commit", "-q", "--allow-empty", "-m", "empty")
	l.git(l.root, "branch", "-D", "master")
	l.git(l.root, "reflog", "expire", "--expire=now", "--all")
	l.git(l.root, "gc", "-q", "--prune=now")
	for range 2 {
		got := map[string]string{}
		l.must(l.store.WalkTree(r.Tree, func(path string, e gitstore.TreeEntry) error {
			if e.Mode.IsDir() {
				return nil
			}
			data, err := l.store.Blob(e.ID)
			got[path] = string(data)
			return err
		}))
		if !maps.Equal(got, want) {
			t.Errorf("%d files of %d", len(got), len(want))
		}
		l.must(os.RemoveAll(l.path(".git")))
	}
	if out, err := l.store.Git(context.Background(), "fsck", "--full", "--no-dangling"); err != nil {
		t.Errorf("fsck: %v %s", err, out)
	}
}
