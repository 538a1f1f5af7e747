package connect

import (
	"context"
	"syscall"

	"github.com/umbra-vcs/umbra/commands/automations"
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/client"
	"github.com/umbra-vcs/umbra/watcher/daemon"
)

// stayed is the Service of a command that stays, and that serves the home
// itself while nobody else does.
type stayed struct {
	closers
	staying *daemon.Staying
}

// stay serves the home from this process, unless another one does, and gives
// the Service of whoever it is.
func stay(ctx context.Context, env call.Env, o client.Options) (missions.Service, *stayed, error) {
	s := &stayed{}
	s.staying = daemon.Stay(daemon.Options{
		Home: o.Home, Version: o.Version, Command: "an umbra command that stays",
		Getenv: env.Getenv, Clock: env.Now, Automate: automations.Starter(env), StartHousekeeper: HousekeepingStarter(env, o.Home),
	})
	select {
	case <-s.staying.Settled():
	case <-ctx.Done():
	}
	o.Start, o.Timeout = nil, Patience
	served, err := client.Connect(ctx, o)
	if err != nil {
		_ = s.staying.Close() // why nobody serves is said already
		return nil, nil, err
	}
	s.closers = closers{served, s.staying}
	return served, s, nil
}

// Stop stops the process, or with pid 0 its group, by a signal, and returns when
// it goes on. Nobody is left waiting for a home that a stopped process holds.
func (s *stayed) Stop(pid int, sig syscall.Signal) {
	resume, _ := s.staying.Pause() // what went wrong is in the log
	call.StopProcess(pid, sig)
	resume()
}
