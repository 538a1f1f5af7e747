package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// oracle says with git alone which tree a snapshot must have.
type oracle struct {
	world  *world
	gitDir string
	more   string // of git's environment
}

func newOracle(ctx context.Context, w *world, gitDir string) (*oracle, error) {
	_, err := lab.NewNative(ctx, gitDir, w.root)
	return &oracle{world: w, gitDir: gitDir}, err
}

// git runs one git command, with an index of that name.
func (o *oracle) git(ctx context.Context, index string, stdin []byte, args ...string) (string, error) {
	c := lab.Command{Args: append([]string{"git", "--git-dir=" + o.gitDir}, args...), Dir: o.world.root, Stdin: stdin}
	c.Env = append(lab.GitEnv(o.gitDir), "GIT_INDEX_FILE="+filepath.Join(o.gitDir, index), o.more)
	_, out, err := c.Run(ctx)
	return strings.TrimSpace(string(out)), err
}

// expected is the tree of what was written: the changes since it was asked last
// go into git's index, which then writes the tree.
func (o *oracle) expected(ctx context.Context) (string, error) {
	var gone, there bytes.Buffer
	for _, name := range o.world.changes() {
		if e, ok := o.world.files[name]; ok {
			fmt.Fprintf(&there, "%s %s\t%s\x00", e.mode, e.id, name)
		} else {
			fmt.Fprintf(&gone, "0 %040d\t%s\x00", 0, name)
		}
	}
	// What is gone makes room first: a file may have become a directory.
	if _, err := o.git(ctx, "written", append(gone.Bytes(), there.Bytes()...), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return o.git(ctx, "written", nil, "write-tree", "--missing-ok")
}

// unreadable reports whether nobody may read an entry. A directory's error is
// fs.SkipDir then.
func unreadable(entry fs.DirEntry) (bool, error) {
	info, err := entry.Info()
	if err != nil || entry.Type()&fs.ModeSymlink != 0 || info.Mode().Perm() != 0 {
		return false, err
	}
	if entry.IsDir() {
		return true, fs.SkipDir
	}
	return true, nil
}

// rehashed is the tree of what is on disk and may be read, every byte read anew by
// git, without filters.
func (o *oracle) rehashed(ctx context.Context) (string, error) {
	var names, index bytes.Buffer
	var modes, paths []string
	err := filepath.WalkDir(o.world.root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if closed, err := unreadable(entry); closed || err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(o.world.root, file)
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			id, err := o.git(ctx, "disk", []byte(target), "hash-object", "--stdin")
			fmt.Fprintf(&index, "%s %s\t%s\x00", modeLink, id, name)
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := modeFile
		if info.Mode()&0o100 != 0 {
			mode = modeExec
		}
		fmt.Fprintln(&names, name)
		modes, paths = append(modes, mode), append(paths, name)
		return nil
	})
	if err != nil {
		return "", err
	}
	out, err := o.git(ctx, "disk", names.Bytes(), "hash-object", "--no-filters", "--stdin-paths")
	if err != nil {
		return "", err
	}
	ids := strings.Fields(out)
	if len(ids) != len(paths) {
		return "", fmt.Errorf("git hashed %d files of %d", len(ids), len(paths))
	}
	for i, id := range ids {
		fmt.Fprintf(&index, "%s %s\t%s\x00", modes[i], id, paths[i])
	}
	if _, err := o.git(ctx, "disk", nil, "read-tree", "--empty"); err != nil {
		return "", err
	}
	if _, err := o.git(ctx, "disk", index.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return o.git(ctx, "disk", nil, "write-tree", "--missing-ok")
}
