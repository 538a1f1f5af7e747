package local

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
)

// mountSmall mounts a file system of a megabyte.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=700")
	if err == unix.EPERM {
		t.Skip("mounting a small file system needs root")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// TestFullRemote: a remote without room takes nothing, says so, and loses nothing that it had;
// once it has room the same command sends all. So it is where what is fetched finds no room.
func TestFullRemote(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	disk := t.TempDir()
	mountSmall(t, disk)
	c.url = filepath.Join(disk, "small.git")
	c.git("init", "-q", "--bare", "--template=", c.url)
	if _, err := c.local.RemoveRemote(context.Background(), missions.RemoteRequest{Caller: c.caller(), Name: "office"}); err != nil {
		t.Fatal(err)
	}
	c.addRemote(c.testBench, "office")
	m := c.testBench.mission("work")
	c.wants(c.push(), "work", missions.TransferNew)
	there := c.remoteGit("for-each-ref")

	large := make([]byte, 3<<20)
	_, _ = rand.Read(large)
	c.write("large.bin", string(large))
	c.snapshot("large")
	refused := c.push()
	if c.wants(refused, "work", missions.TransferRejected); !strings.Contains(refused.Missions[0].Reason, "No space left on device") {
		t.Errorf("a full remote: %+v", refused)
	}
	if got := c.remoteGit("for-each-ref"); got != there {
		t.Errorf("the remote has %s, and had %s", got, there)
	}
	c.fsck(c.url)
	c.fscked(m)
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=64m,mode=700"); err != nil {
		t.Fatal(err)
	}
	c.wants(c.push(), "work", missions.TransferUpdated)
	c.fsck(c.url)

	// The pack that git fetches is written there first.
	o := c.other("team")
	area := filepath.Join(o.project().Store.Dir(), "umbra", "transfer")
	if err := os.MkdirAll(area, 0o700); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, area)
	_, err := o.local.Fetch(context.Background(), missions.FetchRequest{Caller: o.caller()})
	if err == nil || kindOf(err) != missions.KindFailed || !strings.Contains(err.Error(), "No space left on device") {
		t.Errorf("a full home: %v", err)
	}
	if list, err := o.local.Missions(context.Background(), missions.MissionsRequest{Caller: o.caller()}); err != nil || len(list) > 0 {
		t.Errorf("of a fetch that failed there is %+v, %v", list, err)
	}
	o.healthy()
	if err := unix.Unmount(area, 0); err != nil {
		t.Fatal(err)
	}
	c.wants(o.fetch(), "team/work", missions.TransferNew)
	if got := o.cat("team/work", "large.bin"); got != string(large) {
		t.Errorf("%d bytes were fetched of %d", len(got), len(large))
	}
	o.healthy()
}
