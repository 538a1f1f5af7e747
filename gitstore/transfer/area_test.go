package transfer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestOpenBesideClear: who clears what killed processes have left never takes a place that is
// being made, and never calls it left.
func TestOpenBesideClear(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	first, err := Open(s)
	storetest.NoErr(t, err)
	first.Remove()
	stop, done := make(chan struct{}), make(chan struct{})
	for _, look := range []func() error{
		func() error { return Clear(s) },
		func() error {
			left, err := Left(s)
			if len(left) > 0 {
				t.Errorf("%s is at work, and is called left", left)
			}
			return err
		},
	} {
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
					storetest.NoErr(t, look())
				}
			}
		}()
	}
	for range 200 {
		a, err := Open(s)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := os.Stat(filepath.Join(a.Dir(), "HEAD")); err != nil {
			t.Error(err)
		}
		a.Remove()
	}
	close(stop)
	<-done
	<-done
}

// TestClearRemovesEmpty: a place whose process was killed before it held it goes too.
func TestClearRemovesEmpty(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	dir := filepath.Join(s.Dir(), areaDir, "area-killed")
	storetest.NoErr(t, os.MkdirAll(dir, 0o700))
	storetest.NoErr(t, Clear(s))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
}
