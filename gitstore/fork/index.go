package fork

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

const reasonNotStaged = "its staged content is gone"

// addObjects gives the user's repository the staged content that it lacks.
func (k *maker) addObjects(ctx context.Context) error {
	k.absent = map[string]bool{}
	blobs := map[string]gitstore.ID{}
	var ids []string
	for _, s := range k.src.Staged {
		if s.Mode == 0 || s.Mode == usergit.ModeGitlink || s.IntentToAdd {
			continue
		}
		id := s.ID.String()
		if _, seen := blobs[id]; !seen {
			ids = append(ids, id)
		}
		blobs[id] = s.Blob
	}
	if len(ids) == 0 {
		return nil
	}
	have, err := k.source.present(ctx, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		switch {
		case have[i]:
		case blobs[id].IsZero():
			k.absent[id] = true
		default:
			if err := addObject(ctx, k.source, k.src.Store, id, blobs[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addObject writes a blob of the shadow repository into the user's, where it has the id.
func addObject(ctx context.Context, git *userGit, store *shadow.Store, id string, blob gitstore.ID) error {
	content, _, err := store.BlobReader(blob)
	if err != nil {
		return err
	}
	defer content.Close()
	whole := &watched{Reader: content}
	if err := ctx.Err(); err != nil {
		return err
	}
	out, err := git.run(context.WithoutCancel(ctx), whole, "hash-object", "-w", "--no-filters", "--stdin")
	if err == nil {
		err = whole.err
	}
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(out)); got != id {
		return fmt.Errorf("staged content %s was recorded as %s", id, got)
	}
	return nil
}

// watched remembers the error of a reader that a child process is fed from.
type watched struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

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
		if k.lacks(group) {
			k.leave(k.staged(path), reasonNotStaged)
			continue
		}
		if group[0].IntentToAdd {
			if k.onDisk(path) {
				intended.WriteString(path + "\x00")
			} else {
				k.leave(k.staged(path), "intent to add: there is no file")
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
	return k.markStaged(ctx)
}

// staged is how a path below the top level is named in a report.
func (k *maker) staged(path string) string {
	if below, ok := strings.CutPrefix(path, k.doc.Scope+"/"); ok {
		return below
	}
	if k.doc.Scope == "" {
		return path
	}
	return k.doc.outside(path)
}

// zeros is the id of no object, as long as another.
func zeros(id string) string { return strings.Repeat("0", len(id)) }

func (k *maker) lacks(group []Staged) bool {
	return slices.ContainsFunc(group, func(s Staged) bool {
		return s.Mode != 0 && !s.IntentToAdd && k.absent[s.ID.String()]
	})
}

func (k *maker) onDisk(path string) bool {
	root, err := beneath.Open(k.doc.Directory)
	if err != nil {
		return false
	}
	defer root.Close()
	st, err := root.Lstat(path)
	return err == nil && st.Kind() != beneath.Directory
}

// byPath gives the entries of each path, in the order of paths.
func byPath(staged []Staged) func(func(string, []Staged) bool) {
	sorted := slices.Clone(staged)
	slices.SortStableFunc(sorted, func(a, b Staged) int { return strings.Compare(a.Path, b.Path) })
	return func(yield func(string, []Staged) bool) {
		for len(sorted) > 0 {
			n := 1
			for n < len(sorted) && sorted[n].Path == sorted[0].Path {
				n++
			}
			if !yield(sorted[0].Path, sorted[:n]) {
				return
			}
			sorted = sorted[n:]
		}
	}
}

// markStaged sets the flags that the staged entries had.
func (k *maker) markStaged(ctx context.Context) error {
	var skip, assume []string
	for _, s := range k.src.Staged {
		if s.Mode == 0 || s.Stage > 0 || s.IntentToAdd || k.absent[s.ID.String()] || beneath.CheckPath(s.Path) != nil {
			continue
		}
		if s.SkipWorktree {
			skip = append(skip, s.Path)
		}
		if s.AssumeValid {
			assume = append(assume, s.Path)
		}
	}
	return k.mark(ctx, skip, assume)
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
	return k.mark(ctx, skip, assume)
}

func (k *maker) mark(ctx context.Context, skip, assume []string) error {
	for _, m := range []struct {
		flag  string
		paths []string
	}{{"--skip-worktree", skip}, {"--assume-unchanged", assume}} {
		if len(m.paths) == 0 {
			continue
		}
		in := strings.NewReader(strings.Join(m.paths, "\x00") + "\x00")
		if _, err := k.git.run(ctx, in, "update-index", m.flag, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}
