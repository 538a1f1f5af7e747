package commands

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
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/client"
	"github.com/umbra-vcs/umbra/watcher/daemon"
)

// daemonPatience is how long a daemon may take to start or to stop.
const daemonPatience = 10 * time.Second

func daemonCommand() *verb {
	return &verb{
		name: "daemon", short: "the background process: it starts by itself when it is needed",
		verbs: append([]*verb{
			daemonRunCommand(),
			{name: "start", short: "start it, if it does not run", run: runDaemonStart},
			{name: "stop", short: "stop it; snapshots go on, each command doing its own work", run: runDaemonStop},
			{name: "status", short: "whether it runs, and what it watches", run: runDaemonStatus},
			{name: "logs", short: "print its log", run: runDaemonLogs},
		}, daemonUnitVerbs()...),
	}
}

func daemonRunCommand() *verb {
	var stay bool
	return &verb{
		name: "run", short: "serve in the foreground, until stopped or idle for long",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "stay", Usage: "also while there is nothing to do", Destination: &stay},
		},
		run: func(c *call) error { return runDaemon(c, stay) },
	}
}

// runDaemon serves the home. Another process that serves it already is as good.
func runDaemon(c *call, stay bool) error {
	daemon.DropInherited()
	o, err := clientOptions(c.Env, c.Globals)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.ctx, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer stop()
	options := daemon.Options{Home: o.Home, Version: o.Version, Getenv: c.Getenv, Clock: c.Now, Automate: c.starter()}
	if stay {
		options.IdleExit = math.MaxInt64
	}
	return daemon.Run(ctx, options)
}

func runDaemonStart(c *call) error {
	o, err := clientOptions(c.Env, c.Globals)
	if err != nil {
		return err
	}
	o.Timeout = daemonPatience
	served, err := client.Connect(c.ctx, o)
	if err != nil {
		return err
	}
	defer served.Close()
	return c.printDaemon(served, o.Version)
}

func runDaemonStop(c *call) error {
	o, err := clientOptions(c.Env, c.Globals)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, daemonPatience)
	defer cancel()
	was, err := client.Leave(ctx, o)
	if err != nil {
		return err
	}
	return c.print(missions.DaemonStatus{}, func(p *printer) {
		if was {
			p.line("stopped")
		} else {
			p.line("it does not run")
		}
	})
}

// runDaemonStatus asks, and changes nothing: it starts no daemon, and lets one of
// another version be.
func runDaemonStatus(c *call) error {
	o, err := clientOptions(c.Env, c.Globals)
	if err != nil {
		return err
	}
	o.Start = nil
	about, err := client.About(c.ctx, o)
	if err != nil {
		return c.printNoDaemon(o, err)
	}
	status := missions.DaemonStatus{Running: true, PID: about.PID, Version: about.Version}
	switch {
	case about.Leaving:
		status.Problem = "it is stopping"
	case client.TooOld(about):
		status.Problem = "it is too old for this umbra (" + o.Version + "): the next command takes its place"
	default:
		served, err := client.Connect(c.ctx, o)
		if err == nil {
			defer served.Close()
			return c.printDaemon(served, o.Version)
		}
		if missions.AsError(err).Kind != missions.KindNoDaemon {
			return err
		}
		status.Problem = missions.AsError(err).Message
	}
	return c.print(status, func(p *printer) {
		p.line("running: pid %d, version %s", status.PID, clean(status.Version))
		p.line("%s %s", p.paint(red, "problem:"), clean(status.Problem))
	})
}

// printNoDaemon says whether there is none, or one that is of no use.
func (c *call) printNoDaemon(o client.Options, why error) error {
	e := missions.AsError(why)
	if e.Kind != missions.KindNoDaemon {
		return why
	}
	holder, pid, held := o.Home.LockHolder()
	status := missions.DaemonStatus{Running: held, PID: pid, Problem: e.Message}
	return c.print(status, func(p *printer) {
		if !held {
			p.line("it does not run")
			return
		}
		p.line("running: %s", clean(holder))
		p.line("%s %s", p.paint(red, "problem:"), clean(e.Message))
		p.line("  to mend it: %s", clean(e.Hint))
	})
}

// printDaemon asks a daemon what it is. own is the version of this program.
func (c *call) printDaemon(svc missions.Service, own string) error {
	caller, err := c.caller()
	if err != nil {
		return err
	}
	s, err := svc.Status(c.ctx, missions.StatusRequest{Caller: caller})
	if err != nil {
		return err
	}
	if s.Daemon == nil {
		s.Daemon = &missions.DaemonStatus{}
	}
	return c.print(s.Daemon, func(p *printer) {
		d := s.Daemon
		p.line("running: pid %d, version %s, since %s", d.PID, clean(d.Version), p.when(d.StartedAt))
		p.line("socket %s", clean(d.Socket))
		p.line("%s live, %s, %s of memory", count(d.Missions, "mission"), countWatches(d.Watches), size(d.MemoryBytes))
		if d.Version != own {
			p.line("this umbra is version %s: after umbra daemon stop the next command starts that", clean(own))
		}
	})
}

func countWatches(n int) string {
	if n == 1 {
		return "1 watch"
	}
	return strconv.Itoa(n) + " watches"
}

func runDaemonLogs(c *call) error {
	o, err := clientOptions(c.Env, c.Globals)
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
