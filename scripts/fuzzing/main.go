// Command fuzzing fuzzes every parser of bytes that others write, and properties
// that are drawn, one target after the other, and counts what was tried. scripts/fuzz
// calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

func main() { os.Exit(lab.LongMain("fuzz", run)) }

// page is where the result of a run of all targets goes, and section what marks
// its place there.
const (
	page    = "docs/trials.md"
	section = "scripts/fuzz"
)

type options struct {
	each    time.Duration
	hours   float64
	workers int
	tally   string
	pause   string
	only    []string
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("scripts/fuzz", flag.ContinueOnError)
	flags.DurationVar(&o.each, "each", time.Minute, "how long each target runs")
	flags.Float64Var(&o.hours, "hours", 0, "how long all of them run together, instead of --each")
	flags.IntVar(&o.workers, "workers", 1, "how many inputs are tried at once")
	flags.StringVar(&o.tally, "tally", "", "go on with the counts that are in this file, and keep them there")
	flags.StringVar(&o.pause, "pause", "", "begin no target while there is such a file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.only = flags.Args(); o.each < time.Second || o.workers < 1 || o.hours < 0 {
		return o, errors.New("usage: scripts/fuzz [--each DURATION | --hours H] [--workers N] [--tally FILE] [--pause FILE] [FuzzNAME...]")
	}
	return o, nil
}

func run(ctx context.Context, end <-chan struct{}, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := targets(ctx)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(t target) bool { return len(o.only) > 0 && !slices.Contains(o.only, t.name) })
	if len(chosen) == 0 {
		return fmt.Errorf("no such target: %s", strings.Join(o.only, ", "))
	}
	if o.hours > 0 {
		o.each = max(time.Second, time.Duration(o.hours*float64(time.Hour))/time.Duration(len(chosen))).Round(time.Second)
	}
	counts := tally{}
	if err := lab.ReadTally(o.tally, &counts); err != nil {
		return err
	}
	// Those that were tried least come first: a run may be ended at any time.
	slices.SortStableFunc(chosen, func(a, b target) int { return int(counts[a.String()].Lasted - counts[b.String()].Lasted) })
	for _, t := range chosen {
		if lab.Rest(ctx, end, o.pause) {
			break
		}
		fmt.Fprintf(out, "%s, %s\n", t, o.each)
		c, err := t.fuzz(ctx, o, out)
		if err != nil { // what was tried before it counts all the same
			return errors.Join(err, lab.KeepTally(o.tally, counts))
		}
		counts.add(t, c)
	}
	if err := errors.Join(ctx.Err(), lab.KeepTally(o.tally, counts)); err != nil {
		return err
	}
	text := counts.summary(all, time.Now())
	fmt.Fprint(out, text)
	if !counts.cover(all) {
		return nil
	}
	return lab.WriteSection(page, section, text)
}
