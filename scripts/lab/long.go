package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// LongMain is Main for a program that may run for hours. A SIGTERM closes end:
// it begins nothing more and says what it has done. An interrupt ends ctx.
func LongMain(name string, run func(ctx context.Context, end <-chan struct{}, args []string, out io.Writer) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	end, heed := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer heed()
	if err := run(ctx, end.Done(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// Over reports whether end is closed; nil never is.
func Over(end <-chan struct{}) bool {
	select {
	case <-end:
		return true
	default:
		return false
	}
}

// Rest waits while there is the file pause, "" for none, and reports whether
// nothing more is to begin.
func Rest(ctx context.Context, end <-chan struct{}, pause string) bool {
	for ctx.Err() == nil && !Over(end) {
		if _, err := os.Lstat(pause); pause == "" || err != nil {
			return false
		}
		select {
		case <-ctx.Done():
		case <-end:
		case <-time.After(time.Second):
		}
	}
	return true
}

// ReadTally reads what earlier runs have counted into tally, which stays as it is
// if there is no such file; "" is none.
func ReadTally(name string, tally any) error {
	text, err := os.ReadFile(name)
	if name == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, tally)
	}
	if err != nil {
		return fmt.Errorf("read the tally of an earlier run: %w", err)
	}
	return nil
}

// KeepTally keeps a tally for the next run; "" keeps nothing.
func KeepTally(name string, tally any) error {
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(tally, "", " ")
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep the tally: %w", err)
	}
	return nil
}
