package daemon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher"
)

// follower tells missions when a workspace stirs and when it has come to rest.
type follower struct {
	server *Server
	root   string
	tree   *watcher.Tree
	end    context.CancelFunc
	work   sync.WaitGroup
	walks  chan string // why a walk is due
	looks  chan struct{}
	unseen atomic.Bool // a rest was not told of, for want of room

	// What follows is the overseer's.
	files map[string]*watcher.File // the sessions of the missions there
	turns map[string]bool          // the missions last seen in a turn
}

// stirAfter is how long after the first event a workspace must still be busy for
// a stir to be told, once for each time between two rests.
const stirAfter = 500 * time.Millisecond

func newFollower(s *Server, root string, tree *watcher.Tree) *follower {
	ctx, end := context.WithCancel(s.calls.reading)
	f := &follower{server: s, root: root, tree: tree, end: end, walks: make(chan string, 1), looks: make(chan struct{}, 1), files: map[string]*watcher.File{}, turns: map[string]bool{}}
	f.work.Go(func() { f.run(ctx) })
	return f
}

func (f *follower) run(ctx context.Context) {
	stirred := false
	var later, again <-chan time.Time // nil while nothing has happened
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.growthDue():
			f.keepGrowth(ctx)
		case <-f.tree.Quiet():
			stirred = false
			f.tell(ctx, missions.SawQuiet)
			if f.tree.Busy() {
				later = time.After(stirAfter) // its stir may have come before the rest
			}
			again = f.whileAtWork()
		case <-again:
			if !f.tree.Busy() { // else its rest is heard of when it comes
				f.glance(ctx, "look again", func() error { return f.server.local.ObserveWorkingAgents(ctx, f.root) })
			}
			again = f.whileAtWork()
		case <-f.looks:
			f.glance(ctx, "look", func() error { return f.server.local.ObserveWokenAgents(ctx, f.root) })
			if again == nil {
				again = f.whileAtWork()
			}
		case why := <-f.walks:
			f.try(ctx, "verify", func() error { return f.server.local.VerifyWorkspace(ctx, f.root, why) })
		case <-f.tree.Stirs():
			later = time.After(stirAfter)
		case <-later:
			later = nil
			if f.tree.Busy() && !stirred {
				stirred = true
				f.tell(ctx, missions.SawChange)
			}
		}
	}
}

// lookAgain is how long after a look an agent is looked at again that was at work.
const lookAgain = 2 * time.Second

// whileAtWork tells when to look at the agents again, though nothing changes; nil
// if none of them is at work.
func (f *follower) whileAtWork() <-chan time.Time {
	if !f.server.local.NeedsAnotherLook(f.root) {
		return nil
	}
	return time.After(lookAgain)
}

// growthDue tells when growth that may wait is to be kept, though nobody writes again; nil if
// none waits.
func (f *follower) growthDue() <-chan time.Time {
	left, waits := f.server.local.GrowthWait(f.root)
	if !waits {
		return nil
	}
	return time.After(left)
}

// keepGrowth keeps growth that has waited for long enough. Where there is no room, its
// snapshot is owed.
func (f *follower) keepGrowth(ctx context.Context) {
	defer f.server.house.enter()()
	if err := f.server.local.KeepDueGrowth(ctx); err != nil && ctx.Err() == nil {
		f.server.log.Warn("keep what has grown", "workspace", f.root, "error", err)
	}
}

// look has the agents looked at that wait for their users.
func (f *follower) look() {
	select {
	case f.looks <- struct{}{}:
	default:
	}
}

func (f *follower) tell(ctx context.Context, saw missions.Observation) {
	if saw == missions.SawQuiet && f.server.space.CheckRoom() != nil {
		f.unseen.Store(true)
		return
	}
	// A snapshot that has begun is finished though the process stops.
	f.try(ctx, string(saw), func() error { return f.server.local.Observe(ctx, f.root, saw) })
}

// try does what may write, unless the disk is nearly full.
func (f *follower) try(ctx context.Context, what string, do func() error) {
	if f.server.space.CheckRoom() != nil {
		return
	}
	defer f.server.house.enter()()
	f.glance(ctx, what, do)
}

// glance does what looks and seldom finds anything to write: it comes all the time, and
// keeps no housekeeping away.
func (f *follower) glance(ctx context.Context, what string, do func() error) {
	if f.server.space.CheckRoom() != nil {
		return
	}
	if err := do(); err != nil && ctx.Err() == nil {
		f.server.log.Warn("observe", "workspace", f.root, "saw", what, "error", err)
	}
}

// verify has the workspace walked, if that is not about to happen. Why is for
// people.
func (f *follower) verify(why string) {
	select {
	case f.walks <- why:
	default:
	}
}

// sessions watches the session files of the missions there: an agent that
// thinks writes to its session, not to the workspace.
func (f *follower) sessions(paths []string) {
	now := map[string]bool{}
	for _, path := range paths {
		now[path] = true
		if f.files[path] != nil {
			continue
		}
		file, err := f.server.watch.now().WatchFile(path, func() { _ = f.tree.Touch() })
		if err != nil {
			continue // its end is still seen by hooks, or by the process's
		}
		f.files[path] = file
	}
	for path, file := range f.files {
		if !now[path] {
			_ = file.Close()
			delete(f.files, path)
		}
	}
}

// begun takes the missions that are in a turn. A turn that is new here counts
// as an event: an agent that never changes anything comes to rest too.
func (f *follower) begun(inTurn []string) {
	now := map[string]bool{}
	fresh := false
	for _, id := range inTurn {
		now[id] = true
		fresh = fresh || !f.turns[id]
	}
	f.turns = now
	if fresh {
		_ = f.tree.Touch()
	}
}

// stop returns when nothing of the follower runs.
func (f *follower) stop() {
	f.end()
	for _, file := range f.files {
		_ = file.Close()
	}
	f.work.Wait()
}
