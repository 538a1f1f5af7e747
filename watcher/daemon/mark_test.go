package daemon

import (
	"strings"
	"testing"
	"time"
)

// TestMarkIsMonotonic: what waits for a time since a mark must not wait an hour
// longer because the clock was set back by one.
func TestMarkIsMonotonic(t *testing.T) {
	var m mark
	if !m.time().IsZero() {
		t.Errorf("before anything happened it is %s", m.time())
	}
	m.set(time.Now())
	// The string of a time shows whether it has a monotonic reading.
	if !strings.Contains(m.time().String(), " m=") {
		t.Errorf("%s is by the wall clock alone", m.time())
	}
}
