package lab

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	many := make(Durations, 0, 100)
	for i := range 100 {
		many = append(many, time.Duration((i*37)%100+1)) // 1 to 100 in some order
	}
	for name, c := range map[string]struct {
		samples          Durations
		median, p95, top time.Duration
	}{
		"none": {nil, 0, 0, 0},
		"one":  {Durations{7}, 7, 7, 7},
		"even": {Durations{4, 1, 3, 2}, 2, 4, 4},
		"odd":  {Durations{9, 1, 5}, 5, 9, 9},
		"many": {many, 50, 95, 100},
	} {
		before := append(Durations{}, c.samples...)
		if got := c.samples.Median(); got != c.median {
			t.Errorf("%s: Median = %d, want %d", name, got, c.median)
		}
		if got := c.samples.Percentile(95); got != c.p95 {
			t.Errorf("%s: Percentile(95) = %d, want %d", name, got, c.p95)
		}
		if got := c.samples.Percentile(100); got != c.top {
			t.Errorf("%s: Percentile(100) = %d, want %d", name, got, c.top)
		}
		for i := range before {
			if c.samples[i] != before[i] {
				t.Fatalf("%s: the samples were put in another order", name)
			}
		}
	}
}

func TestOver(t *testing.T) {
	if got := (Durations{5, 100, 7, 1}).Over(Durations{3, 2, 4}); got != 3 {
		t.Errorf("Over = %d, want 3", got)
	}
	if got := (Durations{1}).Over(Durations{2}); got != 0 {
		t.Errorf("Over of something longer = %d, want 0", got)
	}
}

func TestRatio(t *testing.T) {
	if got := Ratio(Durations{2, 2, 2}, Durations{5, 9, 9}); got != 4.5 {
		t.Errorf("Ratio = %g, want 4.5", got)
	}
	if got := Ratio(nil, Durations{5}); got != 0 {
		t.Errorf("Ratio without samples = %g, want 0", got)
	}
}

func TestCosts(t *testing.T) {
	a, b := Cost{Wall: 3, CPU: 2, Peak: 10}, Cost{Wall: 4, CPU: 1, Peak: 7}
	if got, want := a.plus(b), (Cost{Wall: 7, CPU: 3, Peak: 10}); got != want {
		t.Errorf("plus = %+v, want %+v", got, want)
	}
	if got := (Costs{b, a}).Peak(); got != 10 {
		t.Errorf("Peak = %d, want 10", got)
	}
}
