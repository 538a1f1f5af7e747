package watcher

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// node is a directory of a tree that is not ignored.
type node struct {
	tree     *Tree
	parent   *node
	rel      string
	id       identity
	watch    *watch // nil if the directory is unreadable, or the watch ended
	children map[string]*node
	dropped  bool
}

func (t *Tree) prefix() string {
	if t.root == "/" {
		return "/"
	}
	return t.root + "/"
}

func (t *Tree) path(rel string) string {
	if rel == "" {
		return t.root
	}
	return t.prefix() + rel
}

func (n *node) join(name string) string {
	if n.rel == "" {
		return name
	}
	return n.rel + "/" + name
}

func (n *node) entry(name string, op fsnotify.Op) {
	if !n.dropped && n.join(name) != n.tree.cookies {
		n.tree.touch()
		n.tree.look(n, name, op)
	}
}

// attributes of other directories come as their parent's entry.
func (n *node) attributes() {
	if n == n.tree.top {
		n.tree.touch()
		n.tree.set.setFull(why{WhyRootMode, ""})
	}
}

func (n *node) gone() {
	n.watch = nil
	n.tree.w.again = append(n.tree.w.again, n)
}

func (n *node) renew() {
	switch {
	case n.dropped || n.watch != nil:
	case n == n.tree.top:
		n.tree.touch()
		n.tree.attach(why{WhyRoot, ""})
	default:
		n.tree.look(n.parent, base(n.rel), fsnotify.Create)
	}
}

// look brings the books and the dirty set up to date with one entry of a
// directory. Events come late, so it asks the disk and believes of them only
// that something happened: whatever happened since has its own event, since
// the directory is watched.
func (t *Tree) look(parent *node, name string, op fsnotify.Op) {
	rel := parent.join(name)
	child := parent.children[name]
	if op&^fsnotify.Write == 0 && child == nil {
		t.set.addPath(rel)
		return
	}
	was := child != nil
	if was && (op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)) {
		t.drop(child, true)
		child = nil
	}
	info, err := os.Lstat(t.path(rel))
	switch {
	case err == nil && info.IsDir():
		t.lookDir(parent, child, rel, op, identify(info))
	case err == nil, vanished(err), unreadable(err):
		t.drop(child, true)
		if was {
			t.set.addDir(rel)
		} else {
			t.set.addPath(rel)
		}
	default:
		t.flawed(why{WhyUnwatched, plain(err)})
	}
}

func (t *Tree) lookDir(parent, child *node, rel string, op fsnotify.Op, id identity) {
	switch {
	case t.limited:
	case t.skips(rel):
		t.drop(child, false)
		t.set.addPath(rel)
	case child != nil && child.id == id && child.watch != nil:
		// Met when its parent was walked, its own event coming after.
		if op.Has(fsnotify.Chmod) {
			t.set.addDir(rel)
		} else {
			t.set.addPath(rel)
		}
	default:
		t.drop(child, true)
		t.enter(parent, rel)
		// Last, so that a Take before can't miss what happened during the walk.
		t.set.addDir(rel)
	}
}

func (t *Tree) skips(rel string) bool {
	return rel == t.cookies || t.ignored != nil && t.ignored(rel)
}

// drop forgets a directory and what is below it. If it left its name, nobody
// else may rely on its watches any longer: they are retired.
func (t *Tree) drop(n *node, left bool) {
	if n == nil {
		return
	}
	if n.parent != nil && n.parent.children[base(n.rel)] == n {
		delete(n.parent.children, base(n.rel))
	}
	todo := []*node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n.dropped = true
		if x := n.watch; x != nil {
			n.watch = nil
			t.w.unsubscribe(x, n)
			if left && len(x.subs) > 0 {
				t.w.retire(x)
			}
		}
		for _, c := range n.children {
			todo = append(todo, c)
		}
	}
}

// maxSwaps is how often a directory may be another one each time it is looked
// at before it is given up.
const maxSwaps = 16

// enter watches and then walks the directory rel and all below it that is not
// ignored. What vanishes meanwhile has an event in the queue.
func (t *Tree) enter(parent *node, rel string) {
	type place struct {
		parent *node
		rel    string
		swaps  int
	}
	todo := []place{{parent, rel, 0}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := &node{tree: t, parent: p.parent, rel: p.rel}
		below, err := t.open(n)
		switch {
		case err == nil:
			for _, name := range below {
				if child := n.join(name); !t.skips(child) {
					todo = append(todo, place{n, child, 0})
				}
			}
		case errors.Is(err, errSwapped) && p.swaps < maxSwaps:
			todo = append(todo, place{p.parent, p.rel, p.swaps + 1})
		case overLimit(err):
			t.overLimit()
			return
		case vanished(err) && p.parent == nil:
			t.missing = true
			t.flawed(why{WhyRoot, err.Error()})
		case vanished(err):
			t.proveParents(p.parent)
		case unreadable(err) && p.parent != nil:
			// Whoever may read it again changes its attributes first.
		default:
			t.flawed(why{WhyUnwatched, plain(err)})
		}
	}
}

// proveParents meets the one way in which a directory can vanish without an
// event: the root is no longer at its path.
func (t *Tree) proveParents(n *node) {
	for n.parent != nil {
		n = n.parent
	}
	if info, err := os.Lstat(t.root); err != nil || identify(info) != n.id {
		t.flawed(why{WhyRoot, ""})
	}
}

var errSwapped = errors.New("another directory by now")

// open watches a new node's directory, puts the node in its place and lists
// the directories in it.
func (t *Tree) open(n *node) (below []string, err error) {
	path := t.path(n.rel)
	f, err := openDir(path)
	if err != nil {
		if unreadable(err) && n.parent != nil {
			t.place(n)
		}
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n.id = identify(info)
	if n.parent != nil && n.parent.id.dev != n.id.dev {
		if y := reliable(path); y != (why{}) {
			t.set.setNever(y)
		}
	}
	if !recursive && n.parent != nil {
		return nil, nil
	}
	if n.watch, err = t.w.subscribe(path, n.id, n); err != nil {
		return nil, err
	}
	t.place(n)
	// fsnotify watches by path; is it the directory that is open?
	if info, err := os.Lstat(path); err != nil || identify(info) != n.id {
		t.drop(n, true)
		if err == nil {
			err = errSwapped
		}
		return nil, err
	}
	return directories(f)
}

func (t *Tree) place(n *node) {
	if n.parent == nil {
		t.top = n
		return
	}
	if n.parent.children == nil {
		n.parent.children = map[string]*node{}
	}
	n.parent.children[base(n.rel)] = n
}

// directories lists the directories in an open one.
func directories(f *os.File) ([]string, error) {
	var names []string
	for {
		entries, err := f.ReadDir(512)
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func base(rel string) string {
	for i := len(rel) - 1; i >= 0; i-- {
		if rel[i] == '/' {
			return rel[i+1:]
		}
	}
	return rel
}

// vanished reports whether the error says that there is no such directory.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// plain says for people what kept a directory from being watched. A path that is
// too long for the system is too long for a line.
func plain(err error) string {
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return "its path is longer than the system takes"
	}
	return err.Error()
}

func unreadable(err error) bool { return errors.Is(err, fs.ErrPermission) }
