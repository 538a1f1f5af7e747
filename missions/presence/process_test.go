package presence

import (
	"os"
	"slices"
	"testing"
)

// TestProcessesAbove: whoever asks again begins with the process itself again.
func TestProcessesAbove(t *testing.T) {
	t.Parallel()
	above := ProcessesAbove(os.Getpid())
	first := slices.Collect(above)
	if len(first) == 0 || first[0] != os.Getpid() || !slices.Equal(slices.Collect(above), first) {
		t.Errorf("first %v, then %v", first, slices.Collect(above))
	}
}
