package missions

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
)

// nobodys is what a process remembers of sessions that are no mission's, and of
// directories that were refused as their workspaces: hooks there tell of each of
// their tools too, and are not to search all missions, or to walk a whole tree, each
// time. It is safe for concurrent use.
type nobodys struct {
	mu       sync.Mutex
	sessions map[string]nobody  // by sessionKey
	refused  map[string]refusal // by directory
}

// nobody is a session that was no mission's where its agent worked.
type nobody struct {
	cwd string
	at  time.Time
}

// refusal is why a directory did not become a workspace.
type refusal struct {
	why   error
	at    time.Time
	rules [3]fileStamp // of what decides how much of it would be captured
}

const (
	// nobodyFor is how long a session counts as nobody's without another look. Each
	// start and each prompt looks again.
	nobodyFor = time.Minute
	// refusedFor is how long a tree counts as over the budget that is not looked at
	// again: it may shrink. Each start of a session looks again.
	refusedFor = 5 * time.Minute
	// mostNobodys bounds what is remembered of either.
	mostNobodys = 256
)

func newNobodys() *nobodys {
	return &nobodys{sessions: map[string]nobody{}, refused: map[string]refusal{}}
}

// makeRoom makes room in a full map: what is dropped is only looked for again.
func makeRoom[V any](m map[string]V) {
	if len(m) >= mostNobodys {
		clear(m)
	}
}

// note notes whether an event was of nobody's session, and takes back what was noted
// before if it is somebody's now.
func (n *nobodys) note(key string, e sessions.Event, nobodys bool, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sessions, key)
	if nobodys {
		makeRoom(n.sessions)
		n.sessions[key] = nobody{e.Cwd, now}
	}
}

// has reports whether an event is of a session that was nobody's a moment ago.
func (n *nobodys) has(key string, e sessions.Event, now time.Time) bool {
	switch e.Kind {
	case sessions.KindSessionStart, sessions.KindPrompt, sessions.KindCommand:
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	found, ok := n.sessions[key]
	return ok && found.cwd == e.Cwd && recent(now, found.at, nobodyFor)
}

// refuse notes why a directory did not become a workspace.
func (n *nobodys) refuse(root string, why error, now time.Time) {
	r := refusal{why, now, rulesOf(root)}
	n.mu.Lock()
	defer n.mu.Unlock()
	makeRoom(n.refused)
	n.refused[root] = r
}

// admit forgets that a directory was refused.
func (n *nobodys) admit(root string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.refused, root)
}

// refusalOf is why a directory was refused when it was last to be a workspace; nil if
// it was not, or was for its size and has other rules now.
func (n *nobodys) refusalOf(root string) error {
	n.mu.Lock()
	r := n.refused[root]
	n.mu.Unlock()
	if r.outdated(root) {
		return nil
	}
	return r.why
}

// overBudget is why a directory would be refused that was too large a moment ago; nil
// if that is to be found out.
func (n *nobodys) overBudget(root string, now time.Time) error {
	n.mu.Lock()
	r, ok := n.refused[root]
	n.mu.Unlock()
	if !ok || !tooLarge(r.why) || !recent(now, r.at, refusedFor) || r.outdated(root) {
		return nil
	}
	return r.why
}

// outdated reports whether a directory that was too large has other rules now.
func (r refusal) outdated(root string) bool { return tooLarge(r.why) && r.rules != rulesOf(root) }

// rulesOf are the files by which most of a directory is ignored or its budget is set.
func rulesOf(root string) (stamps [3]fileStamp) {
	for i, name := range []string{settings.ProjectFile, ".umbraignore", ".gitignore"} {
		stamps[i] = stampOf(filepath.Join(root, name))
	}
	return stamps
}

// tooLarge reports whether a workspace was refused for how much it holds, which takes
// a walk.
func tooLarge(err error) bool {
	var over *capture.BudgetError
	return errors.As(err, &over)
}

// refuses reports whether a directory did not become a workspace for what it is, or
// for how much it holds.
func refuses(err error) bool { return refusedRoot(err) || tooLarge(err) }

// refusalHere says that sessions which are started by hand in a directory, or below
// its repository's top, do not become missions; nil if none was refused.
func (l *Local) refusalHere(at place) *Problem {
	why := l.nobodys.refusalOf(at.Top)
	if why == nil {
		return nil
	}
	fix := "start agents in the directory of a project"
	if tooLarge(why) {
		fix = AsError(why).Hint
	}
	return &Problem{Message: "sessions that are started here by hand are not kept: " + AsError(why).Message, Fix: fix}
}
