// Package expiry counts for how long things have been what they are, until they go by
// themselves. It is pure: it opens no file, asks no clock and removes nothing.
package expiry

import "time"

// Warning is for how long it is said that a thing goes, before it does.
const Warning = 7 * 24 * time.Hour

// Every is how long after a look the next is due.
const Every = 24 * time.Hour

// Believed is how much of the time between two looks counts at most: the clock may have been
// set ahead.
const Believed = 2 * Every

// Counts are what is remembered of things that are to go once they are old. Ages are no
// differences of two clock times: they are added up from look to look.
type Counts struct {
	Keep     time.Duration    `json:"keep"` // for how long they are kept
	LookedAt time.Time        `json:"looked,omitzero"`
	Of       map[string]Count `json:"of,omitempty"` // by the thing's id
}

// Count is how old a thing is.
type Count struct {
	// Since is when it came to be what it is: one that has another Since begins anew.
	Since time.Time     `json:"since"`
	Age   time.Duration `json:"age"`
}

// need is the age at which a thing goes.
func (c Counts) need() time.Duration { return max(c.Keep, Warning) }

// Look counts on to now, and returns which of the things that are there go now. A week must
// be left in which that could be said: of what Keep says now, and by somebody who looked.
func (c *Counts) Look(now time.Time, keep time.Duration, there map[string]time.Time) (due []string) {
	passed := now.Sub(c.LookedAt)
	again := c.LookedAt.IsZero() || c.Keep != keep || passed > Warning
	before := c.Of
	c.Keep, c.LookedAt, c.Of = keep, now, make(map[string]Count, len(there))
	for id, since := range there {
		one, known := before[id]
		switch {
		case !known || !one.Since.Equal(since):
			one = Count{Since: since}
		case again:
			one.Age = min(one.Age, c.need()-Warning)
		default:
			one.Age = c.grown(one.Age, min(max(passed, 0), Believed))
		}
		c.Of[id] = one
		if one.Age >= c.need() && now.Sub(since) >= keep {
			due = append(due, id)
		}
	}
	return due
}

// grown is an age to which time is added. No look steps over the beginning of the week in which
// it is said that a thing goes: the look at which that begins is the first to say it.
func (c Counts) grown(age, by time.Duration) time.Duration {
	if said := c.need() - Warning; age < said {
		return min(age+by, said)
	}
	return age + by
}

// IsDue reports whether it is time to look.
func (c Counts) IsDue(now time.Time) bool {
	return c.LookedAt.After(now) || now.Sub(c.LookedAt) >= Every // or the clock was set back
}

// GoesAt is when a thing goes at the earliest.
func (c Counts) GoesAt(now time.Time, keep time.Duration, id string, since time.Time) time.Time {
	one, known := c.Of[id]
	if !known || !one.Since.Equal(since) || c.Keep != keep {
		return now.Add(max(keep, Warning))
	}
	return c.LookedAt.Add(c.need() - one.Age)
}

// Said are the things of which it is to be said that they go: within the week, or a look was
// too long ago.
func (c Counts) Said() (ids []string) {
	for id, one := range c.Of {
		if one.Age >= c.need()-Warning {
			ids = append(ids, id)
		}
	}
	return ids
}
