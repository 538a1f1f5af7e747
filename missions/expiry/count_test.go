package expiry

import (
	"slices"
	"testing"
	"time"
)

const day = 24 * time.Hour

// looks looks daily for so many days, and returns on which of them a thing goes, -1 if never.
func looks(c *Counts, now *time.Time, keep time.Duration, days int, there map[string]time.Time) int {
	for n := range days {
		if due := c.Look(*now, keep, there); slices.Contains(due, "a") {
			return n
		}
		*now = now.Add(day)
	}
	return -1
}

// TestLook: a thing goes when it was there for so long, and never sooner than a week after it
// could be said.
func TestLook(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	old := map[string]time.Time{"a": first.Add(-300 * day)}
	for keep, goes := range map[time.Duration]int{30 * day: 30, 10 * day: 10, 7 * day: 7, day: 7} {
		c, now := Counts{}, first
		if at := looks(&c, &now, keep, 100, old); at != goes {
			t.Errorf("kept %s, it went on day %d", keep, at)
		}
		if said := c.GoesAt(first, keep, "a", old["a"]); !said.Equal(first.Add(time.Duration(goes) * day)) {
			t.Errorf("kept %s, it was said to go on %s", keep, said)
		}
	}

	c, now := Counts{}, first
	for n := range 31 {
		due := c.Look(now, 30*day, old)
		if said := len(c.Said()) > 0; said != (n >= 23) || len(due) > 0 != (n == 30) {
			t.Errorf("day %d: said %v, goes %v", n, said, due)
		}
		if at := c.GoesAt(now, 30*day, "a", old["a"]); !at.Equal(first.Add(30 * day)) {
			t.Errorf("day %d: it is said to go on %s", n, at)
		}
		now = now.Add(day)
	}
}

// TestLookInDoubt: after a clock that jumped, a long absence, another policy or another thing
// of the name, a week is left at least; and a little of a jump is all that counts.
func TestLookInDoubt(t *testing.T) {
	t.Parallel()
	const keep = 30 * day
	for what, c := range map[string]struct {
		change func(c *Counts, now *time.Time, keep *time.Duration, there map[string]time.Time)
		goes   int // on which day after it, of things that were to go on the next one
	}{
		"nothing":     {func(*Counts, *time.Time, *time.Duration, map[string]time.Time) {}, 0},
		"nobody came": {func(_ *Counts, now *time.Time, _ *time.Duration, _ map[string]time.Time) { *now = now.Add(8 * day) }, 7},
		"set ahead by years": {func(_ *Counts, now *time.Time, _ *time.Duration, _ map[string]time.Time) {
			*now = now.Add(3000 * day)
		}, 7},
		"set back by years, and right again": {func(c *Counts, now *time.Time, keep *time.Duration, there map[string]time.Time) {
			if due := c.Look(now.Add(-3000*day), *keep, there); len(due) > 0 {
				t.Error("it goes at a time before it came")
			}
		}, 7},
		"another policy": {func(_ *Counts, _ *time.Time, keep *time.Duration, _ map[string]time.Time) { *keep = 20 * day }, 7},
		"never looked":   {func(c *Counts, _ *time.Time, _ *time.Duration, _ map[string]time.Time) { *c = Counts{} }, 30},
		"of no policy":   {func(c *Counts, _ *time.Time, _ *time.Duration, _ map[string]time.Time) { c.Keep = 0 }, 7},
		"changed": {func(_ *Counts, now *time.Time, _ *time.Duration, there map[string]time.Time) {
			there["a"] = *now
		}, 30},
		"an older one": {func(_ *Counts, now *time.Time, _ *time.Duration, there map[string]time.Time) {
			there["a"] = now.Add(-300 * day)
		}, 30},
	} {
		counts, now, keep, there := Counts{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), keep, map[string]time.Time{"a": {}}
		if at := looks(&counts, &now, keep, 30, there); at >= 0 {
			t.Fatalf("%s: it went on day %d", what, at)
		}
		c.change(&counts, &now, &keep, there)
		if at := looks(&counts, &now, keep, 60, there); at != c.goes {
			t.Errorf("%s: it went %d days later, not %d", what, at, c.goes)
		}
	}

	c, now := Counts{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	there := map[string]time.Time{"a": now}
	for range 12 { // six days apart, of which two count
		if due := c.Look(now, keep, there); len(due) > 0 {
			t.Errorf("it goes on %s", now)
		}
		now = now.Add(6 * day)
	}
	if c.Of["a"].Age != 22*day {
		t.Errorf("it is %s old", c.Of["a"].Age)
	}
	if !c.IsDue(c.LookedAt.Add(day)) || c.IsDue(c.LookedAt.Add(day-1)) || !c.IsDue(c.LookedAt.Add(-1)) || !(Counts{}).IsDue(now) {
		t.Error("due at another time")
	}
	c.Look(now, keep, nil)
	if len(c.Of) > 0 {
		t.Errorf("what is gone is remembered: %v", c.Of)
	}
}

// TestWholeWarning: however far apart the looks are, it is said for a whole week that a thing goes.
func TestWholeWarning(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{day, 25 * time.Hour, 37 * time.Hour, 2 * day, 3 * day} {
		for _, keep := range []time.Duration{day, 10 * day, 30 * day} {
			c, now, there := Counts{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), map[string]time.Time{"a": {}}
			var said time.Time
			for range 100 {
				if due := c.Look(now, keep, there); len(due) > 0 {
					break
				}
				if said.IsZero() && len(c.Said()) > 0 {
					said = now
				}
				now = now.Add(step)
			}
			if said.IsZero() || now.Sub(said) < Warning || now.Sub(said) > 2*Warning {
				t.Errorf("looks %s apart, kept %s: it goes %s after it was said first", step, keep, now.Sub(said))
			}
		}
	}
}
