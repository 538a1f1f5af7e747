package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

type doctorOptions struct{ rebuild, fix, known bool }

func doctorCommand() *verb {
	var o doctorOptions
	return &verb{
		name: "doctor", short: "check every invariant, and say what to type where one does not hold",
		long: "Exit code 13 if something is wrong.",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "rebuild", Usage: "make the index again from the refs", Destination: &o.rebuild},
			&cli.BoolFlag{Name: "fix", Usage: "mend what can be mended without losing anything", Destination: &o.fix},
			&cli.BoolFlag{Name: "known", Usage: "from now on only note what is wrong now", Destination: &o.known},
		},
		run: func(c *call) error { return runDoctor(c, o) },
	}
}

func runDoctor(c *call, o doctorOptions) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	r, err := svc.Doctor(ctx, missions.DoctorRequest{Caller: caller, Rebuild: o.rebuild, Fix: o.fix, Known: o.known})
	if err != nil {
		return err
	}
	r.Problems, r.Fixed, r.Checked = listed(r.Problems), listed(r.Fixed), listed(r.Checked)
	if err := c.print(r, func(p *printer) { writeDoctor(p, r) }); err != nil {
		return err
	}
	if len(r.Problems) > 0 {
		return ended(missions.KindDamaged.ExitCode())
	}
	return nil
}

func writeDoctor(p *printer, r missions.DoctorResult) {
	checked := ""
	if len(r.Checked) > 0 {
		checked = " (" + strings.Join(r.Checked, ", ") + ")"
	}
	p.line("checked %s, %s, %s%s", count(r.Projects, "project"), count(r.Missions, "mission"), count(r.Snapshots, "snapshot"), clean(checked))
	for _, project := range r.Verified {
		p.line("%s: what is borrowed from your repository was not verified yet, and is what it should be", clean(project))
	}
	if r.Rebuilt {
		p.line("the index was made again")
	}
	for _, f := range r.Fixed {
		p.line("%s %s", p.paint(green, "mended:"), clean(strings.TrimSpace(fmt.Sprintf("%s %s", f.Invariant, f.Message))))
	}
	for _, s := range r.SetAside {
		p.line("%s: %s of damaged files are set aside, which nothing reads: rm -r %s", clean(s.Project), size(s.Bytes), clean(home.ShellQuote(s.Path)))
	}
	for _, l := range r.Lost {
		p.line("%s", p.paint(dim, clean(strings.TrimSpace(l.Project+" "+l.Mission)+": "+l.Message)))
	}
	for _, out := range r.RuledOut {
		p.folded(clean(out.Mission + ": " + out.Sentence()))
	}
	for _, k := range r.Known {
		p.line("%s", p.paint(dim, "known: "+clean(strings.TrimSpace(k.Project+" "+k.Mission)+": "+k.Message)))
	}
	writeProblems(p, r.Problems)
	switch {
	case len(r.Problems) > 0:
	case len(r.Lost)+len(r.Known) > 0:
		p.line("%s", p.paint(green, "all else is well"))
	default:
		p.line("%s", p.paint(green, "all is well"))
	}
}
