package missions

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// crossing has each rename from the journal fail, as where a quota parts it from
// the workspace and only a rename tells.
func (b *testBench) crossing(times int) (tries *int) {
	tries = new(int)
	b.local.restoreStep = func(step string) error {
		if !strings.HasPrefix(step, "exchange ") {
			return nil
		}
		if *tries++; *tries > times {
			return nil
		}
		return &os.LinkError{Op: "exchange", Err: beneath.ErrCrossDevice}
	}
	return tries
}

// TestRestoreBeside stages in the workspace where only the first rename tells
// that the journal is out of reach.
func TestRestoreBeside(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "zero\n")
	b.mission("work")
	b.write("a.txt", "one\n")
	restore := func() error {
		_, err := b.local.Restore(context.Background(), RestoreRequest{Caller: b.caller(), Moment: "work@start", All: true})
		return err
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(joinPath(b.dir, "a.txt")); err != nil || string(got) != want {
			t.Errorf("a.txt: %q %v, want %q", got, err, want)
		}
		entries, err := os.ReadDir(b.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".umbra-") {
				t.Errorf("%s is left", e.Name())
			}
		}
	}
	b.crossing(2)
	if err := restore(); !errors.Is(err, beneath.ErrCrossDevice) {
		t.Errorf("it fails beside too: %v", err)
	}
	holds("one\n")
	tries := b.crossing(1)
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if *tries != 2 {
		t.Errorf("%d renames", *tries)
	}
	b.snapshot("afterwards") // which settles what was set aside
	holds("zero\n")
	b.healthy()
}
