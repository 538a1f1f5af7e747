// Command measure runs Umbra and its peers side by side and says what each
// costs: what docs/measurements.md is made of. It fails on nothing that is slow;
// what can't be measured is said, with the reason. scripts/bench calls it.
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

func main() { os.Exit(lab.Main("bench", run)) }

type options struct {
	quick bool
	dir   string
	text  int // MB of conversations that are searched
	// snapshots is how many P16 prunes.
	snapshots int
	only      []string // goals, all if empty
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("scripts/bench", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: scripts/bench [--quick] [--dir DIR] [GOAL...]\nA full run, without --quick and goals (P1 to P%d), writes %s.\n", len(goals), lab.Page)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.quick, "quick", false, "few samples, no tree of 100,000 files: to try out, not to quote")
	flags.IntVar(&o.text, "text", 400, "MB of conversations that P15 searches; with --quick a tenth")
	flags.IntVar(&o.snapshots, "snapshots", 10_000, "snapshots of the history that P16 prunes; with --quick a tenth")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "where trees and repositories are made, and removed at the end (30 GB)")
	// Flags are taken after goals too.
	for rest := args; ; {
		if err := flags.Parse(rest); err != nil {
			return o, err
		}
		if rest = flags.Args(); len(rest) == 0 {
			return o, nil
		}
		goal := strings.ToUpper(rest[0])
		if !slices.ContainsFunc(experiments(), func(e experiment) bool { return slices.Contains(e.goals, goal) }) {
			return o, fmt.Errorf("unknown goal %s: P1 to P%d", rest[0], len(goals))
		}
		o.only = append(o.only, goal)
		rest = rest[1:]
	}
}

// run measures what was asked for and prints it as it comes.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := newBench(ctx, o, out)
	if err != nil {
		return err
	}
	found := b.measure(ctx)
	if err := b.close(); err != nil {
		fmt.Fprintln(out, "what was made is not all removed:", err)
	}
	if err := ctx.Err(); err != nil {
		return errors.New("interrupted")
	}
	text := render(b.about, found)
	fmt.Fprintf(out, "\n%s\ntook %s\n", text, time.Since(b.Began).Round(time.Second))
	if o.quick || len(o.only) > 0 {
		return nil
	}
	return lab.Publish("scripts/bench", text)
}
