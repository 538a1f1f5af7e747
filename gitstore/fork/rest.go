package fork

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// rest is what is in the user's repository outside a workspace that lies below
// its top level.
type rest struct {
	root *beneath.Root // the live top level; nil if it is checked out from HEAD
	scan scan
}

func (r *rest) close() {
	if r.root != nil {
		r.root.Close()
	}
}

func (r *rest) files() int {
	if r == nil {
		return 0
	}
	return r.scan.files
}

func (r *rest) bytes() int64 {
	if r == nil {
		return 0
	}
	return r.scan.bytes
}

// lookOutside decides where what is outside the workspace comes from: the live
// source, as long as it is what HEAD of the moment holds, else HEAD.
func (k *maker) lookOutside(ctx context.Context) error {
	if k.doc.CommonDir == "" || k.doc.Scope == "" {
		return nil
	}
	k.rest = &rest{}
	if same, err := k.sameOutside(ctx); err != nil || !same {
		return err
	}
	root, err := beneath.Open(k.src.Repo.TopLevel)
	if err != nil {
		return err
	}
	k.rest.root = root
	s := &scanner{
		ctx: ctx, root: root, repo: k.src.Repo, snapshot: &listing{},
		exclude:   k.doc.Scope,
		judge:     func(string, gitstore.Mode, int64) (verdict, error) { return take, nil },
		nestedToo: func(string, bool) bool { return true },
	}
	if !k.target.CopyIgnored {
		index, err := k.src.Repo.Index()
		if err != nil {
			return err
		}
		s.judge = tracked(index)
	}
	if err := s.directory("", false, 0); err != nil {
		return err
	}
	if err := s.shared(); err != nil {
		return err
	}
	k.rest.scan = s.scan
	for _, l := range s.left {
		k.leave(k.doc.outside(l.Path), l.Reason)
	}
	return nil
}

// tracked judges by what the user's repository tracks; a submodule comes whole.
func tracked(index *usergit.Index) judge {
	var submodules []string
	for _, e := range index.Entries {
		if e.Mode == usergit.ModeGitlink {
			submodules = append(submodules, e.Path)
		}
	}
	return func(path string, mode gitstore.Mode, _ int64) (verdict, error) {
		switch {
		case mode.IsDir() && index.TracksBelow(path), !mode.IsDir() && index.Tracks(path),
			slices.ContainsFunc(submodules, func(s string) bool { return inside(path, s) }):
			return take, nil
		case mode.IsDir():
			return shun, nil
		}
		return pass, nil
	}
}

// reported is how a path below the top level is named to the user.
func (d Document) reported(path string) string {
	if below, ok := strings.CutPrefix(path, d.Scope+"/"); ok {
		return below
	}
	if d.Scope == "" {
		return path
	}
	return d.outside(path)
}

// outside is a path below the top level as seen from the workspace.
func (d Document) outside(below string) string {
	return strings.Repeat("../", strings.Count(d.Scope, "/")+1) + below
}

// sameOutside tells whether the live repository is at the moment's HEAD with
// nothing modified outside the workspace.
func (k *maker) sameOutside(ctx context.Context) (bool, error) {
	if k.live == nil || k.made.Fallback {
		return false, nil
	}
	out, err := k.source.run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		return false, nil
	}
	if err != nil || strings.TrimSpace(string(out)) != k.src.Head {
		return false, err
	}
	out, err = k.source.run(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=no",
		"--ignore-submodules=all", "--no-renames", "--", ".", ":(top,exclude,literal)"+k.doc.Scope)
	return len(out) == 0, err
}

// fillRest writes what is outside the workspace. The worktree's index is that
// of HEAD.
func (k *maker) fillRest(ctx context.Context) error {
	if k.rest == nil {
		return nil
	}
	if k.rest.root == nil {
		return k.checkOutRest(ctx)
	}
	to, err := beneath.Open(k.doc.Directory)
	if err != nil {
		return err
	}
	defer to.Close()
	look := k.pointsIn(to, k.doc.outside(""))
	j := job{from: k.rest.root, to: to, items: k.rest.scan.items, look: look}
	left, err := k.copier.copyItems(ctx, j)
	if err != nil {
		return err
	}
	for _, l := range left {
		k.leave(k.doc.outside(l.Path), l.Reason)
	}
	redirect, err := k.placeNested(ctx, k.rest.scan, k.rest.root.Path(), k.doc.Directory, k.doc.outside(""))
	if err != nil {
		return err
	}
	if err := finishDirectories(j); err != nil {
		return err
	}
	return redirect(ctx)
}

// checkOutRest has git write the files of HEAD. It knows which are left out of
// a sparse checkout, and converts line ends; no program of the user's is run.
func (k *maker) checkOutRest(ctx context.Context) error {
	out, err := k.git.run(ctx, nil, "ls-files", "-z")
	if err != nil {
		return err
	}
	var paths bytes.Buffer
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !inside(path.Clean(name), k.doc.Scope) {
			paths.WriteString(name + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil
	}
	_, err = k.git.run(ctx, &paths, "checkout-index", "-z", "--stdin", "--force", "--index", "--quiet")
	return err
}
