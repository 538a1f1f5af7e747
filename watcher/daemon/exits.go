package daemon

import (
	"sync/atomic"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// exits waits for the ends of processes, so that nobody need ask again and again
// whether they are there. It is the overseer's.
type exits struct {
	told  func() // called when one has ended, on any goroutine
	waits map[projects.Process]*exit
}

type exit struct {
	stop func()
	over atomic.Bool
}

func newExits(told func()) *exits {
	return &exits{told: told, waits: map[projects.Process]*exit{}}
}

// follow waits for the ends of these processes and of no others, and reports
// whether it can: if not, they are to be looked at from time to time.
func (e *exits) follow(alive map[projects.Process]bool) bool {
	for p, wait := range e.waits {
		if !alive[p] || wait.over.Load() {
			wait.stop()
			delete(e.waits, p)
		}
	}
	all := true
	for p := range alive {
		all = e.waitFor(p) && all
	}
	return all
}

func (e *exits) waitFor(p projects.Process) bool {
	if e.waits[p] != nil {
		return true
	}
	wait := &exit{}
	stop, err := p.OnExit(func() {
		wait.over.Store(true)
		e.told()
	})
	if err != nil {
		return false // it may have ended just now, which the next look sees
	}
	wait.stop = stop
	e.waits[p] = wait
	return true
}

func (e *exits) stop() { e.follow(nil) }
