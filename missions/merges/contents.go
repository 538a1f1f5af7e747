package merges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
)

// contents reads what the sides of a merge have, and has git merge single texts.
type contents struct {
	ctx   context.Context
	store *shadow.Store
}

// areText reports whether each side has a text at a path.
func (r contents) areText(c merge.Conflict) (bool, error) {
	if !isRegular(c.Ours) || !isRegular(c.Theirs) {
		return false, nil
	}
	for _, e := range []gitstore.TreeEntry{c.Base, c.Ours, c.Theirs} {
		if text, err := r.isText(e); err != nil || !text {
			return false, err
		}
	}
	return true, nil
}

// areTextOrNone reports whether each side has a text at a path, or nothing.
func (r contents) areTextOrNone(c merge.Conflict) (bool, error) {
	for _, e := range []gitstore.TreeEntry{c.Base, c.Ours, c.Theirs} {
		if text, err := r.isText(e); err != nil || !text {
			return false, err
		}
	}
	return true, nil
}

// mergeLines has git merge a text, with ours, theirs or both where lines conflict.
func (r contents) mergeLines(flag string, c merge.Conflict) (text []byte, err error) {
	texts, err := r.readAll(c)
	if err != nil {
		return nil, err
	}
	err = withFiles(texts, func(dir string) error {
		text, err = git.Run(r.ctx, git.Command{Dir: dir, Args: []string{"merge-file", "-p", flag, "ours", "base", "theirs"}})
		return err
	})
	return text, err
}

// readAll reads what each side of a conflict has.
func (r contents) readAll(c merge.Conflict) (t merge.Texts, err error) {
	for text, e := range map[*[]byte]gitstore.TreeEntry{&t.Ours: c.Ours, &t.Base: c.Base, &t.Theirs: c.Theirs} {
		if *text, err = r.read(e); err != nil {
			return t, err
		}
	}
	return t, nil
}

// withFiles gives texts as the files ours, base and theirs of a directory, which goes when fn
// returns.
func withFiles(t merge.Texts, fn func(dir string) error) error {
	dir, err := os.MkdirTemp("", "umbra-merge-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string][]byte{"ours": t.Ours, "base": t.Base, "theirs": t.Theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return fn(dir)
}

func (r contents) read(e gitstore.TreeEntry) ([]byte, error) {
	if e.ID.IsZero() {
		return nil, nil
	}
	content, _, err := r.store.BlobReader(e.ID)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}

// changesOf are what became of a tree, by path.
func (r contents) changesOf(from, to gitstore.ID) (map[string]gitstore.Change, error) {
	list := map[string]gitstore.Change{}
	return list, r.store.DiffTrees(from, to, func(c gitstore.Change) error {
		list[c.Path] = c
		return r.ctx.Err()
	})
}

// mostLooked is how much of a file is looked at for what no text has, as git does.
const mostLooked = 8000

// isText reports whether git would take a file for text. Nothing is text too.
func (r contents) isText(e gitstore.TreeEntry) (bool, error) {
	if e.ID.IsZero() || !isRegular(e) {
		return e.ID.IsZero(), nil
	}
	head, err := r.head(e)
	return !bytes.Contains(head, []byte{0}), err
}

// head is what is looked at of a file.
func (r contents) head(e gitstore.TreeEntry) ([]byte, error) {
	content, _, err := r.store.BlobReader(e.ID)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(io.LimitReader(content, mostLooked))
}

func (r contents) entryAt(tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	e, err := r.store.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}

// patch is what a side of a conflict has changed since its base. A side that is neither ours
// nor theirs has that content.
func (r contents) patch(c merge.Conflict, side, content, name string) (patch string, err error) {
	texts, err := r.readAll(c)
	if err != nil {
		return "", err
	}
	err = withFiles(texts, func(dir string) error {
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, side), []byte(content), 0o600); err != nil {
				return err
			}
		}
		out, err := git.Run(r.ctx, git.Command{Dir: dir, Args: []string{"diff", "--no-index", "--no-ext-diff", "--no-color", "base", side}})
		if failed, ok := errors.AsType[*git.Error](err); err != nil && (!ok || failed.ExitCode != 1) {
			return err
		}
		if _, lines, found := strings.Cut(string(out), "\n@@ "); found {
			path := missions.Path(c.Path)
			patch = fmt.Sprintf("--- a/%s (before)\n+++ b/%s (%s)\n@@ %s", path, path, name, lines)
		}
		return nil
	})
	return patch, err
}

// attempt has Git merge, or the driver. That has as long as a check has, 0 for ever.
func (r contents) attempt(step merge.Sides, driver merge.Driver, limit time.Duration) (merge.Attempted, error) {
	if driver.Name == "" {
		return merge.Attempt(r.ctx, r.store, step, driver)
	}
	ctx, done := r.ctx, func() {}
	if limit > 0 {
		ctx, done = context.WithTimeout(r.ctx, limit)
	}
	defer done()
	got, err := merge.Attempt(ctx, r.store, step, driver)
	if err != nil && ctx.Err() != nil && r.ctx.Err() == nil {
		err = missions.Errorf(missions.KindFailed, "--driver none has Git merge instead",
			"%s has not merged within %s, the limit that check.time_limit sets; nothing was changed", driver.Name, limit)
	}
	return got, err
}
