package agents

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// unadopted is what a process remembers of sessions that are no mission's, and of
// directories that were refused as their workspaces: hooks there tell of each of
// their tools too, and are not to search all missions, or to walk a whole tree, each
// time. It is safe for concurrent use.
type unadopted struct {
	mu       sync.Mutex
	Sessions map[string]unadoptedSession // by SessionKey
	Refusals map[string]refusal          // by directory
}

// unadoptedSession is a session that was no mission's where its agent worked.
type unadoptedSession struct {
	cwd string
	at  time.Time
}

// refusal is why a directory did not become a workspace.
type refusal struct {
	why        error
	at         time.Time
	ruleStamps [3]home.FileStamp // of what decides how much of it would be captured
}

const (
	// UnadoptedPeriod is how long a session counts as nobody's without another look. Each
	// start and each prompt looks again.
	UnadoptedPeriod = time.Minute
	// RefusalPeriod is how long a tree counts as over the budget that is not looked at
	// again: it may shrink. Each start of a session looks again.
	RefusalPeriod = 5 * time.Minute
	// MaxUnadopted bounds what is remembered of either.
	MaxUnadopted = 256
)

func NewUnadopted() *unadopted {
	return &unadopted{Sessions: map[string]unadoptedSession{}, Refusals: map[string]refusal{}}
}

// makeRoomIn makes room in a full map: what is dropped is only looked for again.
func makeRoomIn[V any](m map[string]V) {
	if len(m) >= MaxUnadopted {
		clear(m)
	}
}

// NoteSession notes whether an event was of nobody's session, and takes back what was noted
// before if it is somebody's now.
func (n *unadopted) NoteSession(key string, e sessions.Event, nobodys bool, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.Sessions, key)
	if nobodys {
		makeRoomIn(n.Sessions)
		n.Sessions[key] = unadoptedSession{e.Cwd, now}
	}
}

// HasSession reports whether an event is of a session that was nobody's a moment ago.
func (n *unadopted) HasSession(key string, e sessions.Event, now time.Time) bool {
	switch e.Kind {
	case sessions.KindSessionStart, sessions.KindPrompt, sessions.KindCommand:
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	found, ok := n.Sessions[key]
	return ok && found.cwd == e.Cwd && presence.IsRecent(now, found.at, UnadoptedPeriod)
}

// NoteRefusal notes why a directory did not become a workspace.
func (n *unadopted) NoteRefusal(root string, why error, now time.Time) {
	r := refusal{why, now, stampRules(root)}
	n.mu.Lock()
	defer n.mu.Unlock()
	makeRoomIn(n.Refusals)
	n.Refusals[root] = r
}

// forgetRefusal forgets that a directory was refused.
func (n *unadopted) forgetRefusal(root string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.Refusals, root)
}

// refusalOf is why a directory was refused when it was last to be a workspace; nil if
// it was not, or was for its size and has other rules now.
func (n *unadopted) refusalOf(root string) error {
	n.mu.Lock()
	r := n.Refusals[root]
	n.mu.Unlock()
	if r.isOutdated(root) {
		return nil
	}
	return r.why
}

// BudgetRefusal is why a directory would be refused that was too large a moment ago; nil
// if that is to be found out.
func (n *unadopted) BudgetRefusal(root string, now time.Time) error {
	n.mu.Lock()
	r, ok := n.Refusals[root]
	n.mu.Unlock()
	if !ok || !isOverBudget(r.why) || !presence.IsRecent(now, r.at, RefusalPeriod) || r.isOutdated(root) {
		return nil
	}
	return r.why
}

// isOutdated reports whether a directory that was too large has other rules now.
func (r refusal) isOutdated(root string) bool {
	return isOverBudget(r.why) && r.ruleStamps != stampRules(root)
}

// stampRules are the files by which most of a directory is ignored or its budget is set.
func stampRules(root string) (stamps [3]home.FileStamp) {
	for i, name := range []string{settings.ProjectFile, ".umbraignore", ".gitignore"} {
		stamps[i] = home.StampOf(filepath.Join(root, name))
	}
	return stamps
}

// isOverBudget reports whether a workspace was refused for how much it holds, which takes
// a walk.
func isOverBudget(err error) bool {
	var over *capture.BudgetError
	return errors.As(err, &over)
}

// IsRefusal reports whether a directory did not become a workspace for what it is, or
// for how much it holds.
func IsRefusal(err error) bool { return snapshots.IsRefusedRoot(err) || isOverBudget(err) }

// RefusalProblem says that sessions which are started by hand in a directory, or below
// its repository's top, do not become missions; nil if none was refused.
func (l *Launcher) RefusalProblem(at addresses.CallerDirectory) *missions.Problem {
	why := l.Unadopted.refusalOf(at.Top)
	if why == nil {
		return nil
	}
	fix := "start agents in the directory of a project"
	if isOverBudget(why) {
		fix = missions.AsError(why).Hint
	}
	return &missions.Problem{Message: "sessions that are started here by hand are not kept: " + missions.AsError(why).Message, Fix: fix}
}
