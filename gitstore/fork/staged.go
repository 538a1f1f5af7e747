package fork

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

const reasonNotStaged = "its staged content is gone"

// staging is the staged state of a moment: how the index differed from HEAD's tree.
type staging struct {
	entries []Staged
	absent  map[string]bool // ids of content that neither repository has
}

// addObjects gives the user's repository the staged content that it lacks.
func (s *staging) addObjects(ctx context.Context, git *userGit, store *shadow.Store) error {
	s.absent = map[string]bool{}
	blobs := map[string]gitstore.ID{}
	var ids []string
	for _, e := range s.entries {
		if e.Mode == 0 || e.Mode == usergit.ModeGitlink || e.IntentToAdd {
			continue
		}
		id := e.ID.String()
		if _, seen := blobs[id]; !seen {
			ids = append(ids, id)
		}
		blobs[id] = e.Blob
	}
	if len(ids) == 0 {
		return nil
	}
	have, err := git.present(ctx, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		switch {
		case have[i]:
		case blobs[id].IsZero():
			s.absent[id] = true
		default:
			if err := addObject(ctx, git, store, id, blobs[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// lacks reports whether the content of an entry is gone.
func (s *staging) lacks(group []Staged) bool {
	return slices.ContainsFunc(group, func(e Staged) bool {
		return e.Mode != 0 && !e.IntentToAdd && s.absent[e.ID.String()]
	})
}

// flags are the paths whose entries had a flag.
func (s *staging) flags() (skip, assume []string) {
	for _, e := range s.entries {
		if e.Mode == 0 || e.Stage > 0 || e.IntentToAdd || s.absent[e.ID.String()] || beneath.CheckPath(e.Path) != nil {
			continue
		}
		if e.SkipWorktree {
			skip = append(skip, e.Path)
		}
		if e.AssumeValid {
			assume = append(assume, e.Path)
		}
	}
	return skip, assume
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

// ReturnStaged gives the user's repository the staged content that the index of a fork
// names and that it lacks: while a workspace was in the trash no index named that, and
// `git gc` removed it. The snapshot that was taken before the removal has it. It is for
// repositories whose objects are named by SHA-1, as the store's are.
func ReturnStaged(ctx context.Context, doc Document, store *shadow.Store) error {
	if doc.CommonDir == "" {
		return nil
	}
	repo, err := usergit.At(doc.Directory)
	if err != nil || repo.Unread != nil || repo.Format != usergit.SHA1 {
		return nil // a problem of its own
	}
	index, err := repo.Index()
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range index.Entries {
		if e.Mode != usergit.ModeGitlink && e.Mode != usergit.ModeDir && !e.Flags.IntentToAdd {
			names = append(names, e.ID.String())
		}
	}
	if len(names) == 0 {
		return nil
	}
	git := &userGit{operation: doc.Operation, gitDir: doc.CommonDir}
	have, err := git.present(ctx, names)
	if err != nil {
		return err
	}
	for i, name := range names {
		if have[i] {
			continue
		}
		id, err := gitstore.ParseID(name)
		if err != nil {
			return err
		}
		if has, err := store.Has(id); err != nil || !has {
			continue // Git names it where it matters
		}
		if err := addObject(ctx, git, store, name, id); err != nil {
			return err
		}
	}
	return nil
}
