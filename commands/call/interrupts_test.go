package call

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// desk is who is told of signals: package signal's part in a test.
type desk struct {
	mu   sync.Mutex
	told map[chan<- os.Signal][]os.Signal
}

func newDesk() *desk { return &desk{told: map[chan<- os.Signal][]os.Signal{}} }

func (d *desk) notify(ch chan<- os.Signal, list ...os.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told[ch] = append(d.told[ch], list...)
}

func (d *desk) unnotify(ch chan<- os.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.told, ch)
}

// send gives a signal to all who are to be told, and reports how many there are:
// without any it ends the process.
func (d *desk) send(sig os.Signal) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ch, list := range d.told {
		if slices.Contains(list, sig) {
			ch <- sig // there is room
			n++
		}
	}
	return n
}

// What is typed to a program that has the terminal is not this command's, which
// hears all the time: it would end otherwise.
func TestAside(t *testing.T) {
	t.Parallel()
	d := newDesk()
	ctx, signals := listen(Env{Notify: d.notify, Unnotify: d.unnotify})
	defer signals.stop()
	err := signals.aside(func() error {
		if n := d.send(os.Interrupt); n != 1 {
			t.Errorf("a Ctrl-C is heard by %d", n)
		}
		return context.DeadlineExceeded
	})
	if err != context.DeadlineExceeded || ctx.Err() != nil || signals.came() != nil {
		t.Errorf("%v, %v, %v", err, ctx.Err(), signals.came())
	}
	if n := d.send(os.Interrupt); n != 1 {
		t.Errorf("afterwards a Ctrl-C is heard by %d", n)
	}
	select {
	case <-ctx.Done():
	case <-time.After(patience.Of(time.Minute)):
		t.Error("a Ctrl-C afterwards is not heard")
	}
	if signals.came() != syscall.SIGINT {
		t.Errorf("came %v", signals.came())
	}
}
