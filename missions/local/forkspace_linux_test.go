package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
)

// TestForkOntoAFullDisk says what to do, and leaves nothing there.
func TestForkOntoAFullDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range 40 {
		b.write(fmt.Sprintf("f%d", n), strings.Repeat("line\n", 4000))
	}
	b.mission("source")
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("a file system of its own needs a privileged user: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	_, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "source", Workspace: filepath.Join(disk, "fork")})
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindFailed || !strings.Contains(e.Message, "no space") || !strings.Contains(e.Hint, "--workspace") {
		t.Errorf("got %v", err)
	}
	if names, err := os.ReadDir(disk); err != nil || len(names) > 0 {
		t.Errorf("left %v, %v", names, err)
	}
	b.healthy()
}

// TestForkTellsHowFarItIs in files and in bytes.
func TestForkTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range 1100 {
		b.write(fmt.Sprintf("d%d/f%d", n%10, n), "0123456789")
	}
	b.mission("source")
	var told []missions.Notice
	ctx := missions.WithNotify(context.Background(), func(n missions.Notice) {
		if strings.HasPrefix(n.Text, "making ") {
			told = append(told, n)
		}
	})
	if _, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "source"}); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || told[0].Total != 1100 || told[0].TotalBytes != 11_000 || told[0].Unit != "files" {
		t.Fatalf("told %+v", told)
	}
	for _, n := range told {
		if n.Bytes != 10*n.Done || n.Done < 1 || n.Done > 1100 {
			t.Errorf("told %+v", n)
		}
	}
}
