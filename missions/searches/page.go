package searches

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// source is a part of what is searched: all of its hits are of one time or before.
type source struct {
	newest time.Time
	search func(ctx context.Context, p *page) error
}

// page collects the newest hits after one, no more than a limit.
type page struct {
	query query
	since time.Time
	after *missions.SearchHit
	limit int
	hits  []missions.SearchHit // newest first
	more  bool
}

// compareHits sorts the newer hit before the older one.
func compareHits(a, b missions.SearchHit) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Order, b.Order))
}

// isPast reports whether nothing of a time or before it comes onto the page.
func (p *page) isPast(newest time.Time) bool {
	return newest.Before(p.since) || len(p.hits) == p.limit && newest.Before(p.hits[p.limit-1].At)
}

// isTold reports whether everything from a time on was on the pages before.
func (p *page) isTold(oldest time.Time) bool { return p.after != nil && oldest.After(p.after.At) }

// wants reports whether a hit may come onto the page, of which time and order are known.
func (p *page) wants(hit missions.SearchHit) bool {
	if hit.At.Before(p.since) || p.after != nil && compareHits(*p.after, hit) >= 0 {
		return false
	}
	if len(p.hits) == p.limit && compareHits(p.hits[p.limit-1], hit) <= 0 {
		p.more = true
		return false
	}
	return true
}

// add takes a hit onto the page, if it belongs there.
func (p *page) add(hit missions.SearchHit) {
	if !p.wants(hit) {
		return
	}
	at, _ := slices.BinarySearchFunc(p.hits, hit, compareHits)
	if p.hits = slices.Insert(p.hits, at, hit); len(p.hits) > p.limit {
		p.hits, p.more = p.hits[:p.limit], true
	}
}

// take takes what another page has.
func (p *page) take(o *page) {
	for _, hit := range o.hits {
		p.add(hit)
	}
	p.more = p.more || o.more
}

// fill searches the sources, the newest first, as long as they may have hits for the page.
func (p *page) fill(ctx context.Context, sources []source) error {
	slices.SortStableFunc(sources, func(a, b source) int { return b.newest.Compare(a.newest) })
	for i, s := range sources {
		if p.isPast(s.newest) {
			p.more = p.more || !s.newest.Before(p.since)
			return nil
		}
		missions.Notify(ctx, missions.Notice{Text: "searching", Done: int64(i), Total: int64(len(sources)), Unit: "parts"})
		if err := s.search(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
