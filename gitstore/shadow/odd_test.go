package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestOddFilesPassFsck: a workspace may hold what fsck dislikes in a repository.
func TestOddFilesPassFsck(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	for i, files := range []map[string]storetest.File{
		{".gitmodules": {Mode: gitstore.ModeFile, Data: "[submodule \"../x\"]\n\tpath = -x\n\turl = -y\n\tupdate = !sh\n"}},
		{".gitmodules": {Mode: gitstore.ModeFile, Data: "[submodule \"unclosed\n"}},
		{".gitmodules": {Mode: gitstore.ModeSymlink, Data: "elsewhere"}, ".gitattributes": {Mode: gitstore.ModeSymlink, Data: "x"}, ".gitignore": {Mode: gitstore.ModeSymlink, Data: "x"}, ".mailmap": {Mode: gitstore.ModeSymlink, Data: "x"}},
		{".gitattributes": {Mode: gitstore.ModeFile, Data: strings.Repeat("x", 5000) + " text\n"}},
		{".gitmodules/sub": {Mode: gitstore.ModeFile, Data: "a directory"}, ".gitattributes/sub": {Mode: gitstore.ModeFile, Data: "a directory"}},
	} {
		b := s.NewBatch()
		tree := storetest.WriteTree(t, b, files)
		id := storetest.Must[gitstore.ID](t)(s.WriteSnapshot(b, &gitstore.Snapshot{Tree: tree, Author: storetest.Signature(i), At: storetest.Signature(i).When, Trailers: gitstore.Trailers{Mission: storetest.Mission}}))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		storetest.NoErr(t, s.UpdateRef(ctx, gitstore.PinRef(fmt.Sprint("p", i)), gitstore.ID{}, id, gitstore.Durable))
	}
	storetest.Fsck(t, s)
}

func TestTreeRefusesBadNames(t *testing.T) {
	t.Parallel()
	b := storetest.New(t).NewBatch()
	defer b.Discard()
	for _, name := range []string{"", ".", "..", "a/b", ".git", ".GIT", "git~1", ".g\u200cit", "a\x00"} {
		if _, err := b.Tree([]gitstore.TreeEntry{{Name: name, Mode: gitstore.ModeFile, ID: storetest.ID(1)}}); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	for _, entries := range [][]gitstore.TreeEntry{
		{{Name: "a", Mode: gitstore.ModeFile, ID: storetest.ID(1)}, {Name: "a", Mode: gitstore.ModeFile, ID: storetest.ID(2)}},
		{{Name: "a", Mode: gitstore.ModeFile, ID: storetest.ID(1)}, {Name: "a", Mode: gitstore.ModeDir, ID: storetest.ID(2)}},
		{{Name: "a", Mode: gitstore.ModeFile, ID: storetest.ID(1)}, {Name: "a.b", Mode: gitstore.ModeFile, ID: storetest.ID(1)}, {Name: "a", Mode: gitstore.ModeDir, ID: storetest.ID(2)}},
		{{Name: "a", Mode: 0o100600, ID: storetest.ID(1)}},
		{{Name: "a", Mode: gitstore.ModeFile}},
	} {
		if _, err := b.Tree(entries); err == nil {
			t.Errorf("%v was taken", entries)
		}
	}
}

// TestGitIsHermetic: H18.
func TestGitIsHermetic(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	hook := filepath.Join(dir, "hooks", "post-commit")
	ran := filepath.Join(dir, "ran")
	storetest.NoErr(t, os.MkdirAll(filepath.Join(dir, "template", "hooks"), 0o700))
	storetest.NoErr(t, os.MkdirAll(filepath.Dir(hook), 0o700))
	script := []byte("#!/bin/sh\ntouch " + ran + "\n")
	storetest.NoErr(t, os.WriteFile(hook, script, 0o700))
	storetest.NoErr(t, os.WriteFile(filepath.Join(dir, "template", "hooks", "post-commit"), script, 0o700))
	storetest.NoErr(t, os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte("[core]\n\thooksPath = "+filepath.Dir(hook)+
		"\n[init]\n\ttemplateDir = "+filepath.Join(dir, "template")+"\n[commit]\n\tgpgSign = true\n[user]\n\tname = Evil\n"), 0o600))
	t.Setenv("HOME", dir)
	t.Setenv("GIT_DIR", filepath.Join(dir, "nowhere"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, "noindex"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
	t.Setenv("GIT_CONFIG_VALUE_0", filepath.Dir(hook))
	t.Setenv("GIT_CONFIG_PARAMETERS", "'user.name=Evil'")
	repo := filepath.Join(dir, "repo")
	storetest.NoErr(t, os.Mkdir(repo, 0o700))
	for _, args := range [][]string{{"init", "-q", "."}, {"commit", "-q", "--allow-empty", "-m", "x"}} {
		_, err := git.Run(ctx, git.Command{Dir: repo, Args: args})
		storetest.NoErr(t, err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a hook ran")
	}
	if got := string(storetest.Must[[]byte](t)(git.Run(ctx, git.Command{Dir: repo, Args: []string{"log", "--format=%an"}}))); got != "Umbra\n" {
		t.Errorf("author %q", got)
	}
	_, err := git.Run(ctx, git.Command{Dir: repo, Args: []string{"rev-parse", "--verify", "nothing"}})
	var failed *git.Error
	if !errors.As(err, &failed) || failed.ExitCode != 128 || !strings.Contains(failed.Stderr, "Needed a single revision") {
		t.Errorf("got %v", err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	from, ctx := storetest.New(t), context.Background()
	b := from.NewBatch()
	big := strings.Repeat("0123456789", 200_000)
	tree := storetest.WriteTree(t, b, map[string]storetest.File{"a/b": {Mode: gitstore.ModeExec, Data: "b"}, "big": {Mode: gitstore.ModeFile, Data: big}, "l": {Mode: gitstore.ModeSymlink, Data: "x"}})
	storetest.NoErr(t, b.Flush(ctx))
	b.Discard()
	to := storetest.New(t)
	c := to.NewBatch()
	defer c.Discard()
	storetest.NoErr(t, from.WalkTree(tree, func(_ string, e gitstore.TreeEntry) error { return c.Import(from.Reader, e.ID) }))
	storetest.NoErr(t, c.Import(from.Reader, tree))
	storetest.NoErr(t, c.Flush(ctx))
	storetest.NoErr(t, c.ProveTree(tree, gitstore.ID{}))
	e := storetest.Must[gitstore.TreeEntry](t)(to.Lookup(tree, "big"))
	if got := storetest.Must[[]byte](t)(to.Blob(e.ID)); string(got) != big {
		t.Error("content differs")
	}
	if err := c.Import(from.Reader, storetest.ID(1)); !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("a missing object: %v", err)
	}
}
