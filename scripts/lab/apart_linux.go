package lab

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
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

// AllowWatches sets how many directories all processes of this user namespace
// may watch together. It must be one made by Apart.
func AllowWatches(n int) error {
	return os.WriteFile("/proc/sys/user/max_inotify_watches", []byte(strconv.Itoa(n)), 0)
}
