package capture

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// collectSkipped lists what was skipped, sorted by path. It visits only the
// directories that have something of it.
func collectSkipped(root *node) []documents.Skipped {
	var list []documents.Skipped
	visit(root, "", func(n *node) bool { return n.sum.skipped > 0 }, func(path string, _ *node, e *entry) {
		if e.kind == kindSkipped {
			list = append(list, documents.Skipped{Path: path, Reason: e.skipReason(), Size: e.stat.size, Mtime: e.stat.mtime})
		}
	})
	slices.SortFunc(list, func(a, b documents.Skipped) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// collectFlagged lists the captured files and links that have a flag, sorted.
func collectFlagged(root *node, flag flags, count func(*summary) int) []string {
	var list []string
	visit(root, "", func(n *node) bool { return count(&n.sum) > 0 }, func(path string, _ *node, e *entry) {
		if e.kind != kindSkipped && e.kind != kindDirectory && e.flags&flag != 0 {
			list = append(list, path)
		}
	})
	slices.Sort(list)
	return list
}

// visit calls fn for the entries of the directories that enter says yes to.
func visit(n *node, path string, enter func(*node) bool, fn func(path string, n *node, e *entry)) {
	if !enter(n) {
		return
	}
	for i := range n.entries {
		e := &n.entries[i]
		fn(treepath.Join(path, e.name), n, e)
		if e.kind == kindDirectory {
			visit(e.dir, treepath.Join(path, e.name), enter, fn)
		}
	}
}

// collectModes makes modes.json's content.
func collectModes(root *node) *documents.Modes {
	m := &documents.Modes{Unusual: map[string]uint32{}}
	usual := map[kind]uint16{}
	for k, perm := range map[kind]*documents.Perm{kindFile: &m.File, kindExecutable: &m.Executable, kindDirectory: &m.Directory} {
		if bits, ok := root.sum.usual(k); ok {
			usual[k] = bits
			*perm = documents.KnownPerm(uint32(bits))
		}
	}
	links := map[beneath.Identity][]string{}
	enter := func(n *node) bool {
		return n.sum.empty > 0 || n.sum.linked > 0 || n.sum.unusual(usual)
	}
	visit(root, "", enter, func(path string, n *node, e *entry) {
		if e.kind == kindSkipped || e.kind == kindSymlink || e.kind == kindDirectory && !e.countsAsDirectory() {
			return
		}
		if perm := e.stat.mode & 0o7777; uint16(perm) != usual[e.kind] {
			m.Unusual[path] = perm
		}
		if e.kind == kindDirectory && e.dir.holdsNothing() {
			m.Empty = append(m.Empty, path)
		}
		if e.kind != kindDirectory && e.flags&flagLinked != 0 {
			file := beneath.Identity{Device: n.device, Inode: e.stat.inode}
			links[file] = append(links[file], path)
		}
	})
	slices.Sort(m.Empty)
	for _, group := range links {
		if len(group) > 1 {
			slices.Sort(group)
			m.Links = append(m.Links, group)
		}
	}
	slices.SortFunc(m.Links, slices.Compare)
	return m
}

// collectRules adds to the rules from outside the workspace what decides
// inside it and is not in the snapshot itself.
func collectRules(rules *Rules, root *node) []byte {
	doc := rules.doc
	collectOwn(&doc, root, "")
	visit(root, "", func(n *node) bool { return n.sum.rules > 0 }, func(path string, _ *node, e *entry) {
		if e.kind == kindDirectory {
			collectOwn(&doc, e.dir, path)
		}
	})
	slices.SortFunc(doc.Nested, func(a, b documents.NestedExclude) int { return strings.Compare(string(a.Path), string(b.Path)) })
	slices.SortFunc(doc.Hidden, func(a, b documents.HiddenFile) int { return strings.Compare(string(a.Path), string(b.Path)) })
	doc.Tracked = gitstore.Texts(collectFlagged(root, flagTracked, func(s *summary) int { return s.tracked }))
	doc.Held = gitstore.Texts(collectFlagged(root, flagHeld, func(s *summary) int { return s.held }))
	return doc.Document()
}

func collectOwn(doc *documents.RulesDocument, n *node, path string) {
	if n.own == nil {
		return
	}
	if n.own.nested != nil && n.own.nested.isRepository {
		doc.Nested = append(doc.Nested, documents.NestedExclude{Path: gitstore.Text(path), Exclude: gitstore.Text(n.own.nested.exclude)})
	}
	for _, src := range n.own.sources {
		e := n.lookup(src.name)
		if e == nil || e.kind != kindFile && e.kind != kindExecutable {
			doc.Hidden = append(doc.Hidden, documents.HiddenFile{Path: gitstore.Text(treepath.Join(path, src.name)), Content: gitstore.Text(src.content)})
		}
	}
}
