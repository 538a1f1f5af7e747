package git

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lingering is how long the output of a killed program is waited for.
const lingering = 2 * time.Second

// runGently runs a program to its end; a gentle one as Command.Gentle says.
func runGently(cmd *exec.Cmd, gentle bool) error {
	if !gentle {
		return cmd.Run()
	}
	// The death signal is sent when the thread that started the program ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = gentleAttributes()
	cmd.Cancel = func() error {
		if err := unix.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	cmd.WaitDelay = lingering
	if err := cmd.Start(); err != nil {
		return err
	}
	lowestPriority(cmd.Process.Pid)
	return cmd.Wait()
}
