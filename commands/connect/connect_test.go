package connect

import (
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestHeld: whom a hook without a daemon may wait for is there only while a process
// has the home.
func TestHeld(t *testing.T) {
	t.Parallel()
	home, err := home.Open(filepath.Join(t.TempDir(), "home"))
	calltest.Must(t, err)
	if Held(home) {
		t.Error("nobody has the home")
	}
	lock, err := home.Hold("a keeper")
	calltest.Must(t, err)
	if !Held(home) {
		t.Error("a keeper has the home")
	}
	calltest.Must(t, lock.Release())
	if Held(home) {
		t.Error("the keeper has let go of it")
	}
}
