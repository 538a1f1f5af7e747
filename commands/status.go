package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func statusCommand() *verb {
	var line, prompt bool
	return &verb{
		name: "status", short: "what runs here, the last snapshot, and what is wrong",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "statusline", Usage: "in one line; for a Claude Code that gives its JSON on stdin, its mission", Destination: &line},
			&cli.BoolFlag{Name: "prompt", Usage: "for a shell's prompt: the missions here, at once, nothing where there is none, and no error", Destination: &prompt},
		},
		run: func(c *call) error { return runStatus(c, line, prompt) },
	}
}

func runStatus(c *call, line, prompt bool) error {
	if prompt && (line || c.JSON) {
		return missions.Errorf(missions.KindUsage, "choose one", "--prompt contradicts --statusline and --json")
	}
	if prompt {
		showPrompt(c.Env, c.Globals)
		return nil
	}
	if line && c.JSON {
		return missions.Errorf(missions.KindUsage, "choose one", "--statusline and --json contradict each other")
	}
	if line && !c.IsTerminal(c.Stdin) {
		if _, r, ok := statusLineRequest(c.Env); ok {
			return c.agentStatusLine(r)
		}
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	s, err := svc.Status(ctx, missions.StatusRequest{Caller: caller})
	if err != nil {
		return err
	}
	s.Missions, s.Problems = listed(s.Missions), listed(s.Problems)
	if line {
		return c.print(s, func(p *printer) { p.line("%s", statusLine(p, s)) })
	}
	return c.print(s, func(p *printer) { writeStatus(p, s) })
}

func writeStatus(p *printer, s missions.Status) {
	switch {
	case s.Daemon != nil && s.Daemon.Running:
		p.folded(fmt.Sprintf("daemon: running (pid %d), %s live", s.Daemon.PID, count(s.Daemon.Missions, "mission")))
	case s.Daemon != nil && s.Daemon.Hangs:
		p.folded("daemon: it does not answer, this process did the work")
	default:
		p.folded("daemon: none, this process did the work")
	}
	if s.Project != nil {
		p.pathLine("project: "+clean(s.Project.Name)+" (", clean(s.Project.Path), ")")
	} else {
		p.folded("project: none here; begin with: umbra mission new")
	}
	var t table
	for _, m := range s.Missions {
		missionRow(&t, p, "", m, false)
	}
	t.print(p, "  ")
	for _, m := range s.Missions {
		if m.PendingAction != "" {
			p.folded("to come: " + clean(m.Name) + ": " + clean(m.PendingAction))
		}
		for _, note := range m.Notes {
			p.folded("note: " + clean(m.Name) + ": " + clean(note))
		}
	}
	if e := s.LastSnapshot; e != nil {
		said, at, when := "last snapshot: ", clean(e.Address), p.when(e.At)
		p.line("%s%s %s %s", said, p.paint(cyan, at), when, p.rest(clean(e.Message), said, at, when, "  "))
	}
	for _, w := range s.Walks {
		writeWalks(p, w)
	}
	for _, u := range s.Unread {
		left := ": " + count(u.Files, "file") + " left that Git described and nobody has read yet"
		if p.terminal {
			left = ": " + count(u.Files, "file") + " left"
		}
		p.pathLine("reading ", clean(u.Workspace), left)
	}
	for _, o := range s.LeftOut {
		writeLeftOut(p, o)
	}
	for _, out := range s.RuledOut {
		p.folded(clean(out.Mission + ": " + out.Sentence()))
	}
	if s.Daemon != nil {
		writeHousekeeping(p, s.Daemon.Housekeeping)
	}
	writeProblems(p, s.Problems)
}

// writeHousekeeping says what was done last where it was done well.
func writeHousekeeping(p *printer, list []missions.Housekeeping) {
	for _, h := range list {
		if h.Mended != "" {
			p.marked(green, "mended:", clean(h.Project)+": "+clean(h.Mended))
		}
	}
	for _, h := range list {
		if h.Problem == "" {
			p.folded(fmt.Sprintf("housekeeping: %s packed in %s, %s freed, %s", count(h.Packed, "object"), clean(h.Project), size(max(0, h.FreedBytes)), p.when(h.At)))
			return
		}
	}
}

// writeLeftOut says what a project's own file keeps out of a mission's snapshots.
func writeLeftOut(p *printer, o missions.LeftOutFiles) {
	names := make([]string, len(o.Paths))
	for i, path := range o.Paths {
		names[i] = clean(path)
	}
	if more := o.Files - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	p.folded("left out of " + clean(o.Mission) + " by " + clean(o.File) + ": " + strings.Join(names, ", "))
}

// writeWalks says how often a workspace was walked, and what came of it; in fewer
// words on a terminal.
func writeWalks(p *printer, w missions.WorkspaceWalks) {
	found := "no change that no event had told of"
	if w.Corrected > 0 {
		found = count(w.Corrected, "change") + " found that no event had told of"
	}
	last := ""
	if w.Count > 0 {
		last = fmt.Sprintf(", the last %s (%s)", p.when(w.LastAt), clean(w.LastWhy))
	}
	if !p.terminal {
		p.line("checked %s: %s%s; %s", clean(w.Workspace), count(w.Count, "walk"), last, found)
		return
	}
	found = "nothing missed"
	if w.Corrected > 0 {
		found = count(w.Corrected, "change") + " that no event told of"
	}
	if w.Count > 0 {
		last = ", the last " + p.when(w.LastAt)
	}
	p.pathLine("checked ", clean(w.Workspace), ": "+count(w.Count, "walk")+last+"; "+found)
}

// statusLine is for prompts and status bars.
func statusLine(p *printer, s missions.Status) string {
	var parts []string
	for _, m := range s.Missions {
		if m.State != missions.StateClosed {
			parts = append(parts, p.paint(stateStyle(m.State), string(m.State)+" "+newestAt(m.HeadAddress, m.Name, m.Turn)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no mission")
	}
	if s.StoppedReason != "" {
		parts = append(parts, notSaving(p, s.StoppedReason))
	}
	if n := len(s.Problems); n > 0 {
		parts = append(parts, p.paint(red, count(n, "problem")))
	}
	return strings.Join(parts, " · ")
}

func writeProblems(p *printer, list []missions.Problem) {
	for _, problem := range list {
		var where []string
		for _, w := range []string{problem.Invariant, problem.Project, problem.Mission} {
			if w != "" {
				where = append(where, clean(w))
			}
		}
		said := clean(problem.Message)
		if len(where) > 0 {
			said = strings.Join(where, " ") + ": " + said
		}
		p.marked(red, "problem:", said)
		if problem.Fix != "" {
			p.command("  to mend it:", clean(problem.Fix))
		}
	}
}
