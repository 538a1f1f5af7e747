package git

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lowNice is the nice value of what Command.Gentle says.
const lowNice = 10

// lingering is how long the output of a killed program is waited for.
const lingering = 2 * time.Second

// run runs a program to its end, as Command.Group and Command.Gentle say.
func run(cmd *exec.Cmd, group, gentle bool) error {
	if !group {
		return cmd.Run()
	}
	// The death signal is sent when the thread that started the program ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = groupAttributes()
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
	if gentle {
		lowPriority(cmd.Process.Pid)
	}
	return cmd.Wait()
}
