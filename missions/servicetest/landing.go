package servicetest

import "github.com/umbra-vcs/umbra/missions"

func workListed(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	d.write("a.txt", "two\n")
	_, err := d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller()})
	d.ok("snapshot", err)
	plan, err := d.PlanLanding(d.ctx, missions.LandingRequest{Caller: d.caller()})
	if d.ok("plan", err); len(plan.Steps) != 1 || !plan.Steps[0].IsOwn() || len(plan.Steps[0].Changes) != 1 || plan.Steps[0].Changes[0].Path != "a.txt" {
		d.wrong("plan %+v", plan)
	}
	_, err = d.PlanLanding(d.ctx, missions.LandingRequest{Caller: d.caller(), Mission: "nobody"})
	d.refuses("work of nobody", missions.KindNotFound, err)
}
