// Package timeline opens the terminal interface, and does outside of it what it asks for: a
// pager, an editor, the launch of a fork.
package timeline

import (
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/restores"
	"github.com/umbra-vcs/umbra/commands/tui"
	"github.com/umbra-vcs/umbra/missions"
)

func Command() *call.Verb {
	return &call.Verb{
		Name: "timeline", Args: "[MISSION]", Max: 1, Short: "browse missions, snapshots, changes and conversations on the screen",
		Long: `Missions and their forks, the snapshots of one by turn, and what each changed
and said. New snapshots appear while an agent works. A snapshot is restored, of it
all or some paths, forked from, and its files are opened as they were: each key
shows first what it would do. The keys are listed by ?.`,
		Run: runTimeline,
	}
}

func runTimeline(c *call.Call) error {
	if c.JSON || !c.IsTerminal(c.Stdin) || !c.IsTerminal(c.Stdout) || c.Getenv("TERM") == "dumb" {
		return missions.Errorf(missions.KindUsage, "umbra log", "the timeline needs a terminal that can move its cursor")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	open := func(name string, content []byte, edit bool) (string, error) { return openFile(c, name, content, edit) }
	o := tui.Options{
		Service: svc, Caller: caller, In: c.Stdin, Out: c.Stdout, Environ: c.Environ(), Color: c.Out.Color,
		Palette: c.Out.Palette, Now: c.Now, Words: timelineWords(c), Open: open, Stopped: c.Unwritten,
	}
	if name := c.Arg(0); name != "" || caller.Mission != "" {
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
	return launchFork(c, caller, *forked)
}

// launchFork becomes the keeper of a fork that was made in the timeline.
func launchFork(c *call.Call, caller missions.Caller, r missions.ForkResult) error {
	if err := c.Close(); err != nil {
		return err
	}
	c.Reach = call.Staying
	forks.TellForked(c, r)
	m := r.Missions[0]
	keeper.Announce(c, m)
	return keeper.Keep(c, missions.LaunchRequest{Caller: caller, Mission: m.ID}, keeper.Variables{})
}

// timelineWords is how the commands put things.
func timelineWords(c *call.Call) tui.Words {
	return tui.Words{
		Clean: print.Clean, Count: print.Count, Short: print.Short,
		Place: func(path string) string { return print.Clean(fromHome(c, path)) },
		Plan: func(did string, r missions.RestoreResult) []string {
			r.Workspace = fromHome(c, r.Workspace)
			return written(c, func(p *print.Printer) { restores.WriteOutcome(p, did, r) })
		},
		Forked: func(r missions.ForkResult) []string {
			return written(c, func(p *print.Printer) {
				forks.WriteForked(p, r)
				p.Line("to launch its agent: umbra mission resume %s", print.Clean(r.Missions[0].Name))
			})
		},
	}
}

// fromHome is a path as a person says it: ~ is their home directory.
func fromHome(c *call.Call, path string) string {
	home := c.Getenv("HOME")
	below, err := filepath.Rel(home, path)
	if !filepath.IsAbs(home) || err != nil || !filepath.IsLocal(below) {
		return path
	}
	return filepath.Join("~", below)
}

// written is what a command would print, as lines of any width.
func written(c *call.Call, text func(*print.Printer)) []string {
	var b strings.Builder
	p := print.To(&b)
	p.Color, p.Now = c.Out.Color, c.Now()
	text(p)
	_ = p.Flush() // a Builder takes all
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
