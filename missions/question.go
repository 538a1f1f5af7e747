package missions

import (
	"slices"
)

// isSame reports whether two questions are one that is heard twice, in two ways.
func (p Permission) isSame(other Permission) bool {
	return p.Tool == other.Tool && p.Target == other.Target && (p.ID == other.ID || p.ID == "" || other.ID == "")
}

// isAbout reports whether a question is about a call. Of an agent that does not tell
// which, it is the one of that tool, or on that file or command: not each calls a
// tool the same when it asks.
func (p Permission) isAbout(tool ToolUse) bool {
	if p.ID != "" && tool.ID != "" {
		return p.ID == tool.ID
	}
	return p.Tool == tool.Name || p.Tool == "" || p.Target != "" && p.Target == tool.Target
}

// withAnswered is the turn without what was asked about a call.
func (r Running) withAnswered(tool ToolUse) Running {
	if slices.ContainsFunc(r.Pending, func(p Permission) bool { return p.isAbout(tool) }) {
		r.Pending = slices.DeleteFunc(slices.Clone(r.Pending), func(p Permission) bool { return p.isAbout(tool) })
	}
	return r
}
