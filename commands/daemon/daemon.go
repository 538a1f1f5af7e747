// Package daemon has the verbs of the background process: run, start, stop, ask, and have it
// started at login.
package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/umbra-vcs/umbra/commands/automations"
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/client"
	"github.com/umbra-vcs/umbra/watcher/daemon"
)

func Command() *call.Verb {
	return &call.Verb{
		Name: "daemon", Short: "the background process: it starts by itself when it is needed",
		Verbs: append([]*call.Verb{
			daemonRunCommand(),
			{Name: "start", Short: "start it, if it does not run", Run: runDaemonStart},
			{Name: "stop", Short: "stop it; snapshots go on, each command doing its own work", Run: runDaemonStop},
			{Name: "status", Short: "whether it runs, and what it watches", Run: runDaemonStatus},
			{Name: "logs", Short: "print its log", Run: runDaemonLogs},
		}, daemonUnitVerbs()...),
	}
}

func daemonRunCommand() *call.Verb {
	var stay bool
	return &call.Verb{
		Name: "run", Short: "serve in the foreground, until stopped or idle for long",
		Flags: []flags.Flag{
			flags.Bool("stay", "also while there is nothing to do", &stay),
		},
		Run: func(c *call.Call) error { return runDaemon(c, stay) },
	}
}

// runDaemon serves the home. Another process that serves it already is as good.
func runDaemon(c *call.Call, stay bool) error {
	daemon.DropInherited()
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer stop()
	options := daemon.Options{
		Home: o.Home, Version: o.Version, Getenv: c.Getenv, Clock: c.Now, Automate: automations.Starter(c.Env),
		StartHousekeeper: connect.HousekeepingStarter(c.Env, o.Home),
	}
	if stay {
		options.IdleExit = math.MaxInt64
	}
	return daemon.Run(ctx, options)
}

func runDaemonStart(c *call.Call) error {
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil {
		return err
	}
	o.Timeout = connect.Patience
	served, err := client.Connect(c.Context, o)
	if err != nil {
		return err
	}
	defer served.Close()
	return printDaemon(c, served, o.Version)
}

func runDaemonStop(c *call.Call) error {
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil {
		return err
	}
	o.Patience = connect.Patience // it may finish what it does
	ctx, cancel := context.WithTimeout(c.Context, connect.Patience)
	defer cancel()
	was, err := client.Leave(ctx, o)
	if err != nil {
		return err
	}
	return c.Print(missions.DaemonStatus{}, func(p *print.Printer) {
		if was {
			p.Line("stopped")
		} else {
			p.Line("it does not run")
		}
	})
}

// runDaemonStatus asks, and changes nothing: it starts no daemon, and lets one of
// another version be.
func runDaemonStatus(c *call.Call) error {
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil {
		return err
	}
	o.Start = nil
	about, err := client.About(c.Context, o)
	if err != nil {
		return printNoDaemon(c, o, err)
	}
	status := missions.DaemonStatus{Running: true, PID: about.PID, Version: about.Version}
	switch {
	case about.Leaving:
		status.Problem = "it is stopping"
	case client.TooOld(about):
		status.Problem = "it is too old for this umbra (" + o.Version + "): the next command takes its place"
	default:
		served, err := client.Connect(c.Context, o)
		if err == nil {
			defer served.Close()
			return printDaemon(c, served, o.Version)
		}
		if missions.AsError(err).Kind != missions.KindNoDaemon {
			return err
		}
		status.Problem = missions.AsError(err).Message
	}
	return c.Print(status, func(p *print.Printer) {
		p.Line("running: pid %d, version %s", status.PID, print.Clean(status.Version))
		p.Line("%s %s", p.Paint(print.Red, "problem:"), print.Clean(status.Problem))
	})
}

// printNoDaemon says whether there is none, or one that is of no use.
func printNoDaemon(c *call.Call, o client.Options, why error) error {
	e := missions.AsError(why)
	if e.Kind != missions.KindNoDaemon {
		return why
	}
	holder, pid, held := o.Home.LockHolder()
	status := missions.DaemonStatus{Running: held, PID: pid, Problem: e.Message}
	return c.Print(status, func(p *print.Printer) {
		if !held {
			p.Line("it does not run")
			return
		}
		p.Line("running: %s", print.Clean(holder))
		p.Line("%s %s", p.Paint(print.Red, "problem:"), print.Clean(e.Message))
		p.Line("  to mend it: %s", print.Clean(e.Hint))
	})
}

// printDaemon asks a daemon what it is. own is the version of this program.
func printDaemon(c *call.Call, svc missions.Service, own string) error {
	caller, err := c.Caller()
	if err != nil {
		return err
	}
	s, err := svc.Status(c.Context, missions.StatusRequest{Caller: caller})
	if err != nil {
		return err
	}
	if s.Daemon == nil {
		s.Daemon = &missions.DaemonStatus{}
	}
	return c.Print(s.Daemon, func(p *print.Printer) {
		d := s.Daemon
		p.Line("running: pid %d, version %s, since %s", d.PID, print.Clean(d.Version), p.When(d.StartedAt))
		p.Line("socket %s", print.Clean(d.Socket))
		p.Line("%s live, %s, %s of memory", print.Count(d.Missions, "mission"), countWatches(d.Watches), print.Size(d.MemoryBytes))
		if d.Version != own {
			p.Line("this umbra is version %s: after umbra daemon stop the next command starts that", print.Clean(own))
		}
	})
}

func countWatches(n int) string {
	if n == 1 {
		return "1 watch"
	}
	return strconv.Itoa(n) + " watches"
}

func runDaemonLogs(c *call.Call) error {
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil {
		return err
	}
	f, err := os.Open(o.Home.LogFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was logged yet
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(c.Stdout, f)
	return err
}
