package main

import (
	"context"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureMemory measures a daemon that watches one large tree and nothing else,
// over many snapshots, and then at rest.
func measureMemory(ctx context.Context, b *bench) error {
	name := "T100k"
	if b.quick {
		name = "T10k"
	}
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
	used, over, err := atRest(ctx, s.daemon)
	if err != nil {
		return err
	}
	f.most(fmt.Sprintf("at rest, processor time in %s", duration(over)), float64(used)/float64(time.Millisecond), 10, " ms")
	return nil
}

// atRest waits until a process has come to rest, a minute at most, and measures
// the processor time that it takes then.
func atRest(ctx context.Context, p lab.Process) (used, over time.Duration, err error) {
	const look, measure = 2 * time.Second, 10 * time.Second
	for range 30 {
		used, err = during(ctx, p, look)
		if err != nil || used < 2*time.Millisecond {
			break
		}
	}
	if err != nil {
		return 0, 0, err
	}
	used, err = during(ctx, p, measure)
	return used, measure, err
}

func during(ctx context.Context, p lab.Process, d time.Duration) (time.Duration, error) {
	before, err := p.CPU()
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(d):
	}
	after, err := p.CPU()
	return after - before, err
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
