// Command endure takes thousands of snapshots of a workspace that is edited at
// random, and holds every one of them against what git says it must be, while
// it looks at the memory of the daemon. scripts/soak calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// page is where the results of a whole soak go, below the top of the source.
const page = "docs/performance.md"

// wholeSoak is how many snapshots a soak has whose results are kept.
const wholeSoak = 10_000

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// options say how long, in what, and how closely to look.
type options struct {
	snapshots int
	hours     float64 // instead of a number of snapshots, 0 if not
	files     int
	rehash    int // each how many snapshots the disk is read anew
	seed      uint64
	dir       string
	binary    string
	kill      int           // after how many snapshots the daemon is killed between two edits; 0: never
	rest      int           // after how many snapshots nobody works for a while
	pause     time.Duration // how long, before it is waited until the daemon has come to rest
}

func parse(args []string) (options, error) {
	o := options{rest: 1000, pause: lab.Pause}
	flags := flag.NewFlagSet("scripts/soak", flag.ContinueOnError)
	flags.IntVar(&o.snapshots, "snapshots", wholeSoak, "how many snapshots to take")
	flags.Float64Var(&o.hours, "hours", 0, "go on for that long instead")
	flags.IntVar(&o.files, "files", 10_000, "how many files the workspace has at first")
	flags.IntVar(&o.rehash, "rehash", 100, "hold each so many-th snapshot against the disk too, every byte read anew")
	flags.IntVar(&o.kill, "kill", 0, "kill the daemon before each so many-th snapshot, in the middle of the edits; 0: never")
	flags.Uint64Var(&o.seed, "seed", 1, "which edits are made")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "where the workspace and the home are made, and removed at the end")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.snapshots < 1 || o.files < 2*fewest || o.rehash < 1 || o.kill < 0 {
		return o, fmt.Errorf("usage: scripts/soak [--snapshots N | --hours H] [--files N] [--rehash N] [--kill N] [--seed N] [--dir DIR]; at least one snapshot and %d files", 2*fewest)
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	top, err := os.Getwd()
	if err != nil {
		return err
	}
	stage, err := lab.NewStage(ctx, o.dir, "ext4", 20<<30, false)
	if err != nil {
		return err
	}
	o.dir, o.binary = stage.Dir, filepath.Join(stage.Dir, "umbra")
	began := time.Now()
	err = lab.Build(ctx, top, o.binary)
	var s *soak
	if err == nil {
		s, err = endure(ctx, o, out)
	}
	if err := errors.Join(err, stage.Close()); err != nil {
		return err
	}
	text := s.summary(began, time.Since(began), stage.Where)
	fmt.Fprint(out, text)
	if s.taken < wholeSoak || o.files < wholeSoak {
		return nil
	}
	return lab.WriteSection(filepath.Join(top, page), "scripts/soak", text)
}
