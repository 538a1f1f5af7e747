package merge

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// TestAsMode: one side closed all files to others, the other made one a program: it can be
// executed by who may read it.
func TestAsMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits, want uint32
		mode       gitstore.Mode
	}{
		{0o600, 0o700, gitstore.ModeExec}, {0o644, 0o755, gitstore.ModeExec}, {0o640, 0o750, gitstore.ModeExec}, {0o750, 0o750, gitstore.ModeExec},
		{0o755, 0o644, gitstore.ModeFile}, {0o600, 0o600, gitstore.ModeFile}, {0o700, 0o700, gitstore.ModeDir},
	} {
		if got := asMode(capture.KnownPerm(c.bits), c.mode); got != capture.KnownPerm(c.want) {
			t.Errorf("%o as %v is %+v, not %o", c.bits, c.mode, got, c.want)
		}
	}
	if unknown := (capture.Perm{}); asMode(unknown, gitstore.ModeExec) != unknown {
		t.Error("what is not known is known")
	}
}
