package forks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// opener is launch.open as it runs for a fork. Its terminal may live for days, with all that
// it inherits. So it has a session of its own, which neither Ctrl-C nor the end of this
// process reaches. And it prints to a file: whoever reads a stream of this process would wait
// for the end of the terminal.
type opener struct {
	fork    missions.Mission
	printed *os.File   // has no name any more
	ended   chan error // how the command has ended
}

func startOpener(c *call.Call, command string, fork missions.Mission) (*opener, error) {
	printed, err := os.CreateTemp("", "umbra-open-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(printed.Name()) // else a file stays, and nothing is wrong
	cmd := exec.Command("/bin/sh", "-c", strings.ReplaceAll(command, "{id}", fork.ID))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = fork.Workspace, c.Environ(), printed, printed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = printed.Close() // nothing was written
		return nil, err
	}
	o := &opener{fork: fork, printed: printed, ended: make(chan error, 1)}
	go func() { o.ended <- cmd.Wait() }()
	return o, nil
}

// leastOpening is how long a command has to fail in any case: no wait for prompts is no reason
// to take one for opened that can't be run.
const leastOpening = time.Second

// await waits until the command has ended, or the fork has its agent: some commands end at
// once, others with their terminal. A terminal in which no agent begins is left alone after
// a while, since an agent may wait for this command.
func (o *opener) await(c *call.Call, svc missions.Launches, caller missions.Caller, most time.Duration) error {
	defer func() { _ = o.printed.Close() }() // it is read only
	ctx, stop := context.WithCancel(c.Context)
	launched := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		states := []missions.StateName{missions.StateRunning, missions.StateWaiting, missions.StateIdle, missions.StateError, missions.StateClosed}
		_, err := svc.Wait(ctx, missions.WaitRequest{Caller: caller, Missions: []string{o.fork.ID}, States: states})
		if err == nil { // else nobody can tell, and the rest is waited for
			close(launched)
		}
	})
	defer asking.Wait()
	defer stop()
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case err := <-o.ended:
		if said := o.said(); err != nil && said != "" {
			return fmt.Errorf("%w: %s", err, said)
		}
		return err
	case <-c.Context.Done():
		return c.Context.Err()
	case <-late.C:
		c.Notice("note: launch.open still runs for %s, and no agent has begun there: umbra mission resume %s launches it by hand", o.fork.Name, o.fork.Name)
	case <-launched:
	}
	return nil
}

// mostSaid is how much of what a command has printed is told, in bytes.
const mostSaid = 500

// said is the beginning of what the command has printed, on one line.
func (o *opener) said() string {
	begin := make([]byte, mostSaid)
	n, _ := o.printed.ReadAt(begin, 0) // what can't be read is not told
	return strings.Join(strings.Fields(string(begin[:n])), " ")
}
