package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
)

// classes count the faults that are alike: by way, those of a spot, the faults of its
// first call in a command, its second or a later one, and those with the same error.
// What is counted as 0 was seen where nothing failed, and never failed.
type classes [len(classKinds)]map[string]int

// classKinds say of what the classes are, and all that there is to be.
var classKinds = [...]string{
	"what an operation does to which place: %d of %d",
	"the same, its first call, its second or a later one: %d of %d",
	"the same, with each of its errors: %d of %d",
}

// turns are which of the calls of a spot fails: all that come later are one.
var turns = []string{"first", "second", "later"}

// classNames names the classes of a fault.
func classNames(f faults.Fault, way string) [len(classKinds)]string {
	at := way + ": " + f.Spot.String()
	return [...]string{at, at + ", " + turns[min(f.Nth, len(turns))-1], at + ": " + f.How()}
}

// add counts a fault of each of its classes: 1, or 0 for one that is to be. It
// reports in how many of them it is the first.
func (c classes) add(way string, f faults.Fault, n int) (fresh int) {
	for i, name := range classNames(f, way) {
		if c[i][name] == 0 {
			fresh++
		}
		c[i][name] += n
	}
	return fresh
}

// eachClass are faults of each spot, where calls are made that often, so many that
// they are of all its classes. Which of the later calls it is, r decides: the more
// often they were tried and not come to, the sooner; without r it is the first.
func eachClass(calls map[faults.Spot]int, tried int, r *rand.Rand) []faults.Fault {
	var list []faults.Fault
	for at, count := range calls {
		if at.Place == "" {
			continue
		}
		errs := faults.Kinds[at.Kind]
		n := min(count, len(turns))
		for i := range max(n, len(errs)) {
			f := faults.Fault{Spot: at, Nth: 1 + (i+tried)%n, Err: errs[i%len(errs)]}
			if f.Nth == len(turns) && r != nil {
				f.Nth += r.IntN(1 + (count-n)>>tried)
			}
			list = append(list, f)
		}
	}
	slices.SortFunc(list, faults.Compare)
	return list
}

// classTries is how often a call of each class is to be come to, before it is given
// up: no command makes quite the same calls as the one in which they were counted.
const classTries = 4

// missing are trials of classes of which no call has failed yet: one of each spot
// before there is another of it.
func (h *harness) missing(tried int, r *rand.Rand) []trial {
	var spots, rest []trial
	for _, wy := range h.ways {
		list := eachClass(h.calls[wy.String()], tried, r)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		begun := map[faults.Spot]bool{}
		for _, f := range list {
			switch fresh := h.Classes.add(wy.String(), f, 0); {
			case fresh == len(classKinds) && !begun[f.Spot]:
				begun[f.Spot] = true
				spots = append(spots, trial{wy, f})
			case fresh > 0:
				rest = append(rest, trial{wy, f})
			}
		}
	}
	for _, list := range [][]trial{spots, rest} {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return append(spots, rest...)
}

// injectEach makes a call of each class fail.
func (h *harness) injectEach(ctx context.Context, w *world) error {
	r := newRand(h.seed + uint64(h.tried()))
	for tried := range classTries {
		trials := h.missing(tried, r)
		if len(trials) == 0 || h.over() || h.enough() {
			break
		}
		fmt.Fprintf(h.out, "%d calls are to fail, of %d that differ\n", len(trials), len(h.Classes[0]))
		if err := h.failAll(ctx, w, trials); err != nil {
			return err
		}
		w = nil // the first round's
	}
	return nil
}

// mostNamed is how many classes are named of those that never failed.
const mostNamed = 5

// summary says in Markdown what became of the classes, nothing if it was not by them.
func (c classes) summary() (lines []string) {
	if len(c[0]) == 0 {
		return nil
	}
	lines = []string{"Calls that differ, of those that were seen where nothing failed, and how many of them were made to fail at least once:", ""}
	var never []string
	for i, all := range c {
		failed := 0
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if all[name] > 0 {
				failed++
			} else if i == 0 {
				never = append(never, "`"+name+"`")
			}
		}
		lines = append(lines, "- "+fmt.Sprintf(classKinds[i], failed, len(all)))
	}
	if len(never) > 0 {
		lines = append(lines, "", fmt.Sprintf("Not yet: %d, such as %s.", len(never), strings.Join(never[:min(len(never), mostNamed)], ", ")))
	}
	return append(lines, "")
}
