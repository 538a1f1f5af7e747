// Package timeline opens the terminal interface, and does outside of it what it asks for: a
// pager, an editor, the launch of a fork.
package timeline

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/contests"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/commands/merges"
	"github.com/umbra-vcs/umbra/commands/mission"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/restores"
	"github.com/umbra-vcs/umbra/commands/tui"
	"github.com/umbra-vcs/umbra/commands/updates"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

func Command() *call.Verb {
	return &call.Verb{
		Name: "timeline", Args: "[MISSION]", Max: 1, Short: "browse missions, snapshots, changes and conversations on the screen",
		Long: `Missions and their forks, the snapshots of one by turn, and what each changed
and said. New snapshots appear while an agent works. A snapshot is restored, of it
all or some paths, forked from, and its files are opened as they were. A mission is
stopped, resumed, renamed and removed; forks are compared, also those of a contest; one is
promoted, merged, or reports to its parent. Each key shows first what it would do. The keys are listed by ?.`,
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
	var ending endings
	o := tui.Options{
		Service: svc, Caller: caller, In: c.Stdin, Out: c.Stdout, Environ: c.Environ(), Color: c.Out.Color,
		Palette: c.Out.Palette, Now: c.Now, Words: timelineWords(c), Open: open, Stopped: c.Unwritten,
		About:   wording.About,
		Checked: func(m missions.Mission) *missions.Check { return contests.Kept(c, m) },
		Page:    func(text string) error { return pageText(c, text) },
		EndMerge: func(ctx context.Context, into string, flags ...string) []string {
			said := []string{"the timeline was left: the merge waits"}
			ending.do(func() { said = endMerge(ctx, c, into, flags) })
			return said
		},
		EditMerged: func(q missions.MergedPath) (content []byte, err error) {
			err = c.Aside(func() (err error) {
				content, err = merges.Edited(c, q)
				return err
			})
			return content, err
		},
		KeepEdited: merges.Keep,
	}
	if name := c.Arg(0); name != "" || caller.Mission != "" {
		m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: name})
		if err == nil {
			err = m.CheckOwn()
		}
		if err != nil {
			return err
		}
		o.Mission = m.ID
	}
	launch, err := tui.Run(ctx, o)
	ending.wait() // it was interrupted, and removes what it has made
	if err != nil || launch == nil {
		return err
	}
	return keepLaunched(c, caller, *launch)
}

// keepLaunched becomes the keeper of an agent that was launched in the timeline.
func keepLaunched(c *call.Call, caller missions.Caller, l tui.Launch) error {
	if err := c.Close(); err != nil {
		return err
	}
	c.Reach = call.Staying
	if l.Forked != nil {
		forks.TellForked(c, *l.Forked)
		keeper.Announce(c, l.Mission)
	}
	return keeper.Keep(c, missions.LaunchRequest{Caller: caller, Mission: l.Mission.ID, Resume: l.Forked == nil}, keeper.Variables{})
}

// timelineWords is how the commands put things.
func timelineWords(c *call.Call) tui.Words {
	return tui.Words{
		Clean: print.Clean, Path: print.Path, Count: print.Count, Short: print.Short,
		Place: func(path string) string { return print.Clean(fromHome(c, path)) },
		Plan: func(did string, r missions.RestoreResult) []string {
			r.Workspace = fromHome(c, r.Workspace)
			return written(c, func(p *print.Printer) { restores.WriteOutcome(p, did, r) })
		},
		Promoted: func(r missions.PromoteResult) []string {
			r.Workspace = fromHome(c, r.Workspace)
			return written(c, func(p *print.Printer) {
				restores.WritePromoted(p, r)
				if len(r.Forks) > 0 {
					p.Line("%s", print.Clean(mission.ForksLeft(r.Forks)))
				}
			})
		},
		Differences: func(forks []missions.ComparedFork) []string {
			return written(c, func(p *print.Printer) { contests.WriteDifferences(p, forks) })
		},
		Merged: func(r missions.MergeResult) []string {
			return written(c, func(p *print.Printer) { merges.WriteResult(p, r) })
		},
		MergeAnswers: mergeAnswers,
		MergeTexts: func(q missions.MergedPath) []string {
			return written(c, func(p *print.Printer) { merges.WriteTexts(p, q) })
		},
		MergeProposal: func(p missions.MergeProposal) string { return print.Clean(merges.SayProposal(p)) },
		Forked: func(r missions.ForkResult) []string {
			return written(c, func(p *print.Printer) {
				forks.WriteForked(p, r)
				p.Line("to launch its agent: umbra mission resume %s", print.Clean(r.Missions[0].Name))
			})
		},
		Removed: func(r missions.RemoveResult, what string) []string {
			return written(c, func(p *print.Printer) { mission.WriteRemoval(p, r, what) })
		},
		Reported: func(r missions.ReportResult) []string {
			return written(c, func(p *print.Printer) { updates.WriteReported(p, r) })
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
