package commands

import (
	"bufio"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/tui"
	"github.com/umbra-vcs/umbra/missions"
)

func timelineCommand() *verb {
	return &verb{
		name: "timeline", args: "[MISSION]", max: 1, short: "browse missions, snapshots, changes and conversations on the screen",
		long: `Missions and their forks, the snapshots of one by turn, and what each changed
and said. New snapshots appear while an agent works. A snapshot is restored, of it
all or some paths, forked from, and its files are opened as they were: each key
shows first what it would do. The keys are listed by ?.`,
		run: runTimeline,
	}
}

func runTimeline(c *call) error {
	if c.JSON || !c.IsTerminal(c.Stdin) || !c.IsTerminal(c.Stdout) || c.Getenv("TERM") == "dumb" {
		return missions.Errorf(missions.KindUsage, "umbra log", "the timeline needs a terminal that can move its cursor")
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	o := tui.Options{
		Service: svc, Caller: caller, In: c.Stdin, Out: c.Stdout, Environ: c.Environ(), Color: c.out.color,
		Palette: c.out.palette, Now: c.Now, Words: c.timelineWords(), Open: c.openFile, Stopped: c.unwritten,
	}
	if name := c.arg(0); name != "" || caller.Mission != "" {
		m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: name})
		if err != nil {
			return err
		}
		o.Mission = m.ID
	}
	forked, err := tui.Run(ctx, o)
	if err != nil || forked == nil {
		return err
	}
	return c.launchFork(caller, *forked)
}

// launchFork becomes the keeper of a fork that was made in the timeline.
func (c *call) launchFork(caller missions.Caller, r missions.ForkResult) error {
	if err := c.close(); err != nil {
		return err
	}
	c.reach = staying
	c.tellFork(r)
	m := r.Missions[0]
	c.announce(m)
	return c.keep(missions.LaunchRequest{Caller: caller, Mission: m.ID}, variables{})
}

// timelineWords is how the commands put things.
func (c *call) timelineWords() tui.Words {
	return tui.Words{
		Clean: clean, Count: count, Short: short,
		Place: func(path string) string { return clean(c.fromHome(path)) },
		Plan: func(did string, r missions.RestoreResult) []string {
			r.Workspace = c.fromHome(r.Workspace)
			return c.written(func(p *printer) { writeRestored(p, did, r) })
		},
		Forked: func(r missions.ForkResult) []string {
			return c.written(func(p *printer) {
				writeForked(p, r)
				p.line("to launch its agent: umbra mission resume %s", clean(r.Missions[0].Name))
			})
		},
	}
}

// fromHome is a path as a person says it: ~ is their home directory.
func (c *call) fromHome(path string) string {
	home := c.Getenv("HOME")
	below, err := filepath.Rel(home, path)
	if !filepath.IsAbs(home) || err != nil || !filepath.IsLocal(below) {
		return path
	}
	return filepath.Join("~", below)
}

// written is what a command would print, as lines of any width.
func (c *call) written(text func(*printer)) []string {
	var b strings.Builder
	p := &printer{w: bufio.NewWriter(&b), color: c.out.color, now: c.Now()}
	text(p)
	_ = p.flush() // a Builder takes all
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
