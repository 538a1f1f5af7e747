package daemon

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/doctor"
	"github.com/umbra-vcs/umbra/missions/prunes"
)

// housekeeper keeps the shadow repositories fast and small while nothing else
// is to be done: off the way of every call, and given up at once when one comes
// that writes. Its methods may be called from any goroutine.
type housekeeper struct {
	server *Server

	calls atomic.Int64 // that write, running now
	last  mark         // when one ended

	mu      sync.Mutex
	stop    context.CancelFunc // ends what is being done, nil if nothing is
	overdue bool               // it can't wait: calls do not stop it
	looked  map[doctor.Urgency]time.Time
	vain    map[string]time.Time             // by project directory: the last attempt that was of no use
	done    map[string]missions.Housekeeping // by project directory
}

func newHousekeeper(s *Server) *housekeeper {
	h := &housekeeper{
		server: s, looked: map[doctor.Urgency]time.Time{},
		vain: map[string]time.Time{}, done: map[string]missions.Housekeeping{},
	}
	h.last.set(s.tenure.since)
	return h
}

// enter tells of a call that writes: what is being done is given up. The caller
// calls what is returned when the call is over.
func (h *housekeeper) enter() (leave func()) {
	h.calls.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil && !h.overdue {
		h.stop()
	}
	return func() {
		h.last.set(time.Now())
		h.calls.Add(-1)
	}
}

// begin does what is to be done, in the background, if this is a moment for it:
// no call that writes runs or has run for a while, and no agent is in a turn.
// What is overdue waits for no such moment: there may never be one.
func (h *housekeeper) begin(inTurn bool) {
	s := h.server
	if !s.local.MayKeepHouse() {
		return
	}
	urgency := doctor.Due
	if inTurn || h.calls.Load() > 0 || time.Since(h.last.time()) < s.options.HousekeepQuiet {
		urgency = doctor.Overdue
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	looked := h.looked[urgency]
	stale := time.Since(looked) >= prunes.Every // what is old by now was not when it was looked
	if h.stop != nil || looked.After(h.last.time()) && !stale || urgency == doctor.Overdue && time.Since(looked) < s.options.OverdueEvery {
		return // at it, or nothing was written since, or it was looked just now
	}
	h.looked[urgency] = time.Now()
	ctx, stop := context.WithCancel(s.calls.reading)
	h.stop, h.overdue = stop, urgency == doctor.Overdue
	s.work.Go(func() {
		defer h.end()
		h.run(ctx, urgency)
	})
}

func (h *housekeeper) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop()
	h.stop = nil
}

func (h *housekeeper) run(ctx context.Context, urgency doctor.Urgency) {
	s := h.server
	full := s.space.CheckRoom() != nil // then a process gives room back, and no more is done
	if urgency == doctor.Due && !full {
		if err := s.local.FillIndex(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("fill the index", "error", err)
		}
		if err := s.local.ReadSeededFiles(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("read what was taken over", "error", err)
		}
	}
	for _, dir := range s.local.ProjectsToHousekeep(urgency) {
		if ctx.Err() != nil || full || !h.mayTry(dir) {
			continue
		}
		done, err := s.local.Housekeep(ctx, dir)
		if err != nil {
			continue // given up, or another process does it: the next idle moment is as good
		}
		h.note(dir, done)
		if done.Problem != "" {
			s.log.Warn("housekeeping", "project", done.Project, "error", done.Problem)
			continue
		}
		s.log.Info("housekeeping", "project", done.Project, "packed", done.Packed, "removed", done.Removed, "freed", done.FreedBytes)
	}
	if s.options.StartHousekeeper != nil && ctx.Err() == nil {
		s.local.StartDaily(s.options.StartHousekeeper)
	}
}

// note keeps what was done, and when it was nothing.
func (h *housekeeper) note(dir string, done missions.Housekeeping) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done[dir] = done
	if delete(h.vain, dir); done.Problem != "" || done.Packed == 0 {
		h.vain[dir] = time.Now()
	}
}

// mayTry keeps a project that stays in need, whatever is done, from being tried
// all the time. One that was helped and is in need again is helped again.
func (h *housekeeper) mayTry(dir string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, vain := h.vain[dir]
	return !vain || time.Since(at) >= doctor.RestEvery
}

// report is what was last done in each project, newest first.
func (h *housekeeper) report() []missions.Housekeeping {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []missions.Housekeeping
	for _, done := range h.done {
		list = append(list, done)
	}
	slices.SortFunc(list, func(a, b missions.Housekeeping) int { return b.At.Compare(a.At) })
	return list
}
