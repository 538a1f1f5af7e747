package demo

import (
	"fmt"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions/home"
)

// tillMission is the mission of the longer demo.
const tillMission = "till"

// tellLong is the longer story: many turns, of which one has broken something.
func (d *demo) tellLong() error {
	story := tillStory()
	d.say("An agent is asked for %d things. The last is a test, which fails.", len(story))
	agent, err := d.launch("mission", "new", "--name", tillMission)
	defer agent.leave()
	for _, turn := range story {
		if err != nil {
			return err
		}
		err = d.converse(told{agent, turn.prompt})
	}
	if err != nil {
		return err
	}
	return agent.leave()
}

// farewellLong says how the turn is found that broke the test, and leaves that to its reader.
func (d *demo) farewellLong() {
	p := d.c.Out
	p.Line("\n%s", p.Paint(print.BoldCyan, "Which turn has broken the test? Begin with these two lines, then look for it:"))
	d.suggest(d.beginLines()...)
	p.Line("In the timeline, with keys; ? lists them all, q ends it:")
	d.suggest(suggestion{"umbra timeline " + tillMission, "its turns, with what each changed"})
	for _, key := range [][2]string{
		{"Z", "a line for each turn; j and k go from one to the next"},
		{"/", "then path:total.sh and enter: the turns that changed it; or a word"},
		{"b", "which turn wrote each line of the file that is shown"},
		{"f", "fork at the turn; enter restores it"},
	} {
		p.Line("    %s  %s", p.Paint(print.Cyan, key[0]), p.Paint(print.Dim, key[1]))
	}
	p.Line("Or by commands:")
	d.suggest(
		suggestion{"umbra log " + tillMission, "its turns, and what each was asked for"},
		suggestion{"umbra search 'ten percent'", "where that was asked for"},
		suggestion{"umbra blame total.sh", "which turn wrote each line"},
		suggestion{"umbra bisect --good " + tillMission + "@1 -- " + runTests, "run the test on turns, in their own workspaces"},
	)
	p.Line("When you have found it, umbra fork and umbra restore take the turn before it.\nWhen you have seen enough:")
	d.suggest(d.endLine())
}

// suggestion is a command to type, and what it is for.
type suggestion struct{ command, what string }

// beginLines make the demo's commands work in a shell.
func (d *demo) beginLines() []suggestion {
	return []suggestion{{command: ". " + home.ShellQuote(d.at.path("env"))}, {command: "cd " + home.ShellQuote(d.at.workspace)}}
}

// endLine takes away all that the demo has made, also what the shell has of it.
func (d *demo) endLine() suggestion {
	return suggestion{". " + home.ShellQuote(d.at.path("leave")), "remove the demo; your shell is as before"}
}

// suggest prints commands. Each line works as it stands, and is never cut.
func (d *demo) suggest(list ...suggestion) {
	p, width := d.c.Out, 30
	for _, s := range list {
		if s.what != "" {
			width = max(width, len(s.command))
		}
	}
	for _, s := range list {
		text := s.command
		if s.what != "" {
			text = fmt.Sprintf("%-*s", width+2, text)
		}
		p.Line("  %s%s", p.Paint(print.Cyan, text), p.Paint(print.Dim, s.what))
	}
}
