package main

import (
	"context"
	"time"
)

// measureMemory measures a daemon that watches one large tree and nothing else,
// over many snapshots, and then at rest.
func measureMemory(ctx context.Context, b *bench) error {
	name := b.large()
	subjects, err := b.subjects(ctx, "memory", name)
	if err != nil {
		return err
	}
	s := subjects[0]
	f := b.goal("P10")
	const steps = 5
	rounds := b.samples(60, 10)
	var curve []float64
	for step := range steps {
		for round := range rounds {
			if err := s.edit(1, step*rounds+round); err != nil {
				return err
			}
			if _, err := s.hook(ctx, true); err != nil {
				return err
			}
		}
		now, err := s.daemon.Resident()
		if err != nil {
			return err
		}
		curve = append(curve, megabytes(now))
	}
	highest, err := s.daemon.Highest()
	if err != nil {
		return err
	}
	last := curve[len(curve)-1]
	f.most("resident", last, 80, " MB")
	f.most("growth from the first fifth to the last", last/curve[0], 1.1, "×")
	f.note("%s: resident after each %d snapshots %s MB, at most ever %s MB (the first import too)", name, rounds, numbers(curve), number(megabytes(highest)))
	if _, err := s.session.Stop(ctx); err != nil {
		return err
	}
	return b.measureRest(ctx, f, s)
}

// readPatience is how long a daemon may take to read what a first snapshot took
// over unread.
const readPatience = 5 * time.Minute

// measureRest measures a daemon that has done all that is left for such moments.
func (b *bench) measureRest(ctx context.Context, f *finding, s *subject) error {
	before, err := s.daemon.CPU()
	if err != nil {
		return err
	}
	begin := time.Now()
	soon, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	if err := s.session.ReadAll(soon); err != nil {
		return err
	}
	if err := s.daemon.Rest(ctx, 2*time.Second); err != nil {
		return err
	}
	after, err := s.daemon.CPU()
	if err != nil {
		return err
	}
	f.note("until it was at rest, having read once what the first snapshot took over from the index: %s s, of which %s s on a processor",
		number(time.Since(begin).Seconds()), number((after - before).Seconds()))
	used, err := s.daemon.During(ctx, 10*time.Second)
	if err != nil {
		return err
	}
	f.most("at rest, processor time in 10 s", float64(used)/float64(time.Millisecond), 10, " ms")
	return nil
}

// numbers writes figures one after the other.
func numbers(list []float64) string {
	text := ""
	for i, v := range list {
		if i > 0 {
			text += ", "
		}
		text += number(v)
	}
	return text
}
