package fork

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Holdings is what a fork's workspace holds that is nowhere else. Paths are
// below the workspace; one that ends in a slash stands for all below it.
type Holdings struct {
	// Ignored are files that no snapshot holds: ignored ones, those over the
	// cap, secrets, and the .git of nested repositories.
	Ignored []string `json:"ignored,omitempty"`
	// Uncaptured are files that are not as the newest snapshot has them.
	Uncaptured []string `json:"uncaptured,omitempty"`
	// Commits are those that no other ref of the user's repository reaches,
	// newest first: id and subject.
	Commits []string `json:"commits,omitempty"`
}

// Inspect tells what would be lost with a fork's workspace. Of newest, the
// fork's own newest snapshot, Store, Tree, Rules and Skipped are used. A
// workspace that is gone, or not the one that was made, holds no files.
func Inspect(ctx context.Context, doc Document, newest Source) (Holdings, error) {
	var h Holdings
	if err := checkDocument(doc); err != nil {
		return h, err
	}
	there, err := doc.IsStanding()
	if err != nil {
		return h, err
	}
	if there {
		if err := h.files(ctx, doc, newest); err != nil {
			return h, fmt.Errorf("files of %s: %w", doc.Directory, err)
		}
	}
	if doc.CommonDir == "" {
		return h, nil
	}
	w, err := openWorktree(ctx, doc, there)
	if err != nil || w == nil {
		return h, err
	}
	if there && doc.Scope != "" {
		if err := h.outside(ctx, doc, w); err != nil {
			return h, err
		}
	}
	h.Commits, err = w.only(ctx, w.tips()...)
	return h, err
}

// IsStanding reports whether the directory that was made is still in its place.
func (d Document) IsStanding() (bool, error) {
	root, err := beneath.Open(d.Directory)
	if vanished(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	return d.Is(root), nil
}

// files compares the workspace with the newest snapshot.
func (h *Holdings) files(ctx context.Context, doc Document, newest Source) error {
	root, err := beneath.Open(doc.workspace())
	if vanished(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if newest.Rules == nil {
		return errors.New("the rules of the newest snapshot are not known")
	}
	listed, err := list(ctx, newest.Store.Reader, newest.Known, newest.Tree)
	if err != nil {
		return err
	}
	judged := captured(newest.Rules, newest.Skipped, take)
	s := &scanner{
		ctx: ctx, root: root, repo: newest.Repo, snapshot: listed,
		nestedToo: func(string, bool) bool { return false },
	}
	s.judge = func(path string, mode gitstore.Mode, size int64) (verdict, error) {
		v, err := judged(path, mode, size)
		switch {
		case err != nil || mode.IsDir() && (v == pass || listed.holdsDir(path)):
			return v, err
		case mode.IsDir():
			path += "/"
		case v == pass:
			h.Uncaptured = append(h.Uncaptured, path)
			return pass, nil
		}
		h.Ignored = append(h.Ignored, path)
		return shun, nil
	}
	if err := s.directory("", false, 0); err != nil {
		return err
	}
	for _, l := range s.left {
		h.Ignored = append(h.Ignored, l.Path)
	}
	slices.Sort(h.Ignored)
	return h.changed(ctx, root, listed)
}

// changed adds the files whose bytes are not those of the snapshot.
func (h *Holdings) changed(ctx context.Context, root *beneath.Root, listed *listing) error {
	var mu sync.Mutex
	err := each(ctx, listed.files, 16, func(f file) error {
		id, err := blobOf(root, f)
		if vanished(err) || err == nil && id == f.id {
			return nil
		}
		mu.Lock()
		h.Uncaptured = append(h.Uncaptured, f.path)
		mu.Unlock()
		return nil
	})
	slices.Sort(h.Uncaptured)
	return err
}

// blobOf is the id of what is on disk at the path of a file.
func blobOf(root *beneath.Root, f file) (gitstore.ID, error) {
	if f.mode == gitstore.ModeSymlink {
		target, err := root.Readlink(f.path)
		return hash([]byte(target)), err
	}
	content, st, err := root.Open(f.path)
	if err != nil {
		return gitstore.ID{}, err
	}
	defer content.Close()
	h := sha1.New()
	h.Write(append(strconv.AppendInt([]byte("blob "), st.Size, 10), 0))
	if _, err := io.Copy(h, content); err != nil {
		return gitstore.ID{}, err
	}
	return gitstore.ID(h.Sum(nil)), nil
}

// outside adds what git sees outside a workspace below the top level.
func (h *Holdings) outside(ctx context.Context, doc Document, w *worktree) error {
	out, err := w.git.run(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignored=traditional",
		"--ignore-submodules=none", "--no-renames", "--", ".", ":(top,exclude,literal)"+doc.Scope)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if len(line) < 4 || strings.HasPrefix(doc.Scope+"/", line[3:]) {
			continue
		}
		if line[:2] == "!!" {
			h.Ignored = append(h.Ignored, doc.outside(line[3:]))
		} else {
			h.Uncaptured = append(h.Uncaptured, doc.outside(line[3:]))
		}
	}
	return nil
}
