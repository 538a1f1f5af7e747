package capture

import (
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// TestMounts runs in a child with a mount namespace of its own.
func TestMounts(t *testing.T) {
	if os.Getenv("UMBRA_TEST_MOUNTS") != "" {
		testMounts(t)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestMounts$", "-test.v")
	cmd.Env = append(os.Environ(), "UMBRA_TEST_MOUNTS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "=== RUN") || strings.Contains(string(out), "cannot mount") {
		t.Skipf("this system lets no test mount anything: %v %s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestMounts") {
		t.Errorf("%v\n%s", err, out)
	}
}

func testMounts(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	for _, dir := range []string{"proc", "tmp/d"} {
		l.must(os.MkdirAll(l.path(dir), 0o755))
	}
	l.walk()
	l.must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	if err := unix.Mount("proc", l.path("proc"), "proc", 0, ""); err != nil {
		t.Fatalf("cannot mount: %v", err)
	}
	defer unix.Unmount(l.path("proc"), unix.MNT_DETACH)
	if err := unix.Mount("tmpfs", l.path("tmp/d"), "tmpfs", 0, ""); err != nil {
		t.Fatalf("cannot mount: %v", err)
	}
	defer unix.Unmount(l.path("tmp/d"), unix.MNT_DETACH)
	l.write("tmp/d/b", "b")
	want := map[string]string{"a": "a", "tmp/d/b": "b"}
	skipped := []documents.Skipped{{Path: "proc", Reason: documents.ReasonSpecial}}
	for how, dirty := range map[string]Dirty{"paths": {Paths: []string{"proc", "tmp/d"}}, "below": {Paths: []string{"proc/1", "tmp/d/b"}}, "walk": {All: true}} {
		l.scanner = l.newScanner()
		if how != "walk" {
			l.must(unix.Unmount(l.path("tmp/d"), unix.MNT_DETACH))
			l.walk()
			l.must(unix.Mount("tmpfs", l.path("tmp/d"), "tmpfs", 0, ""))
			l.write("tmp/d/b", "b")
		}
		r := l.capture(dirty, Options{})
		l.wantFiles(r, want)
		if !reflect.DeepEqual(withoutTimes(r.Skipped), skipped) {
			t.Errorf("%s: skipped %v", how, r.Skipped)
		}
	}
}
