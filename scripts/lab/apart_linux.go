package lab

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Apart makes a command run in a user namespace of its own, as the same user:
// what limits the user there, nobody else meets.
func Apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
}

// HeedModes has programs that this process starts from now on heed the modes of
// files though they run as root. It must be in a user namespace made by Apart,
// and built without cgo, whose threads the runtime can't reach.
func HeedModes() error {
	for _, capability := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
		if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0); errno != 0 {
			return fmt.Errorf("give up a capability: %w", errno)
		}
	}
	return nil
}

// AllowWatches sets how many directories all processes of this user namespace
// may watch together. It must be one made by Apart.
func AllowWatches(n int) error {
	return os.WriteFile("/proc/sys/user/max_inotify_watches", []byte(strconv.Itoa(n)), 0)
}
