package pi

// tree is the lines of a session that are known, by their ids. What its user goes back to
// (/tree) is gone on from in the same file: the conversation is what leads to the last line.
type tree[T any] struct {
	nodes map[string]*node[T]
	leaf  *node[T]
}

// node is a line, with what the adapter keeps of it.
type node[T any] struct {
	above *node[T]
	value T
}

// below is the line that another one goes on from, nil for none, and whether that is the
// last one. A parent that is not in the file is none, as for pi.
func (t *tree[T]) below(l line) (above *node[T], last bool) {
	above = t.nodes[l.parent]
	return above, above == t.leaf
}

// add makes a line the last one.
func (t *tree[T]) add(l line, above *node[T], value T) {
	if t.nodes == nil {
		t.nodes = map[string]*node[T]{}
	}
	t.leaf = &node[T]{above, value}
	t.nodes[l.id] = t.leaf
}

// path are the values from the beginning to a line.
func (n *node[T]) path() []T {
	var list []T
	for ; n != nil; n = n.above {
		list = append(list, n.value)
	}
	return list
}
