// Command crash kills umbra with SIGKILL, at each of its failpoints and at random
// instants, or makes its file-system calls fail, and holds what is there afterwards
// against the invariants of the design. scripts/soak --kills and --faults call it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/points"
	"github.com/umbra-vcs/umbra/scripts/lab"
)

func main() { os.Exit(lab.LongMain("soak", run)) }

// page is where the result of a whole run goes, below the top of the source.
const page = "docs/trials.md"

// wholeRun is how many kills a run has unless told otherwise, and keptRun how many,
// or calls that failed, it has at least if its result is kept.
const (
	wholeRun = 10_000
	keptRun  = 1_000
)

// options say how often, and where.
type options struct {
	kills   int
	faults  int // calls that fail, 0: each; with failing
	failing bool
	each    bool // one of each class, instead of so many
	seed    uint64
	dir     string
	binary  string
	workers int
	pause   string          // no trial begins while this file is there
	keep    string          // the file of the tally that it goes on with, "": none
	end     <-chan struct{} // closed when no more trials are to begin; nil: never
	only    string          // the one operation, "" for all
	some    bool            // not every failpoint need be come to
}

func parse(args []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("scripts/soak --kills", flag.ContinueOnError)
	flags.Func("faults", "make file-system calls fail instead: so many of the classes, the same for a seed, or one of each class, or all", func(value string) (err error) {
		o.failing, o.each = true, value == "each"
		if value != "all" && !o.each {
			o.faults, err = strconv.Atoi(value)
		}
		return err
	})
	flags.IntVar(&o.kills, "kills", wholeRun, "how many processes to kill")
	flags.Uint64Var(&o.seed, "seed", 1, "which are killed, and when")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "where workspaces and homes are made, and removed at the end unless something is wrong")
	flags.IntVar(&o.workers, "workers", 2, "in how many worlds at once")
	flags.StringVar(&o.pause, "pause", "", "begin nothing while there is such a file")
	flags.StringVar(&o.keep, "tally", "", "go on with the counts that are in this file, and keep them there")
	flags.StringVar(&o.only, "only", "", "one operation alone")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.kills < 1 || o.faults < 0 || o.workers < 1 || o.only != "" && !known(o.only) {
		return o, errors.New("usage: scripts/soak --kills N | --faults N|each|all [--seed N] [--dir DIR] [--workers N] [--pause FILE] [--tally FILE] [--only OPERATION]")
	}
	return o, nil
}

func known(name string) bool {
	for _, op := range operations() {
		if op.name == name {
			return true
		}
	}
	return false
}

// run is the command. Once end is closed, what is under way comes to its end, and
// the result is that of a run of so many.
func run(ctx context.Context, end <-chan struct{}, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	o.end = end
	top, err := os.Getwd()
	if err != nil {
		return err
	}
	if o.dir, err = os.MkdirTemp(o.dir, "umbra-kill-"); err != nil {
		return err
	}
	h, err := crash(ctx, o, top, out)
	if h == nil {
		return err
	}
	now := time.Now()
	text, section := h.summary(now), "scripts/soak --kills"
	if o.failing {
		text, section = h.faultSummary(now), "scripts/soak --faults"
	}
	fmt.Fprint(out, text)
	if err := errors.Join(err, h.keepTally(now)); err != nil {
		return err
	}
	if err := removeAll(o.dir); err != nil {
		return err
	}
	if o.only != "" || h.tried() < keptRun {
		return nil
	}
	return lab.WriteSection(filepath.Join(top, page), section, text)
}

// crash builds umbra with its failpoints from the source at top, and kills it, or
// makes its calls fail.
func crash(ctx context.Context, o options, top string, out io.Writer) (*harness, error) {
	h, err := built(ctx, o, top, out)
	switch {
	case err != nil:
		return nil, err
	case !o.failing:
		return h, h.run(ctx)
	}
	err = h.inject(ctx)
	if err == nil && h.tried() >= keptRun && o.only == "" {
		err = h.starve(ctx, 0, newRand(o.seed))
	}
	if errors.Is(err, errNoRoom) {
		h.undisked, err = err, nil
	}
	return h, err
}

// built builds umbra with its failpoints from the source at top.
func built(ctx context.Context, o options, top string, out io.Writer) (*harness, error) {
	list, err := points.In(top)
	if err != nil {
		return nil, err
	}
	o.binary = filepath.Join(o.dir, "umbra")
	if err := lab.Build(ctx, top, ".", o.binary, "failpoints"); err != nil {
		return nil, err
	}
	h := newHarness(o, out, list)
	if o.failing {
		h.keepFailing()
	}
	return h, h.goOn()
}
