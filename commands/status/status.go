// Package status says what runs here: whole, in one line for an agent's status line, and in
// a few words for a shell's prompt, which waits for nothing.
package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

func Command() *call.Verb {
	var line, prompt bool
	return &call.Verb{
		Name: "status", Short: "what runs here, the last snapshot, and what is wrong",
		Flags: []flags.Flag{
			flags.Bool("statusline", "in one line; for a Claude Code that gives its JSON on stdin, its mission", &line),
			flags.Bool("prompt", "for a shell's prompt: the missions here, at once, nothing where there is none, and no error", &prompt),
		},
		Run: func(c *call.Call) error { return runStatus(c, line, prompt) },
	}
}

func runStatus(c *call.Call, line, prompt bool) error {
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
			return agentStatusLine(c, r)
		}
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	s, err := svc.Status(ctx, missions.StatusRequest{Caller: caller})
	if err != nil {
		return err
	}
	s.Missions, s.Problems = call.Listed(s.Missions), call.Listed(s.Problems)
	if line {
		return c.Print(s, func(p *print.Printer) { p.Line("%s", statusLine(p, s)) })
	}
	return c.Print(s, func(p *print.Printer) { writeStatus(p, s) })
}

func writeStatus(p *print.Printer, s missions.Status) {
	switch {
	case s.Daemon != nil && s.Daemon.Running:
		p.Folded(fmt.Sprintf("daemon: running (pid %d), %s live", s.Daemon.PID, print.Count(s.Daemon.Missions, "mission")))
	case s.Daemon != nil && s.Daemon.Hangs:
		p.Folded("daemon: it does not answer, this process did the work")
	default:
		p.Folded("daemon: none, this process did the work")
	}
	if s.Project != nil {
		p.PathLine("project: "+print.Clean(s.Project.Name)+" (", print.Clean(s.Project.Path), ")")
	} else {
		p.Folded("project: none here; begin with: umbra mission new")
	}
	var t print.Table
	for _, m := range s.Missions {
		wording.Row(&t, p, "", m, false)
	}
	t.Print(p, "  ")
	for _, m := range s.Missions {
		if m.PendingAction != "" {
			p.Folded("to come: " + print.Clean(m.Name) + ": " + print.Clean(m.PendingAction))
		}
		if n := m.PendingUpdates; n > 0 {
			p.Folded("to be told: " + print.Clean(m.Name) + ": " + print.Clean(wording.WaitingUpdates(n, m.Name)))
		}
		for _, note := range m.Notes {
			p.Folded("note: " + print.Clean(m.Name) + ": " + print.Clean(note))
		}
	}
	writeOverlaps(p, s.Overlaps)
	if e := s.LastSnapshot; e != nil {
		said, at, when := "last snapshot: ", print.Clean(e.Address), p.When(e.At)
		p.Line("%s%s %s %s", said, p.Paint(print.Cyan, at), when, p.Rest(print.Clean(e.Words()), said, at, when, "  "))
	}
	for _, w := range s.Walks {
		writeWalks(p, w)
	}
	for _, u := range s.Unread {
		left := ": " + print.Count(u.Files, "file") + " left that Git described and nobody has read yet"
		if p.Terminal {
			left = ": " + print.Count(u.Files, "file") + " left"
		}
		p.PathLine("reading ", print.Clean(u.Workspace), left)
	}
	for _, o := range s.LeftOut {
		writeLeftOut(p, o)
	}
	for _, out := range s.RuledOut {
		p.Folded(print.Clean(out.Mission + ": " + out.Sentence()))
	}
	for _, w := range s.Withheld {
		p.Folded(print.Clean(w.Mission + ": " + w.Sentence()))
	}
	for _, e := range s.Expiring {
		p.Folded(fmt.Sprintf("about to be deleted: %s of %s that no mission keeps, within a week (after %s); umbra import keeps those that it can",
			print.Count(e.Sessions, "session"), print.Clean(e.Agent), print.Count(e.KeptDays, "day")))
	}
	if d := s.DailyImport; d != nil && d.Problem != "" {
		p.Marked(print.Red, "sessions not imported:", print.Clean(d.Problem)+", last done "+p.When(d.LookedAt)+"; "+print.Clean(cmp.Or(d.Fix, "umbra import")))
	}
	if d := s.DailyImport; d != nil && len(d.LeftOut) > 0 {
		one := d.LeftOut[len(d.LeftOut)-1]
		p.Folded(print.Clean(fmt.Sprintf("left out by the daily import: %s, the newest of %s in %s: %s; umbra import tries again, and lists them",
			print.Count(len(d.LeftOut), "session"), one.Agent, one.Directory, one.Reason)))
	}
	for _, push := range s.Pushes {
		if push.Problem != "" {
			p.Marked(print.Red, "not pushed:", print.Clean(fmt.Sprintf("%s to %s: %s; in %s: %s", push.Project, push.Remote, push.Problem, push.Path, push.Fix)))
		}
	}
	writeRoom(p, s)
	if s.Daemon != nil {
		writeHousekeeping(p, s.Daemon.Housekeeping)
	}
	wording.Problems(p, s.Problems)
}

// writeRoom says what goes by itself, and when there is little room left.
func writeRoom(p *print.Printer, s missions.Status) {
	for _, pruning := range s.Prunings {
		if pruning.Waiting > 0 || pruning.Problem != "" || s.Project != nil && s.Project.ID == pruning.ProjectID {
			p.Folded(print.Clean(wording.Pruning(p, pruning)))
		}
	}
	if b := s.Budget; b != nil && !b.IsReached() { // else it is a problem
		p.Folded(wording.Budget(p, *b) + " (umbra du says what could be given back, and by which command)")
	}
	if t := s.Tightening; t != nil && (s.Budget != nil || t.Problem != "") {
		p.Folded(print.Clean(wording.Tightening(p, *t)))
	}
	if e := s.TrashExpiry; e != nil && (e.Waiting > 0 || e.Problem != "") {
		p.Folded(print.Clean(wording.TrashExpiry(p, *e)))
	}
	if e := s.ForkExpiry; e != nil && (len(e.Waiting) > 0 || e.Problem != "") {
		p.Folded(print.Clean(wording.ForkExpiry(p, *e)))
	}
}

// writeHousekeeping says what was done last where it was done well.
func writeHousekeeping(p *print.Printer, list []missions.Housekeeping) {
	for _, h := range list {
		if h.Mended != "" {
			p.Marked(print.Green, "mended:", print.Clean(h.Project)+": "+print.Clean(h.Mended))
		}
	}
	for _, h := range list {
		if h.Problem == "" {
			p.Folded(fmt.Sprintf("housekeeping: %s packed in %s, %s freed, %s",
				print.Count(h.Packed, "object"), print.Clean(h.Project), print.Size(max(0, h.FreedBytes)), p.When(h.At)))
			return
		}
	}
}

// writeOverlaps says where live forks have changed the same lines, before anybody merges
// them.
func writeOverlaps(p *print.Printer, list []missions.Overlap) {
	const most = 10
	for i, o := range list {
		if i == most {
			p.Folded(fmt.Sprintf("same lines: in %s more", print.Count(len(list)-most, "file")))
			return
		}
		var lines []string
		for _, l := range o.Lines {
			if l.From == l.To {
				lines = append(lines, fmt.Sprint(l.From))
				continue
			}
			lines = append(lines, fmt.Sprintf("%d–%d", l.From, l.To))
		}
		where := ""
		if len(lines) > 0 {
			where = " (" + strings.Join(lines, ", ") + ")"
		}
		p.Folded("same lines: " + print.Path(o.Path) + where + " in " + print.Clean(strings.Join(o.Missions, ", ")) +
			" (umbra compare --diff " + print.Clean(strings.Join(o.Missions, " ")) + ")")
	}
}

// writeLeftOut prints the paths that .umbra.yml keeps out of a mission's snapshots.
func writeLeftOut(p *print.Printer, o missions.LeftOutFiles) {
	names := make([]string, len(o.Paths))
	for i, path := range o.Paths {
		names[i] = print.Clean(path)
	}
	if more := o.Files - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	p.Folded("left out of " + print.Clean(o.Mission) + " by " + print.Clean(o.File) + ": " + strings.Join(names, ", "))
}

// writeWalks prints how often a workspace was walked, and how many missed changes that found.
// On a terminal it leaves out the reason of the last walk.
func writeWalks(p *print.Printer, w missions.WorkspaceWalks) {
	found := "nothing missed"
	if w.Corrected > 0 {
		found = print.Count(w.Corrected, "change") + " that no event told of"
	}
	last := ""
	if w.Count > 0 {
		last = ", the last " + p.When(w.LastAt)
		if !p.Terminal {
			last += " (" + print.Clean(w.LastWhy) + ")"
		}
	}
	p.PathLine("checked ", print.Clean(w.Workspace), ": "+print.Count(w.Count, "walk")+last+"; "+found)
}

// statusLine is for prompts and status bars.
func statusLine(p *print.Printer, s missions.Status) string {
	var parts []string
	for _, m := range s.Missions {
		if hasTerminal(m) {
			parts = append(parts, p.Paint(wording.StateStyle(m.State), stateWords(m)+" "+newestAt(m.HeadAddress, m.Name, m.Turn)+forkWords(m)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no mission")
	}
	if s.StoppedReason != "" {
		parts = append(parts, notSaving(p, s.StoppedReason))
	}
	if n := len(s.Problems); n > 0 {
		parts = append(parts, p.Paint(print.Red, print.Count(n, "problem")))
	}
	return strings.Join(parts, " · ")
}
