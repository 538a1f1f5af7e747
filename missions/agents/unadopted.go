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

// unadopted is what a process remembers of sessions that belong to no mission, and of
// directories that were refused as workspaces. Hooks tell of each tool there too, and
// must not search all missions or walk a whole tree each time. It is safe for
// concurrent use.
type unadopted struct {
	mu       sync.Mutex
	Sessions map[string]unadoptedSession // by SessionKey
	Refusals map[string]refusal          // by directory
}

// unadoptedSession is a session that belonged to no mission.
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
	// UnadoptedPeriod is how long a session counts as no mission's without another look.
	// Each start and each prompt looks again.
	UnadoptedPeriod = time.Minute
	// RefusalPeriod is how long a tree counts as over the budget without another look,
	// since it may shrink. Each start of a session looks again.
	RefusalPeriod = 5 * time.Minute
	// MaxUnadopted is how many sessions, and how many refusals, are remembered.
	MaxUnadopted = 256
)

// NewUnadopted remembers nothing yet.
func NewUnadopted() *unadopted {
	return &unadopted{Sessions: map[string]unadoptedSession{}, Refusals: map[string]refusal{}}
}

// makeRoomIn makes room in a full map. What it drops is looked up again.
func makeRoomIn[V any](m map[string]V) {
	if len(m) >= MaxUnadopted {
		clear(m)
	}
}

// NoteSession notes that the session of an event belongs to no mission, or forgets it
// if the session belongs to one now.
func (n *unadopted) NoteSession(key string, e sessions.Event, nobodys bool, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.Sessions, key)
	if nobodys {
		makeRoomIn(n.Sessions)
		n.Sessions[key] = unadoptedSession{e.Cwd, now}
	}
}

// HasSession reports whether the session of an event belonged to no mission a moment
// ago.
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

// refusalOf is why a directory was refused when a session last began there. It is nil
// if it was not refused, or if it was too large and has other rules now.
func (n *unadopted) refusalOf(root string) error {
	n.mu.Lock()
	r := n.Refusals[root]
	n.mu.Unlock()
	if r.isOutdated(root) {
		return nil
	}
	return r.why
}

// BudgetRefusal is why a directory was refused that was too large a moment ago. It is
// nil if that is to be found out again.
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

// stampRules are the stamps of the files that ignore most of a directory or set its
// budget.
func stampRules(root string) (stamps [3]home.FileStamp) {
	for i, name := range []string{settings.ProjectFile, ".umbraignore", ".gitignore"} {
		stamps[i] = home.StampOf(filepath.Join(root, name))
	}
	return stamps
}

// isOverBudget reports whether a workspace was refused for how much it holds. Only a
// walk finds that out.
func isOverBudget(err error) bool {
	var over *capture.BudgetError
	return errors.As(err, &over)
}

// IsRefusal reports whether a directory was refused as a workspace, for what it is or
// for how much it holds.
func IsRefusal(err error) bool { return snapshots.IsRefusedRoot(err) || isOverBudget(err) }

// RefusalProblem says that sessions which the user starts in a directory, or below the
// top of its repository, do not become missions. It is nil if none was refused.
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
