package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestHomeIsClosedToOthers: another user of the machine reads nothing of a home,
// and nobody works in one that is open or another's.
func TestHomeIsClosedToOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "mine alone\n")
	m := b.mission("work")
	for _, open := range []os.FileMode{0o755, 0o770, 0o701} {
		if err := os.Chmod(b.home, open); err != nil {
			t.Fatal(err)
		}
		if _, err := home.Open(b.home); kindOf(err) != missions.KindFailed || !strings.Contains(missions.AsError(err).Hint, "chmod 700") {
			t.Errorf("a home of mode %o: %v", open, err)
		}
	}
	if err := os.Chmod(b.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	for dir := filepath.Dir(b.home); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	as := func(uid uint32, name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		return cmd.Run()
	}
	for _, args := range [][]string{
		{"ls", b.home}, {"cat", filepath.Join(m.ShadowRepo, "HEAD")}, {"touch", filepath.Join(b.home, "projects/x")}, {"ls", filepath.Join(b.home, "journal")},
	} {
		if as(65534, args[0], args[1:]...) == nil {
			t.Errorf("another user can %q", args)
		}
		if err := as(0, args[0], args[1:]...); err != nil {
			t.Errorf("its own user can't %q: %v", args, err)
		}
	}
	if err := as(65534, "ls", filepath.Dir(b.home)); err != nil {
		t.Fatalf("the other user can't even come near: %v", err)
	}
	if err := os.Chown(b.home, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := home.Open(b.home); kindOf(err) != missions.KindFailed || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("another's home: %v", err)
	}
}
