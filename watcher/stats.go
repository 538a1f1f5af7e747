package watcher

import (
	"maps"
	"sync"
)

// Stats are numbers for people.
type Stats struct {
	Trees, Files int
	// Watches are those of this Watcher; Limit is how many the user may have
	// over all programs, 0 if unknown.
	Watches, Limit int
	// Overflows counts how often events were lost.
	Overflows int
	// FullReasons counts how often trees became Full, by the Why constants.
	FullReasons map[string]int
	// LimitReached: a tree is not watched now, or a file once was not, since the
	// system allows no more. LimitHint is what to type, if so.
	LimitReached bool
	LimitHint    string
}

// counts are kept for Stats; any goroutine may use them.
type counts struct {
	mu      sync.Mutex
	s       Stats
	limited int // trees that the limit keeps from being watched
	refused bool
}

func newCounts() *counts { return &counts{s: Stats{FullReasons: map[string]int{}}} }

func (c *counts) full(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.FullReasons[class]++
}

func (c *counts) overflow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Overflows++
}

func (c *counts) overLimit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = true
}

func (c *counts) size(watches, trees, files, limited int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limited = limited
	c.s.Watches, c.s.Trees, c.s.Files = watches, trees, files
}

// Stats returns the numbers of now.
func (w *Watcher) Stats() Stats {
	w.counts.mu.Lock()
	s := w.counts.s
	s.FullReasons = maps.Clone(s.FullReasons)
	s.LimitReached = w.counts.refused || w.counts.limited > 0
	w.counts.mu.Unlock()
	s.Limit = watchLimit()
	if s.LimitReached {
		s.LimitHint = limitHint()
	}
	return s
}
