package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestMemoryIsGivenBack gives back at rest what was needed for a while.
func TestMemoryIsGivenBack(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.Tick = time.Hour })
	o := newOverseer(s)
	t.Cleanup(o.stop)
	rest := func() {
		s.calls.last.set(time.Now().Add(-time.Hour))
		o.rested = time.Time{}
		o.restAWhile()
	}
	debug.FreeOSMemory()
	before := heldMemory()
	rest()
	large := make([]byte, 8*mostUnused)
	for i := range large {
		large[i] = byte(i)
	}
	if held := heldMemory(); held < before+4*mostUnused {
		t.Fatalf("%d bytes are held, %d before", held, before)
	}
	runtime.KeepAlive(large) // till here: collected, the system may have it back at once
	rest()
	if held := heldMemory(); held > before+2*mostUnused {
		t.Errorf("%d bytes are held at rest, %d before", held, before)
	}
}
