// Command endure takes thousands of snapshots of a workspace that is edited at
// random, while one thing after the other goes wrong, and holds every snapshot
// against what git says it must be. scripts/soak calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// wholeSoak is how many snapshots a soak has whose results are kept.
const wholeSoak = 10_000

func main() { os.Exit(lab.Main("soak", run)) }

// options say how long, in what, and how closely to look.
type options struct {
	snapshots int
	hours     float64 // instead of a number of snapshots, 0 if not
	files     int
	rehash    int // each how many snapshots the disk is read anew
	seed      uint64
	dir       string        // holds the program, "umbra"; everything is made there
	every     int           // after how many snapshots something goes wrong; 0: never
	kills     int           // after how many snapshots the daemon is killed; 0: never but for that
	rest      int           // after how many snapshots nobody works for a while; 0: never
	pause     time.Duration // how long, before it is waited until the daemon has come to rest
	where     string        // what the stage is, in the process that runs on it, "" in the one that makes it
	apart     bool          // in a user namespace of its own
}

// clockwork is the umbra program that is tried: its clock can be set back.
const clockwork = "./commands/clockwork"

// stageSize is the size of the file system, of which only what is used takes
// space.
const stageSize = 20 << 30

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("scripts/soak", flag.ContinueOnError)
	flags.IntVar(&o.snapshots, "snapshots", wholeSoak, "how many snapshots to take")
	flags.Float64Var(&o.hours, "hours", 0, "go on for that long instead")
	flags.IntVar(&o.files, "files", 10_000, "how many files the workspace has at first")
	flags.IntVar(&o.rehash, "rehash", 100, "hold each so many-th snapshot against the disk too, every byte read anew")
	flags.IntVar(&o.every, "wrong", 50, "let something go wrong before each so many-th snapshot, in the middle of the edits; 0: never")
	flags.IntVar(&o.kills, "kill-daemon", 0, "kill the daemon before each so many-th snapshot; 0: never but for --wrong")
	flags.IntVar(&o.rest, "rest", 1000, "let nobody work for a while after so many snapshots, each time; 0: never")
	flags.DurationVar(&o.pause, "pause", lab.Pause, "how long, until the daemon has come to rest")
	flags.Uint64Var(&o.seed, "seed", 1, "which edits are made, and what goes wrong")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "where the workspace and the home are made, and removed at the end")
	flags.StringVar(&o.where, "stage", "", "what --dir is, a stage that was made already")
	flags.BoolVar(&o.apart, "apart", false, "that stage's user namespace is its own")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.snapshots < 1 || o.files < 2*fewest || o.rehash < 1 || min(o.every, o.kills, o.rest) < 0 {
		return o, fmt.Errorf("usage: scripts/soak [--snapshots N | --hours H] [--files N] [--rehash N] [--wrong N] [--kill-daemon N] [--rest N] [--seed N] [--dir DIR]; at least one snapshot and %d files", 2*fewest)
	}
	return o, nil
}

// run makes a stage and runs itself again on it, in a user namespace of its own
// where one can be had: limits can be lowered there.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.where != "" {
		return perform(ctx, o, out)
	}
	r, err := lab.NewRun(ctx, o.dir, stageSize, clockwork)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err == nil {
		err = apart(ctx, append([]string{program}, append(args, "--dir", r.Stage.Dir, "--stage", r.Stage.Where)...), out)
	}
	return errors.Join(err, r.Close())
}

// apart runs a command line in a user namespace of its own, and says so by one
// more argument.
func apart(ctx context.Context, args []string, out io.Writer) error {
	cmd := again(ctx, append(args, "--apart"), out)
	lab.Apart(cmd)
	err := cmd.Start()
	if err == nil {
		return cmd.Wait()
	}
	fmt.Fprintln(out, "watches are not exhausted, for want of a user namespace:", err)
	return again(ctx, args, out).Run()
}

// again is a command that ends as this process is ended.
func again(ctx context.Context, args []string, out io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return cmd
}

// perform soaks on the stage.
func perform(ctx context.Context, o options, out io.Writer) error {
	began := time.Now()
	s, err := endure(ctx, o, out)
	if err != nil {
		return err
	}
	text := s.summary(began, time.Since(began))
	fmt.Fprint(out, text)
	if s.taken < wholeSoak || o.files < wholeSoak {
		return nil
	}
	return lab.Publish("scripts/soak", text)
}
