package jsonlines

// Tree is the lines of a session that are known, by their ids, where each line has the id of
// the one that it goes on from. What its user goes back to is gone on from in the same file:
// the conversation is what leads to the last line.
type Tree[T any] struct {
	nodes map[string]*Node[T]
	leaf  *Node[T]
}

// Node is a line, with what the adapter keeps of it.
type Node[T any] struct {
	Value T
	above *Node[T]
}

// Below is the line that another one goes on from, nil for none, and whether that is the
// last one. A parent that is not in the file is none.
func (t *Tree[T]) Below(parent string) (above *Node[T], last bool) {
	above = t.nodes[parent]
	return above, above == t.leaf
}

// Add makes a line the last one.
func (t *Tree[T]) Add(id string, above *Node[T], value T) {
	if t.nodes == nil {
		t.nodes = map[string]*Node[T]{}
	}
	t.leaf = &Node[T]{value, above}
	t.nodes[id] = t.leaf
}

// Leaf is the last line, nil if there is none.
func (t *Tree[T]) Leaf() *Node[T] { return t.leaf }

// Path are the values from a line back to the beginning.
func (n *Node[T]) Path() []T {
	var list []T
	for ; n != nil; n = n.above {
		list = append(list, n.Value)
	}
	return list
}
