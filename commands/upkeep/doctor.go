// Package upkeep has the verbs that keep Umbra's home: checks, disk usage, the trash, and what
// to do about a captured secret.
package upkeep

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

type doctorOptions struct{ rebuild, fix, known bool }

func Doctor() *call.Verb {
	var o doctorOptions
	return &call.Verb{
		Name: "doctor", Short: "check every invariant, and say what to type where one does not hold",
		Long: "Exit code 13 if something is wrong.",
		Flags: []flags.Flag{
			flags.Bool("rebuild", "make the index again from the refs", &o.rebuild),
			flags.Bool("fix", "mend what can be mended without losing anything", &o.fix),
			flags.Bool("known", "from now on only note what is wrong now", &o.known),
		},
		Run: func(c *call.Call) error { return runDoctor(c, o) },
	}
}

func runDoctor(c *call.Call, o doctorOptions) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := svc.Doctor(ctx, missions.DoctorRequest{Caller: caller, Rebuild: o.rebuild, Fix: o.fix, Known: o.known})
	if err != nil {
		return err
	}
	r.Problems, r.Fixed, r.Checked = call.Listed(r.Problems), call.Listed(r.Fixed), call.Listed(r.Checked)
	if err := c.Print(r, func(p *print.Printer) { writeDoctor(p, r) }); err != nil {
		return err
	}
	if len(r.Problems) > 0 {
		return call.Ended(missions.KindDamaged.ExitCode())
	}
	return nil
}

func writeDoctor(p *print.Printer, r missions.DoctorResult) {
	checked := ""
	if len(r.Checked) > 0 {
		checked = " (" + strings.Join(r.Checked, ", ") + ")"
	}
	p.Line("checked %s, %s, %s%s",
		print.Count(r.Projects, "project"), print.Count(r.Missions, "mission"), print.Count(r.Snapshots, "snapshot"), print.Clean(checked))
	for _, project := range r.Verified {
		p.Line("%s: what is borrowed from your repository was not verified yet, and is what it should be", print.Clean(project))
	}
	if r.Rebuilt {
		p.Line("the index was made again")
	}
	for _, f := range r.Fixed {
		p.Line("%s %s", p.Paint(print.Green, "mended:"), print.Clean(strings.TrimSpace(fmt.Sprintf("%s %s", f.Invariant, f.Message))))
	}
	for _, s := range r.SetAside {
		p.Line("%s: %s of damaged files are set aside, which nothing reads: rm -r %s",
			print.Clean(s.Project), print.Size(s.Bytes), print.Clean(home.ShellQuote(s.Path)))
	}
	for _, l := range r.Lost {
		p.Line("%s", p.Paint(print.Dim, print.Clean(strings.TrimSpace(l.Project+" "+l.Mission)+": "+l.Message)))
	}
	for _, out := range r.RuledOut {
		p.Folded(print.Clean(out.Mission + ": " + out.Sentence()))
	}
	for _, w := range r.Withheld {
		p.Folded(print.Clean(w.Mission + ": " + w.Sentence()))
	}
	for _, k := range r.Known {
		p.Line("%s", p.Paint(print.Dim, "known: "+print.Clean(strings.TrimSpace(k.Project+" "+k.Mission)+": "+k.Message)))
	}
	wording.Problems(p, r.Problems)
	switch {
	case len(r.Problems) > 0:
	case len(r.Lost)+len(r.Known) > 0:
		p.Line("%s", p.Paint(print.Green, "all else is well"))
	default:
		p.Line("%s", p.Paint(print.Green, "all is well"))
	}
}
