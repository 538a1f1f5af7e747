package missions

import (
	"slices"
	"time"
)

// Permission is a question that an agent asks its user, about a tool call or as one.
type Permission struct {
	ID     string    `json:"id,omitempty"` // the agent's id of the call
	Tool   string    `json:"tool"`
	Target string    `json:"target"`
	At     time.Time `json:"at"`
}

// isSame reports whether two reports are of the same question.
func (p Permission) isSame(other Permission) bool {
	return p.Tool == other.Tool && p.Target == other.Target && (p.ID == other.ID || p.ID == "" || other.ID == "")
}

// isAbout reports whether a question is about a call. Without ids, the question is about
// the call of the same tool, or of the same file or command: some agents name a tool
// otherwise when they ask.
func (p Permission) isAbout(tool ToolUse) bool {
	if p.ID != "" && tool.ID != "" {
		return p.ID == tool.ID
	}
	return p.Tool == tool.Name || p.Tool == "" || p.Target != "" && p.Target == tool.Target
}

// withAnswered is the turn without the questions about a call.
func (r Running) withAnswered(tool ToolUse) Running {
	if slices.ContainsFunc(r.Pending, func(p Permission) bool { return p.isAbout(tool) }) {
		r.Pending = slices.DeleteFunc(slices.Clone(r.Pending), func(p Permission) bool { return p.isAbout(tool) })
	}
	return r
}
