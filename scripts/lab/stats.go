package lab

import (
	"slices"
	"time"
)

// Durations are the samples of one measurement, in the order they were taken.
type Durations []time.Duration

// Median is the middle sample: of an even number the mean of the two. It is 0
// without samples.
func (d Durations) Median() time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// Percentile is the smallest sample that p percent of all do not exceed
// (nearest rank), p from above 0 to 100. It is 0 without samples.
func (d Durations) Percentile(p int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	rank := (len(s)*p + 99) / 100
	return s[min(max(rank, 1), len(s))-1]
}

// Over is how much longer a sample takes than the one of e that was taken beside
// it, in the median, and never less than 0. Samples without a fellow don't count.
func (d Durations) Over(e Durations) time.Duration {
	var more Durations
	for i := range min(len(d), len(e)) {
		more = append(more, d[i]-e[i])
	}
	return max(0, more.Median())
}

// Ratio is how many times a goes into b by their medians: how much faster a is
// than b. It is 0 if either is missing.
func Ratio(a, b Durations) float64 {
	if a.Median() <= 0 {
		return 0
	}
	return float64(b.Median()) / float64(a.Median())
}

// Costs are the samples of one measurement whose processes were accounted for.
type Costs []Cost

// Walls are the wall-clock times.
func (c Costs) Walls() Durations {
	d := make(Durations, len(c))
	for i := range c {
		d[i] = c[i].Wall
	}
	return d
}

// CPUs are the processor times, user and system.
func (c Costs) CPUs() Durations {
	d := make(Durations, len(c))
	for i := range c {
		d[i] = c[i].CPU
	}
	return d
}

// Peak is the most memory that any of the processes held, in bytes.
func (c Costs) Peak() int64 {
	var peak int64
	for _, one := range c {
		peak = max(peak, one.Peak)
	}
	return peak
}
