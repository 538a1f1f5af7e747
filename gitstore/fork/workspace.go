package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// look reads the snapshot's tree, and finds out what comes along from the live
// source.
func (k *maker) look(ctx context.Context) error {
	var err error
	if k.list, err = list(ctx, k.src.Store.Reader, k.src.Known, k.src.Tree); err != nil {
		return err
	}
	if k.live == nil {
		k.scan.lost = k.leftOutThen(reasonSourceGone)
		return nil
	}
	if k.src.Rules == nil {
		return errors.New("the rules of the source's newest snapshot are not known")
	}
	other := take
	if !k.target.CopyIgnored {
		other = shun
	}
	s := &scanner{
		ctx: ctx, root: k.live, repo: k.src.Repo, snapshot: k.list,
		nestedToo: func(_ string, taken bool) bool { return taken || k.src.Now },
		sharedToo: k.src.Head == "" && k.src.Unread == "",
	}
	judged := captured(k.src.Rules, k.src.Skipped, other)
	s.judge = func(path string, mode gitstore.Mode, size int64) (verdict, error) {
		v, err := judged(path, mode, size)
		if err != nil || v != take || mode.IsDir() {
			return v, err
		}
		if since, err := k.src.madeSince(path, mode, size); !since || err != nil {
			return v, err
		}
		s.leave(path, reasonSince)
		return shun, nil
	}
	s.judge = withoutLaterLogs(k, s, s.judge)
	if err := s.directory("", false, 0); err != nil {
		return err
	}
	if err := s.shared(); err != nil {
		return err
	}
	k.scan = s.scan
	k.made.Left = append(k.made.Left, s.left...)
	k.scan.lost = k.leftOutThen(reasonNotDone)
	if k.target.CopyIgnored {
		k.scan.lost, err = changedSince(k.live, k.scan.lost)
	}
	if err != nil {
		return err
	}
	k.made.Withheld, err = k.withheld()
	return err
}

// withheld lists what comes along and is to stay out of the fork's snapshots, though the
// rules of the moment do not leave it out; the topmost alone. A directory that the
// snapshot holds is not among it, but what is inside may be.
func (k *maker) withheld() (paths []string, err error) {
	rules := k.src.Moment.Rules
	if rules == nil {
		return nil, nil
	}
	for _, i := range k.scan.items {
		known := len(paths) > 0 && inside(i.path, paths[len(paths)-1])
		if known || i.kind == beneath.Directory && k.list.holdsDir(i.path) || k.src.leavesOut(i.path) {
			continue
		}
		c := documents.Candidate{Mode: gitstore.ModeFile, Size: i.size}
		switch i.kind {
		case beneath.Directory:
			c.Mode = gitstore.ModeDir
		case beneath.Symlink:
			c.Mode = gitstore.ModeSymlink
		}
		ok, _, err := rules.Eligible(i.path, c)
		if err != nil {
			return nil, err
		}
		if ok {
			paths = append(paths, i.path)
		}
	}
	return paths, nil
}

// fillWorkspace writes the snapshot's files, copies what comes along, and gives
// directories their modes last.
func (k *maker) fillWorkspace(ctx context.Context) (*written, error) {
	root, err := k.openWorkspace()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := &writer{k: k, objects: k.src.Store.Reader, root: root, live: k.live, list: k.list, perm: k.perm, sourcePlaces: k.src.places(k.doc.Scope != "")}
	if err := w.snapshot(ctx); err != nil {
		return nil, err
	}
	k.made.Left = append(k.made.Left, w.left...)
	k.made.LinksIn, k.made.Annexed = w.linksIn, w.annexed
	j := job{from: k.live, to: root, items: k.scan.items, look: k.pointsIn(root, "")}
	redirect := func(context.Context) error { return nil }
	if k.live != nil {
		left, err := k.copier.copyItems(ctx, j)
		if err != nil {
			return nil, err
		}
		k.made.Left = append(k.made.Left, left...)
		if redirect, err = k.placeNested(ctx, k.scan, k.live.Path(), k.doc.workspace(), ""); err != nil {
			return nil, err
		}
		if err := finishDirectories(j); err != nil {
			return nil, err
		}
	}
	var empty []string
	if k.src.Modes != nil {
		empty = k.src.Modes.Empty
	}
	if err := w.finish(empty); err != nil {
		return nil, err
	}
	if err := redirect(ctx); err != nil {
		return nil, err
	}
	k.made.Placed = w.done.placed(k.list, k.src.Known)
	return &w.done, nil
}

func (k *maker) openWorkspace() (*beneath.Root, error) {
	top, err := beneath.Open(k.doc.Directory)
	if err != nil || k.doc.Scope == "" {
		return top, err
	}
	defer top.Close()
	if top.Identity() != k.doc.Identity {
		return nil, fmt.Errorf("%s: %w", k.doc.Directory, beneath.ErrMoved)
	}
	if err := top.MkdirAll(k.doc.Scope, 0o777); err != nil {
		return nil, err
	}
	return beneath.Open(k.doc.workspace())
}

// perm is the permission bits that a path had, if they are known. The snapshot's tree
// has the last word on the exec bit.
func (k *maker) perm(path string, mode gitstore.Mode) (bits uint32, known bool) {
	if k.src.Modes == nil {
		return 0, false
	}
	bits, known = k.src.Modes.Perm(path, mode).Known()
	switch mode {
	case gitstore.ModeExec:
		bits |= 0o100
	case gitstore.ModeFile:
		bits &^= 0o100
	}
	return bits, known
}

// maxPointing is up to which size a copied file is searched for the source's
// path.
const maxPointing = 64 << 10

// places are the paths of the source's workspace, and of the work tree around it if it is
// only a part of that; none if it is gone.
func (src *Source) places(isPart bool) []string {
	if src.Live == "" {
		return nil
	}
	places := []string{filepath.Clean(src.Live)}
	if isPart {
		places = append(places, src.Repo.TopLevel)
	}
	if real, err := resolve(src.Live); err == nil && !slices.Contains(places, real) {
		places = append(places, real)
	}
	return places
}

// leadsInto reports whether a link's target is in one of the places.
func leadsInto(target string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return inside(target, place) })
}

// pointsIn looks at copied files for what leads back into the source: absolute
// links, and small programs and settings that name its path, as those of a
// Python environment do. Their paths are reported behind the prefix.
func (k *maker) pointsIn(to *beneath.Root, prefix string) func(item) {
	places := k.src.places(k.doc.Scope != "")
	if len(places) == 0 {
		return nil
	}
	return func(i item) {
		if i.kind == beneath.Symlink {
			target, err := to.Readlink(i.path)
			if err == nil && leadsInto(target, places) {
				k.point(prefix + i.path)
			}
			return
		}
		if i.size > maxPointing || i.perm&0o111 == 0 && !settings(treepath.Base(i.path)) {
			return
		}
		f, _, err := to.Open(i.path)
		if err != nil {
			return
		}
		defer f.Close()
		content, err := io.ReadAll(io.LimitReader(f, maxPointing))
		if err == nil && slices.ContainsFunc(places, func(p string) bool { return mentions(content, p) }) {
			k.point(prefix + i.path)
		}
	}
}

// settings tells the names of files that build tools write absolute paths into.
func settings(name string) bool {
	return name == "pyvenv.cfg" || name == "CMakeCache.txt" || strings.HasPrefix(name, "activate") ||
		strings.HasSuffix(name, ".pth") || strings.HasSuffix(name, ".egg-link")
}

// mentions tells whether a text holds the path, and not only a longer name.
func mentions(content []byte, path string) bool {
	if bytes.IndexByte(content, 0) >= 0 {
		return false
	}
	for rest := content; ; {
		at := bytes.Index(rest, []byte(path))
		if at < 0 {
			return false
		}
		rest = rest[at+len(path):]
		if len(rest) == 0 || !strings.ContainsRune("-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", rune(rest[0])) {
			return true
		}
	}
}

func (k *maker) point(path string) {
	k.mu.Lock()
	k.made.PointsIn = append(k.made.PointsIn, path)
	k.mu.Unlock()
}
