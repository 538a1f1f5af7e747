package fork

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

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
