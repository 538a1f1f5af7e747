package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// Page is where results that are kept go, below the top of the source, in which
// these programs are started.
const Page = "docs/measurements.md"

// Main runs a program that looks at Umbra from outside, until it ends or is
// interrupted, and returns its exit code. Its error is printed after its name.
func Main(name string, run func(ctx context.Context, args []string, out io.Writer) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// A Run is one run of such a program: the source that it is started in, the
// stage where everything is made, and the umbra program built there.
type Run struct {
	Top    string
	Stage  *Stage
	Binary string
	Began  time.Time
}

// NewRun makes a stage below dir, of that many bytes (sparse), and builds the
// program there, umbra itself being ".", from the source in the working
// directory.
func NewRun(ctx context.Context, dir string, size int64, program string) (*Run, error) {
	top, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	stage, err := NewStage(ctx, dir, "ext4", size, false)
	if err != nil {
		return nil, err
	}
	r := &Run{Top: top, Stage: stage, Binary: filepath.Join(stage.Dir, "umbra"), Began: time.Now()}
	if err := Build(ctx, top, program, r.Binary); err != nil {
		return nil, errors.Join(err, stage.Close())
	}
	return r, nil
}

// Publish puts text into the page of the source in the working directory, in the
// place of what the program wrote there before.
func Publish(program, text string) error { return WriteSection(Page, program, text) }

// Close takes away what was made.
func (r *Run) Close() error { return r.Stage.Close() }
