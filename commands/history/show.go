package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/webpage"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

func Show() *call.Verb {
	var (
		o    changeOptions
		page string
	)
	return &call.Verb{
		Name: "show", Args: "MOMENT", Min: 1, Max: 1, After: "[-- PATH…]",
		Short: "show a snapshot: what was asked, what was said, what changed",
		Flags: append(o.flags(), webpage.Flag(&page)),
		Run:   func(c *call.Call) error { return runShow(c, o, page) },
	}
}

func runShow(c *call.Call, o changeOptions, page string) error {
	if err := cmp.Or(o.check(), webpage.Check(c, page)); err != nil {
		return err
	}
	o = o.orLines()
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	s, err := svc.Show(ctx, missions.ShowRequest{Caller: caller, Moment: c.Arg(0), Brief: !o.lines(), Paths: c.After, Tolerant: true})
	if err != nil {
		return err
	}
	switch {
	case page != "":
		made, err := snapshotPage(s, o, &webpage.Source{Ctx: ctx, Service: svc, Caller: caller}, c.After)
		if err != nil {
			return err
		}
		return endLost(c, s.Lost, webpage.Save(c, page, made))
	case c.JSON:
		return endLost(c, s.Lost, c.PrintJSON(s))
	}
	err = c.Paged("show", func(p *print.Printer) { describeSnapshot(p, s, o) })
	sayUnpaired(c, s.Unpaired)
	return endLost(c, s.Lost, err)
}

func describeSnapshot(p *print.Printer, s missions.ShowResult, o changeOptions) {
	e := s.Entry
	p.Line("%s", p.Paint(print.Yellow, "snapshot "+e.ID))
	var t print.Table
	field := func(name, value string) {
		if value != "" {
			t.Row(print.Dim.Cell(name), print.Plain.Cell(print.Clean(value)))
		}
	}
	field("address", e.Address)
	field("mission", e.MissionName)
	field("state", e.StateWords())
	field("trigger", strings.Join(e.Triggers, " "))
	if !e.At.IsZero() {
		at := e.At.Format(time.RFC3339)
		if p.Terminal {
			at = e.At.Local().Format("Mon 2006-01-02 15:04:05 -0700") + ", " + p.When(e.At)
		}
		field("at", at)
	}
	field("turn", fmt.Sprint(e.Turn))
	field("changes", wording.Changes(e))
	field("git", strings.TrimSpace(s.Git.Branch+" "+print.Short(s.Git.Head)+" "+s.Git.Operation))
	field("session", e.SessionID)
	field("pins", strings.Join(e.Pins, " "))
	origin := func(how, id string) {
		if id != "" {
			field(how, cmp.Or(s.From, print.Short(id)))
		}
	}
	origin("restored from", e.RestoredFrom)
	origin("forked from", e.ForkedFrom)
	origin("promoted from", e.PromotedFrom)
	t.Print(p, "")
	p.Line("\n    %s", print.Clean(missions.LabelOf(e).String())+takenBackMark(e.TakenBack))
	if s.Prompt != "" {
		p.Line("")
		for line := range strings.SplitSeq(s.Prompt, "\n") {
			p.Line("    %s", p.Paint(print.Bold, print.Clean(line)))
		}
	}
	if e.Typed != "" {
		p.Line("\n    typed while it worked:")
		for line := range strings.SplitSeq(e.Typed, "\n") {
			p.Line("    %s", p.Paint(print.Bold, print.Clean(line)))
		}
	}
	print.WriteKept(p, "left out", s.Skipped)
	for i, path := range s.Changing {
		if i == 0 {
			p.Line("\nwas changing while it was read:")
		}
		p.Line("  %s", print.Path(path))
	}
	for i, path := range s.Displaced {
		if i == 0 {
			p.Line("\nwritten by another program while it was restored (umbra cat %s --displaced PATH prints it):", print.Clean(e.Address))
		}
		p.Line("  %s", print.Path(path))
	}
	wording.Conversation(p, s.Conversation)
	print.WriteNotTakenUp(p, s.NotTakenUp)
	if len(s.Files) > 0 {
		p.Line("")
		o.write(p, e.Parent, s.Files, s.Patch)
	}
}
