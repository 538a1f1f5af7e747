package codex

import (
	"bytes"
	"sync"
)

// mostOpenings bounds how many rollouts are remembered; a year of Codex makes fewer.
const mostOpenings = 1 << 15

// openings remembers whose subagent's each rollout is, so that a snapshot reads only
// those that are new. Codex writes a rollout's first line once, and no other session has
// the id in its name: what was read whole once stays so. Safe for concurrent use; nil
// remembers nothing.
type openings struct {
	mu    sync.Mutex
	roots map[string]string // by path; "" for what is no subagent's
}

// root is the session whose subagent's rollout a file is, "" if it is none.
func (o *openings) root(file string) (string, error) {
	if root, known := o.recall(file); known {
		return root, nil
	}
	b, whole, err := opening(file)
	if err != nil {
		return "", err
	}
	root := rootOf(b)
	if whole {
		o.remember(file, root)
	}
	return root, nil
}

func (o *openings) recall(file string) (root string, known bool) {
	if o == nil {
		return "", false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	root, known = o.roots[file]
	return root, known
}

func (o *openings) remember(file, root string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.roots == nil || len(o.roots) >= mostOpenings {
		o.roots = map[string]string{}
	}
	o.roots[file] = root
}

// first is a text's first line, and whether it or as much of it as is ever read is there.
func first(b []byte) (line []byte, whole bool) {
	line, _, ended := bytes.Cut(b, []byte("\n"))
	return line, ended || len(b) >= mostOpening
}
