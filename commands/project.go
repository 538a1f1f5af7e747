package commands

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func projectCommand() *verb {
	r := &missions.MoveProjectRequest{}
	return &verb{
		name: "project", short: "projects: missions that share a shadow repository",
		verbs: []*verb{
			{name: "ls", short: "list the known projects", run: runProjectLs},
			{
				name: "move", args: "OLD NEW", min: 2, max: 2,
				short: "tell Umbra that a directory was moved",
				long: `Where two projects claim the same place, OLD may be the name of the project's
directory in Umbra's home, which doctor says.`,
				flags: []cli.Flag{
					&cli.BoolFlag{Name: "force", Usage: "also where little of what was in OLD is found", Destination: &r.Force},
				},
				run: func(c *call) error { return runProjectMove(c, *r) },
			},
		},
	}
}

func runProjectLs(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	list, err := svc.Projects(ctx, missions.ProjectsRequest{Caller: caller})
	if err != nil {
		return err
	}
	if len(list) == 0 && !c.JSON {
		c.notice("no projects yet; begin a mission with: umbra mission new")
		return nil
	}
	return c.print(listed(list), func(p *printer) {
		var t table
		for _, project := range list {
			t.row(cell{clean(project.Name), bold}, cell{count(project.Missions, "mission"), plain},
				cell{fmt.Sprintf("%d live", project.Live), plain}, cell{clean(project.Path), dim})
			for _, problem := range project.Problems {
				t.row(cell{"", plain}, cell{"", plain}, cell{"", plain}, cell{clean(problem), red})
			}
		}
		t.print(p, "")
	})
}

func runProjectMove(c *call, r missions.MoveProjectRequest) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	r.Caller, r.Old, r.New = caller, c.arg(0), c.arg(1)
	project, err := svc.MoveProject(ctx, r)
	if err != nil {
		return err
	}
	return tellDone(c, project, func(p *printer) { p.line("%s is now at %s", clean(project.Name), clean(project.Path)) })
}
