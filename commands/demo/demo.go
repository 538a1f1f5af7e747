// Package demo shows what Umbra does, with the commands themselves and with an agent that
// follows a script. It touches nothing outside the directory that it makes.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

func Command() *call.Verb {
	var long bool
	return &call.Verb{
		Name: "demo", Short: "show what Umbra does, in a temporary directory, with a scripted agent",
		Long: `Clones Umbra's own repository if it is run in one, else makes a small one, and
lets an agent that follows a script work there: Umbra's commands are shown as
they are typed. Nothing outside the directory that it names is touched, and
nothing needs to be installed but git.
With --long the agent has many turns in a small repository, one of which breaks a test: find
it, in the timeline or by commands.`,
		Flags: []flags.Flag{flags.Bool("long", "many turns, one of which breaks a test: find it", &long)},
		Run:   func(c *call.Call) error { return runDemo(c, long) },
	}
}

// demo tells its story with the commands themselves, run as a person would.
type demo struct {
	c    *call.Call
	at   demoHome
	long bool
	step int
	seen map[string]bool // snapshots that were shown
}

func runDemo(c *call.Call, long bool) error {
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "the demo is to be read by people")
	}
	at, err := makeDemoHome(c, long)
	if err != nil {
		return err
	}
	d := &demo{c: c, at: at, long: long, seen: map[string]bool{}}
	c.Out.Line("%s  Everything happens below %s", c.Out.Paint(print.BoldCyan, "Umbra, a demo."), c.Out.Paint(print.Bold, at.dir))
	c.Out.Line("An agent that follows a script stands in for Claude Code, in %s.", at.origin)
	tell, farewell := d.tell, d.farewell
	if long {
		tell, farewell = d.tellLong, d.farewellLong
	}
	if err := errors.Join(tell(), d.stopDaemon()); err != nil {
		c.Out.Line("\nThe demo ended early. What it made is in %s", at.dir)
		return errors.Join(err, c.Out.Flush())
	}
	farewell()
	return c.Out.Flush()
}

// tell is the story.
func (d *demo) tell() error {
	first, err := d.beginWork()
	defer first.leave() // also one whose launch was interrupted
	if err != nil {
		return err
	}
	second, err := d.forkPast()
	defer second.leave()
	if err != nil {
		return err
	}
	if err := d.bothGoOn(first, second); err != nil {
		return err
	}
	if err := d.restoreAndUndo(); err != nil {
		return err
	}
	return d.showGit()
}

// The missions of the story, and the snapshot that both begin from.
const (
	demoMission = "demo"
	demoFork    = "french"
	demoMoment  = demoMission + "@2"
)

func (d *demo) beginWork() (*demoAgent, error) {
	d.say("An agent works. Each change of its state becomes a snapshot (●).")
	agent, err := d.launch("mission", "new", "--name", demoMission)
	if err != nil {
		return agent, err
	}
	for _, prompt := range []string{promptWrite, promptNames} {
		if err := d.converse(told{agent, prompt}); err != nil {
			return agent, err
		}
	}
	d.say("It is asked for one thing more, and does too much of it.")
	return agent, d.converse(told{agent, promptSimplify})
}

func (d *demo) forkPast() (*demoAgent, error) {
	d.say("Fork it at turn 2, files and conversation, into a workspace of its own.")
	return d.launch("fork", demoMoment, "--name", demoFork)
}

func (d *demo) bothGoOn(first, second *demoAgent) error {
	d.say("Both are live, each with its own files and memory: 4 prompts, 3 in the fork.")
	if err := d.converse(told{first, promptShout}, told{second, promptFrench}); err != nil {
		return err
	}
	if err := d.run("mission", "ls", "--tree"); err != nil {
		return err
	}
	return errors.Join(first.leave(), second.leave())
}

func (d *demo) restoreAndUndo() error {
	d.say("Restore the first to where they parted: its files, and what it remembers.")
	if err := d.run("diff", demoMoment, demoMission, "--name-status"); err != nil {
		return err
	}
	if err := d.run("restore", demoMoment); err != nil {
		return err
	}
	agent, err := d.launch("mission", "resume", demoMission)
	if err == nil {
		err = agent.leave()
	}
	if err != nil {
		return err
	}
	d.say("Undo that: what the restore took back is there again.")
	return d.run("undo", demoMission)
}

func (d *demo) showGit() error {
	d.say("All of it is Git: a branch for each mission, a commit for each snapshot.")
	return d.run("git", "log", "--graph", "--oneline", "--decorate", demoMission, demoFork)
}

// stopDaemon leaves nothing running, also when the demo was interrupted.
func (d *demo) stopDaemon() error {
	args := []string{"daemon", "stop", "--quiet"}
	cmd := exec.CommandContext(context.WithoutCancel(d.c.Context), d.at.umbra, args...)
	cmd.Dir, cmd.Env = d.at.dir, d.at.env
	return d.judge(args, d.c.Run(cmd))
}

// say begins a step.
func (d *demo) say(format string, args ...any) {
	d.step++
	p := d.c.Out
	p.Line("\n%s %s", p.Paint(print.BoldCyan, fmt.Sprintf("%d.", d.step)), p.Paint(print.Bold, fmt.Sprintf(format, args...)))
}

// typed shows a command as a person would type it, before it runs.
func (d *demo) typed(args []string) error {
	d.c.Out.Line("%s", d.c.Out.Paint(print.Cyan, "$ umbra "+home.ShellCommand(args)))
	return d.c.Out.Flush()
}

// run runs a command of Umbra's and shows what it prints, on the user's own
// terminal if there is one.
func (d *demo) run(args ...string) error {
	if err := d.typed(args); err != nil {
		return err
	}
	cmd := d.command(args)
	cmd.Stdout, cmd.Stderr = d.c.Stdout, d.c.Stderr
	return d.judge(args, d.c.Run(cmd))
}

func (d *demo) command(args []string) *exec.Cmd {
	cmd := exec.CommandContext(d.c.Context, d.at.umbra, args...)
	cmd.Dir, cmd.Env = d.at.workspace, d.at.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // a keeper passes it on
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// judge explains a command that went wrong.
func (d *demo) judge(args []string, err error) error {
	switch {
	case err == nil:
		return nil
	case d.c.Context.Err() != nil:
		return context.Canceled
	}
	return missions.Errorf(missions.KindFailed, "umbra doctor --home "+filepath.Join(d.at.dir, "umbra-home"),
		"umbra %s: %w", strings.Join(args, " "), err)
}

// showSnapshots shows those of a mission that are new since it was called last.
func (d *demo) showSnapshots(mission string) error {
	args := []string{"log", mission, "--json"}
	out, err := d.command(args).Output()
	if err != nil {
		return d.judge(args, err)
	}
	var list []missions.Entry
	if err := json.Unmarshal(out, &list); err != nil {
		return fmt.Errorf("read umbra log: %w", err)
	}
	p := d.c.Out
	var t print.Table
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		if d.seen[e.ID] {
			continue
		}
		d.seen[e.ID] = true
		t.Row(print.Green.Cell("●"), print.Cyan.Cell(print.Clean(e.Address)), print.Yellow.Cell(print.Short(e.ID)),
			wording.StateStyle(e.State).Cell(e.StateWords()),
			wording.ChangesStyle(e).Cell(wording.Changes(e)), print.Plain.Cell(print.Clean(e.Words())))
	}
	t.Print(p, "    ")
	return p.Flush()
}

// farewell says what can be typed now.
func (d *demo) farewell() {
	p := d.c.Out
	p.Line("\n%s", p.Paint(print.BoldCyan, "It is all still there. Begin with these two lines, then type what you like:"))
	d.suggest(d.beginLines()...)
	d.suggest(
		suggestion{"umbra log " + demoMission, "its snapshots, by turn"},
		suggestion{"umbra show " + demoFork + "@3", "one turn: what was said and done"},
		suggestion{"umbra diff " + demoMoment + " " + demoFork, "what the fork did"},
		suggestion{"umbra fork " + demoMission + "@1 --name mine", "another fork: talk to it, exit ends it"},
		suggestion{"umbra mission resume " + demoMission, "go on where the undo left it"},
		suggestion{"umbra git log -p " + demoFork, "plain git, with diffs"},
		suggestion{"umbra doctor", "check every invariant"},
	)
	p.Line("When you have seen enough:")
	d.suggest(d.endLine())
}
