package worktrees

import (
	"bytes"

	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Asked is what an agent asks for.
type Asked = sessions.WorktreeAsked

// mostAsked is the longest event that asks for a worktree: some paths and a name.
const mostAsked = 64 << 10

// MayAsk reports whether an agent asks for its worktrees.
func MayAsk(agent string) bool { return projects.WorktreeHooks(agent) != nil }

// InEvent is what an agent's event asks for; false if it is another event. All events come
// by here: those that don't have the word are not read.
func InEvent(agent string, event []byte) (Asked, bool) {
	if len(event) > mostAsked || !bytes.Contains(event, []byte("Worktree")) {
		return Asked{}, false
	}
	h := projects.WorktreeHooks(agent)
	if h == nil {
		return Asked{}, false
	}
	return h.Asked(event)
}
