package clients

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runIsolated runs this test binary again, with its own arguments, in a new
// network namespace. The error is that there is none to be had.
func runIsolated() (int, error) {
	if os.Geteuid() != 0 {
		return 0, errors.New("not root")
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), isolated+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is the death of the thread
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 1, nil
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, nil // ended by a signal
}

// raiseLoopback does what `ip link set lo up` does.
func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return errors.Join(err, unix.Close(socket))
	}
	err = unix.IoctlIfreq(socket, unix.SIOCGIFFLAGS, request)
	if err == nil {
		request.SetUint16(request.Uint16() | unix.IFF_UP | unix.IFF_RUNNING)
		err = unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
	}
	return errors.Join(err, unix.Close(socket))
}
