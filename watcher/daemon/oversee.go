package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// quietTicks is how many ticks pass between looks while nothing happens. What
// happens tells of itself: a mission's change, a workspace's, an agent's end. But
// other processes start missions too, and people take sockets away.
const quietTicks = 15

// roomTicks is how many pass between looks whether there is room for what there was none
// for.
const roomTicks = 3

// oversee looks after what lives until the Server stops: which workspaces are
// watched, whether agents are still there, whether there is anything to do.
func (s *Server) oversee() {
	o := newOverseer(s)
	defer o.stop()
	for {
		o.look()
		if !o.rest() {
			return
		}
	}
}

// overseer is what one goroutine knows of the missions that live.
type overseer struct {
	*Server
	follows map[string]*follower // by root
	missed  map[string]int       // looks in a row that found no live mission there
	*verifier
	exits   *exits
	live    int
	inTurn  bool // an agent is, anywhere
	waiting bool // an agent waits for an answer, anywhere
	retry   bool // something is to be looked at with the next tick, though nothing tells of it
	stirred bool
	synced  time.Time
	hooked  time.Time // when it was looked whether agents' hooks are there
	rested  time.Time
	held    uint64               // of memory, when what was not used was given back
	left    map[string]time.Time // when the last agent left a workspace, by root
}

func newOverseer(s *Server) *overseer {
	return &overseer{
		Server: s, follows: map[string]*follower{}, missed: map[string]int{}, left: map[string]time.Time{},
		verifier: newVerifier(s.options), exits: newExits(func() { s.watch.Changed("") }),
	}
}

// telling is how long a look waits for a busy workspace.
const telling = 200 * time.Millisecond

// settling is how long a change of a mission may be followed by others before
// it is looked at.
const settling = 200 * time.Millisecond

// pause is how long to wait for the next look if nothing tells of itself: a tick
// while something is going on, or was a moment ago, else many.
func (o *overseer) pause() time.Duration {
	calm := 2 * max(o.options.RestAfter, o.options.HousekeepQuiet)
	busy := o.calls.underWay() || o.house.calls.Load() > 0 ||
		o.calls.quiet() < calm || time.Since(o.house.last.time()) < calm
	for _, f := range o.follows {
		busy = busy || f.tree.Busy()
	}
	if busy || o.retry || o.waiting || len(o.missed) > o.live {
		return o.options.Tick
	}
	if o.owing() {
		return roomTicks * o.options.Tick
	}
	return quietTicks * o.options.Tick
}

// rest waits for the next look, and reports whether there is one.
func (o *overseer) rest() bool {
	next := time.NewTimer(o.pause())
	defer next.Stop()
	select {
	case <-o.calls.reading.Done():
		return false
	case <-next.C:
		return true
	case <-o.watch.changed:
		o.stirred = true
	}
	select {
	case <-o.calls.reading.Done():
		return false
	case <-time.After(settling):
		return true
	}
}

func (o *overseer) look() {
	if !o.tenure.athome() {
		o.tenure.leave(homeGone)
		return
	}
	o.options.Home.ForgetHang() // of a moment that is over
	o.index.mend()
	if !o.socket.published() {
		o.tenure.leave("the socket was taken away")
		return
	}
	o.tenure.reconfigure()
	// Missions tell of their changes: to look at each of them, each second, is for those
	// alone whose change nothing tells of.
	if o.stirred || o.retry || o.waiting || len(o.missed) > o.live || time.Since(o.synced) >= quietTicks*o.options.Tick {
		o.stirred, o.synced = false, time.Now()
		o.sync()
	}
	if time.Since(o.hooked) >= quietTicks*o.options.Tick {
		o.hooked = time.Now()
		if err := o.local.KeepHooks(o.calls.writing); err != nil {
			o.log.Warn("put hooks back", "error", err)
		}
	}
	o.makeUp()
	o.house.begin(o.inTurn)
	o.restAWhile()
	if o.live == 0 && !o.calls.underWay() && !o.owing() && o.calls.quiet() > o.options.IdleExit {
		o.tenure.leave("nothing to do")
	}
}

// restAgain is how often caches are written though nobody asks for anything:
// what is seen of the workspaces changes them too.
const restAgain = time.Minute

// restAWhile does, after each time of work, what would be in its way.
func (o *overseer) restAWhile() {
	last := o.calls.last.time()
	if o.calls.underWay() || time.Since(last) < o.options.RestAfter {
		return
	}
	if o.rested.After(last) && time.Since(o.rested) < restAgain {
		return
	}
	o.rested = time.Now()
	o.forgetLeft()
	o.index.rest()
	// A walk or an import needs much that the next ones don't, and so does a file of the
	// user's that is far too large.
	if o.local.SaveStatCaches() || heldMemory() > o.held+mostUnused {
		debug.FreeOSMemory()
		o.held = heldMemory()
	}
}

// mostUnused is by how much the memory of the process may have grown at rest, in bytes,
// before it is looked through for what is no longer used.
const mostUnused = 16 << 20

// heldMemory is what the process has of the system for its data, in bytes, used or not.
func heldMemory() uint64 {
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(held)
	return held[0].Value.Uint64() + held[1].Value.Uint64() + held[2].Value.Uint64()
}

// fileState tells a file from what it was; "" if there is none.
func fileState(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// sync closes the missions whose agents are gone, takes up what was left, and makes
// what is watched what lives.
func (o *overseer) sync() {
	o.retry = false
	if o.space.CheckRoom() == nil {
		if err := o.local.CloseLostMissions(o.calls.reading); err != nil && o.calls.reading.Err() == nil {
			o.log.Warn("close lost missions", "error", err)
			o.retry = true
		}
		if err := o.local.ResumeHandovers(o.calls.writing); err != nil && o.calls.writing.Err() == nil {
			o.retry = true // a workspace is busy
		}
	}
	live := o.local.LiveWorkspaces()
	o.live, o.inTurn, o.waiting = len(live), false, false
	woke := o.woke()
	alive := map[projects.Process]bool{}
	for root, ws := range live {
		o.missed[root] = 0
		delete(o.left, root)
		o.inTurn, o.waiting = o.inTurn || len(ws.InTurn) > 0, o.waiting || ws.Waiting
		for _, p := range ws.Processes {
			alive[p] = true
		}
		o.follow(root, ws)
		o.verify(root, ws, woke)
	}
	if !o.exits.follow(alive) {
		o.retry = true
	}
	for root := range o.missed {
		if _, ok := live[root]; ok {
			continue
		}
		// Once may be a moment between two records.
		if o.missed[root]++; o.missed[root] > 1 {
			o.forget(root)
		}
	}
}

// owing reports whether there is something that was not done for want of room.
func (o *overseer) owing() bool {
	for _, f := range o.follows {
		if f.unseen.Load() {
			return true
		}
	}
	owes, _ := o.local.HasOwedSnapshots()
	return owes
}

// makeUp has done, when there is room again, what was not for want of it.
func (o *overseer) makeUp() {
	if !o.owing() || o.space.CheckRoom() != nil {
		return
	}
	if _, due := o.local.HasOwedSnapshots(); due {
		defer o.house.enter()()
		limited, cancel := context.WithTimeout(o.calls.writing, telling) // a busy workspace gets it later
		defer cancel()
		if err := o.local.TakeOwedSnapshots(limited); err != nil {
			o.log.Warn("take the snapshots that there was no room for", "error", err)
		}
	}
	for _, f := range o.follows {
		if f.unseen.Swap(false) {
			_ = f.tree.Touch() // it comes to rest again
		}
	}
}

// follow watches a workspace, if it is not, and its missions' sessions.
func (o *overseer) follow(root string, ws events.LiveWorkspace) {
	if !o.watch.knows(root) {
		// Only captures know what is ignored; none was made since the start.
		limited, cancel := context.WithTimeout(o.calls.reading, telling)
		defer cancel()
		if err := o.local.TellIgnoreRules(limited, root); err != nil {
			o.retry = true
			return // the workspace is busy, or gone
		}
	}
	tree := o.watch.want(root)
	if tree == nil {
		return
	}
	f := o.follows[root]
	if f != nil && f.tree != tree {
		f.stop()
		f = nil
	}
	if f == nil {
		f = newFollower(o.Server, root, tree)
		o.follows[root] = f
	}
	f.sessions(ws.Sessions)
	f.begun(ws.InTurn)
	f.look()
}

// verify has a watched workspace walked when that is due.
func (o *overseer) verify(root string, ws events.LiveWorkspace, woke bool) {
	f := o.follows[root]
	if f == nil {
		return // not watched: every capture walks
	}
	if why := o.due(root, time.Now(), f.tree.Busy() || len(ws.InTurn) > 0, woke); why != "" {
		f.verify(why)
	}
}

func (o *overseer) forget(root string) {
	delete(o.missed, root)
	o.verifier.forget(root)
	if f := o.follows[root]; f != nil {
		f.stop()
		delete(o.follows, root)
	}
	o.watch.drop(root)
	o.left[root] = time.Now()
}

// forgetLeft drops what is cached of workspaces that were left long ago.
func (o *overseer) forgetLeft() {
	for root, at := range o.left {
		if time.Since(at) > o.options.ForgetAfter {
			delete(o.left, root)
			o.local.ForgetWorkspace(root)
		}
	}
}

func (o *overseer) stop() {
	o.exits.stop()
	for _, f := range o.follows {
		f.stop()
	}
}
