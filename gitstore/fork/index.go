package fork

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// fillIndex reads HEAD's tree into the index of the worktree.
func (k *maker) fillIndex(ctx context.Context) error {
	if _, err := k.git.run(ctx, nil, "read-tree", k.doc.Head); err != nil {
		return err
	}
	return k.copyFlags(ctx)
}

// finishGit brings the index of the worktree from HEAD's tree to the staged
// state of the moment, and tells it which files are as it says.
func (k *maker) finishGit(ctx context.Context, done *written) error {
	if err := k.fillRest(ctx); err != nil {
		return err
	}
	if err := k.stage(ctx); err != nil {
		return err
	}
	if err := k.findLost(ctx); err != nil {
		return err
	}
	index := filepath.Join(k.git.admin, "index")
	if whole, err := stampIndex(index, done); err != nil || whole {
		return err
	}
	_, err := k.git.run(ctx, nil, "update-index", "--refresh") // with -q it would not say why it fails
	if exitedWith(err, 1) {                                    // some file is not as the index says
		return nil
	}
	return err
}

// stage applies the staged state.
func (k *maker) stage(ctx context.Context) error {
	var info, intended bytes.Buffer
	for path, group := range byPath(k.src.Staged) {
		if err := beneath.CheckPath(path); err != nil {
			k.leave(path, reasonReserved)
			continue
		}
		if k.staging.lacks(group) {
			k.leave(k.doc.reported(path), reasonNotStaged)
			continue
		}
		if group[0].IntentToAdd {
			if onDisk(k.doc.Directory, path) {
				intended.WriteString(path + "\x00")
			} else {
				k.leave(k.doc.reported(path), "intent to add: there is no file")
			}
			fmt.Fprintf(&info, "0 %s\t%s\x00", zeros(k.doc.Head), path)
			continue
		}
		if group[0].Mode == 0 || group[0].Stage > 0 {
			fmt.Fprintf(&info, "0 %s\t%s\x00", zeros(k.doc.Head), path)
		}
		for _, s := range group {
			if s.Mode != 0 {
				fmt.Fprintf(&info, "%s %s %d\t%s\x00", s.Mode, s.ID, s.Stage, path)
			}
		}
	}
	if info.Len() > 0 {
		if _, err := k.git.run(ctx, &info, "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if intended.Len() > 0 {
		_, err := k.git.run(ctx, &intended, "--literal-pathspecs", "add", "--intent-to-add", "--force",
			"--pathspec-from-file=-", "--pathspec-file-nul")
		if err != nil {
			return err
		}
	}
	skip, assume := k.staging.flags()
	return k.git.mark(ctx, skip, assume)
}

// zeros is the id of no object, as long as another.
func zeros(id string) string { return strings.Repeat("0", len(id)) }

// onDisk reports whether a file is at a path below a directory.
func onDisk(dir, path string) bool {
	root, err := beneath.Open(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	st, err := root.Lstat(path)
	return err == nil && st.Kind() != beneath.Directory
}

// copyFlags gives entries of HEAD the flags that they have in the source's
// index, where those of paths that a sparse checkout leaves out are among them.
func (k *maker) copyFlags(ctx context.Context) error {
	source, err := k.src.Repo.Index()
	if err != nil {
		k.note("The source's index could not be read: flags of its entries did not come along.")
		return nil
	}
	var skip, assume []string
	var dirs []string // that stand for all below them
	for _, e := range source.Entries {
		switch {
		case e.Mode == usergit.ModeDir:
			dirs = append(dirs, e.Path)
		case e.Stage == 0 && e.Flags.SkipWorktree:
			skip = append(skip, e.Path)
		case e.Stage == 0 && e.Flags.AssumeValid:
			assume = append(assume, e.Path)
		}
	}
	if len(skip)+len(assume)+len(dirs) == 0 {
		return nil
	}
	index, err := usergit.ReadIndex(filepath.Join(k.git.admin, "index"), k.src.Repo.Format)
	if err != nil {
		return err
	}
	gone := func(path string) bool { return !index.Tracks(path) }
	skip, assume = slices.DeleteFunc(skip, gone), slices.DeleteFunc(assume, gone)
	for _, e := range index.Entries {
		if slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(e.Path, dir) }) {
			skip = append(skip, e.Path)
		}
	}
	return k.git.mark(ctx, skip, assume)
}

// mark sets flags of entries in the index of the worktree.
func (g *userGit) mark(ctx context.Context, skip, assume []string) error {
	for _, m := range []struct {
		flag  string
		paths []string
	}{{"--skip-worktree", skip}, {"--assume-unchanged", assume}} {
		if len(m.paths) == 0 {
			continue
		}
		in := strings.NewReader(strings.Join(m.paths, "\x00") + "\x00")
		if _, err := g.run(ctx, in, "update-index", m.flag, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}
