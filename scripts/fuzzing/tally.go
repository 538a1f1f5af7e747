package main

import (
	"fmt"
	"strings"
	"time"
)

// A tally counts by target, over all runs that went on with it.
type tally map[string]count

func (t tally) add(one target, c count) {
	all := t[one.String()]
	t[one.String()] = count{all.Execs + c.Execs, all.Lasted + c.Lasted, all.Cut + c.Cut}
}

// cover reports whether each target was tried.
func (t tally) cover(all []target) bool {
	for _, one := range all {
		if t[one.String()].Execs == 0 {
			return false
		}
	}
	return true
}

// summary says in Markdown what was tried, and that nothing was found.
func (t tally) summary(all []target, at time.Time) string {
	var sum count
	var rows []string
	for _, one := range all {
		c := t[one.String()]
		sum.Execs, sum.Lasted = sum.Execs+c.Execs, sum.Lasted+c.Lasted
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %d | %s |", one.name, one.pkg, c.Execs, c.Lasted))
	}
	return fmt.Sprintf("%s: %d targets, %.1f hours together, %d inputs, and none that fails.\n\n| target | package | inputs | time |\n|---|---|---|---|\n",
		at.UTC().Format("2006-01-02"), len(all), sum.Lasted.Hours(), sum.Execs) + strings.Join(rows, "\n") + "\n"
}
