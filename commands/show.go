package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

func showCommand() *verb {
	var o changeOptions
	return &verb{
		name: "show", args: "MOMENT", min: 1, max: 1, after: "[-- PATH…]",
		short: "show a snapshot: what was asked, what was said, what changed",
		flags: o.flags(),
		run:   func(c *call) error { return runShow(c, o) },
	}
}

func runShow(c *call, o changeOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	o = o.orLines()
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	s, err := svc.Show(ctx, missions.ShowRequest{Caller: caller, Moment: c.arg(0), Brief: !o.lines(), Paths: c.after})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(s)
	}
	err = c.paged("show", func(p *printer) { describeSnapshot(p, s, o) })
	c.sayUnpaired(s.Unpaired)
	return err
}

func describeSnapshot(p *printer, s missions.ShowResult, o changeOptions) {
	e := s.Entry
	p.line("%s", p.paint(yellow, "snapshot "+e.ID))
	var t table
	field := func(name, value string) {
		if value != "" {
			t.row(cell{name, dim}, cell{clean(value), plain})
		}
	}
	field("address", e.Address)
	field("mission", e.MissionName)
	field("state", string(e.State))
	field("trigger", strings.Join(e.Triggers, " "))
	if !e.At.IsZero() {
		at := e.At.Format(time.RFC3339)
		if p.terminal {
			at = e.At.Local().Format("Mon 2006-01-02 15:04:05 -0700") + ", " + p.when(e.At)
		}
		field("at", at)
	}
	field("turn", fmt.Sprint(e.Turn))
	field("changes", changes(e))
	field("git", strings.TrimSpace(s.Git.Branch+" "+short(s.Git.Head)+" "+s.Git.Operation))
	field("session", e.SessionID)
	field("pins", strings.Join(e.Pins, " "))
	field("restored from", e.RestoredFrom)
	field("forked from", e.ForkedFrom)
	t.print(p, "")
	p.line("\n    %s", clean(e.Message))
	if s.Prompt != "" {
		p.line("")
		for line := range strings.SplitSeq(s.Prompt, "\n") {
			p.line("    %s", p.paint(bold, clean(line)))
		}
	}
	writeKept(p, "left out", s.Skipped)
	for i, path := range s.Changing {
		if i == 0 {
			p.line("\nwas changing while it was read:")
		}
		p.line("  %s", quotePath(path))
	}
	writeConversation(p, s.Conversation)
	writeNotTakenUp(p, s.NotTakenUp)
	if len(s.Files) > 0 {
		p.line("")
		o.write(p, e.Parent, s.Files, s.Patch)
	}
}

func writeConversation(p *printer, said []missions.ConversationLine) {
	for i, s := range said {
		if i == 0 {
			p.line("")
		}
		tone := plain
		switch s.Role {
		case "user":
			tone = bold
		case "tool":
			tone = dim
		}
		for n, line := range strings.Split(strings.TrimRight(s.Text, "\n"), "\n") {
			who := ""
			if n == 0 {
				who = clean(s.Role)
			}
			p.line("%-10s %s", who, p.paint(tone, clean(line)))
		}
	}
}

func writeKept(p *printer, title string, list []missions.PathReason) {
	if len(list) == 0 {
		return
	}
	p.line("\n%s:", title)
	var t table
	for _, k := range missions.FoldPaths(list) {
		t.row(cell{quotePath(k.Path), plain}, cell{clean(k.Words()), dim})
	}
	t.print(p, "  ")
}
