package mission

import (
	"fmt"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func Project() *call.Verb {
	r := &missions.MoveProjectRequest{}
	return &call.Verb{
		Name: "project", Short: "projects: missions that share a shadow repository",
		Verbs: []*call.Verb{
			{Name: "ls", Short: "list the known projects", Run: runProjectLs},
			{
				Name: "move", Args: "OLD NEW", Min: 2, Max: 2,
				Short: "tell Umbra that a directory was moved",
				Long: `Where two projects claim the same place, OLD may be the name of the project's
directory in Umbra's home, which doctor says.`,
				Flags: []flags.Flag{
					flags.Bool("force", "also where little of what was in OLD is found", &r.Force),
				},
				Run: func(c *call.Call) error { return runProjectMove(c, *r) },
			},
		},
	}
}

func runProjectLs(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	list, err := svc.Projects(ctx, missions.ProjectsRequest{Caller: caller})
	if err != nil {
		return err
	}
	if len(list) == 0 && !c.JSON {
		c.Notice("no projects yet; begin a mission with: umbra mission new")
		return nil
	}
	return c.Print(call.Listed(list), func(p *print.Printer) {
		var t print.Table
		for _, project := range list {
			t.Row(print.Bold.Cell(print.Clean(project.Name)), print.Plain.Cell(print.Count(project.Missions, "mission")),
				print.Plain.Cell(fmt.Sprintf("%d live", project.Live)), print.Dim.Cell(print.Clean(project.Path)))
			for _, problem := range project.Problems {
				t.Row(print.Plain.Cell(""), print.Plain.Cell(""), print.Plain.Cell(""), print.Red.Cell(print.Clean(problem)))
			}
		}
		t.Print(p, "")
	})
}

func runProjectMove(c *call.Call, r missions.MoveProjectRequest) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r.Caller, r.Old, r.New = caller, c.Arg(0), c.Arg(1)
	project, err := svc.MoveProject(ctx, r)
	if err != nil {
		return err
	}
	return c.TellDone(project, func(p *print.Printer) {
		p.Line("%s is now at %s", print.Clean(project.Name), print.Clean(project.Path))
	})
}
