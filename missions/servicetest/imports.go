package servicetest

import "github.com/umbra-vcs/umbra/missions"

func sessionsImported(d *desk) {
	r, err := d.Import(d.ctx, missions.ImportRequest{Caller: d.caller(), Preview: true})
	if d.ok("preview", err); !r.Preview || r.Sessions == nil || len(r.Sessions) > 0 {
		d.wrong("import %+v", r)
	}
	_, err = d.Import(d.ctx, missions.ImportRequest{Caller: d.caller(), Agent: "nobody"})
	d.refuses("sessions of no agent", missions.KindUsage, err)
	_, err = d.Import(d.ctx, missions.ImportRequest{Caller: d.caller(), Since: "the flood"})
	d.refuses("since no time", missions.KindUsage, err)
}
