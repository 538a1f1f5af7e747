package servicetest

import "github.com/umbra-vcs/umbra/missions"

func oldSnapshotsPruned(d *desk) {
	r, err := d.Prune(d.ctx, missions.PruneRequest{Caller: d.caller(), All: true, Preview: true})
	if d.ok("preview", err); !r.Preview || r.Missions == nil || r.Pruned() > 0 || r.At.IsZero() || r.Policy == "" {
		d.wrong("prune %+v", r)
	}
	none := 0
	_, err = d.Prune(d.ctx, missions.PruneRequest{Caller: d.caller(), All: true, Preview: true, Policy: missions.PrunePolicy{KeepLast: &none}})
	d.refuses("nothing to be kept", missions.KindUsage, err)
	_, err = d.Prune(d.ctx, missions.PruneRequest{Caller: d.caller(), Missions: []string{"nobody"}, Preview: true})
	d.refuses("of no mission", missions.KindNotFound, err)
}
