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
	// search looks through the next piece of it, and gives the time that all other hits
	// are of or before; a zero one, if all is looked through.
	search func(ctx context.Context, p *page) (time.Time, error)
}

// page collects the newest hits after one, no more than a limit.
type page struct {
	query query
	since time.Time
	after *missions.SearchHit
	limit int
	hits  []missions.SearchHit // newest first
	more  bool
	// whole is the page that this one is to be a part of; nil: none. What has no place there
	// is not wanted here.
	whole *page
}

// part is a page for hits that may yet turn out to be none.
func (p *page) part() *page {
	return &page{query: p.query, since: p.since, after: p.after, limit: p.limit, whole: p}
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
	if p.isFullFor(hit) || p.whole != nil && p.whole.isFullFor(hit) {
		p.more = true
		return false
	}
	return true
}

// isFullFor reports whether the page has as many hits as it may that are newer than one.
func (p *page) isFullFor(hit missions.SearchHit) bool {
	return len(p.hits) == p.limit && compareHits(p.hits[p.limit-1], hit) <= 0
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

// fill searches the sources, always on in the one that may have the newest hit, as long as
// it may come onto the page.
func (p *page) fill(ctx context.Context, sources []source) error {
	slices.SortStableFunc(sources, func(a, b source) int { return b.newest.Compare(a.newest) })
	said := -1
	for left := sources; len(left) > 0; {
		first := left[0]
		if p.isPast(first.newest) {
			p.more = p.more || !first.newest.Before(p.since)
			return nil
		}
		if done := len(sources) - len(left); done != said {
			said = done
			missions.Notify(ctx, missions.Notice{Text: "searching", Done: int64(done), Total: int64(len(sources)), Unit: "parts"})
		}
		next, err := first.search(ctx, p)
		if err != nil {
			return err
		}
		left = left[1:]
		if next.IsZero() {
			continue
		}
		first.newest = next
		at, _ := slices.BinarySearchFunc(left, first, func(a, b source) int { return b.newest.Compare(a.newest) })
		left = sources[len(sources)-len(left)-1:]
		copy(left, left[1:1+at])
		left[at] = first
	}
	return nil
}
