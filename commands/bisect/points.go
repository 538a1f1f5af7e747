package bisect

import (
	"cmp"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
)

// point is a state of the workspace: after a turn, after what changed between two turns, or
// after an operation such as a restore.
type point struct {
	key     string
	entry   missions.Entry // the newest snapshot of it
	changed bool
	prompt  string
}

func (p point) suspect() suspect {
	s := suspect{Snapshot: p.entry.ID, Address: p.entry.Address, Turn: p.entry.Turn, Prompt: p.prompt, label: p.entry.Label}
	if p.entry.HasPromptTrigger() {
		s.Between, s.Prompt = true, ""
	}
	return s
}

// readPoints reads the states from the good end to the bad one.
func (b *bisector) readPoints(mission string) error {
	bad := cmp.Or(b.options.bad, mission)
	list, err := b.svc.Log(b.ctx, missions.LogRequest{Caller: b.caller, Mission: bad})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return missions.Errorf(missions.KindNotFound, "umbra log", "there is no snapshot")
	}
	slices.Reverse(list)
	at, err := b.svc.Resolve(b.ctx, missions.ResolveRequest{Caller: b.caller, Moment: bad})
	if err != nil {
		return err
	}
	b.mission = at.Mission
	if b.options.good != "" {
		good, err := b.svc.Resolve(b.ctx, missions.ResolveRequest{Caller: b.caller, Moment: b.options.good})
		if err != nil {
			return err
		}
		begins := slices.IndexFunc(list, func(e missions.Entry) bool { return e.ID == good.Snapshot })
		if begins < 0 {
			return missions.Errorf(missions.KindUsage, "umbra log "+list[len(list)-1].Address+" lists those before it",
				"%s does not come before %s", b.options.good, list[len(list)-1].Address)
		}
		list = list[begins:]
	}
	b.points = pointsOf(list)
	if len(b.points) < 2 {
		return missions.Errorf(missions.KindNotFound, "umbra log "+b.mission.Name+" shows what there is",
			"nothing has changed between %s and %s", list[0].Address, list[len(list)-1].Address)
	}
	return nil
}

// pointsOf are the states among snapshots, oldest first. The first snapshot is one in any
// case; others are if files have changed.
func pointsOf(list []missions.Entry) (points []point) {
	prompts := map[int]string{}
	for i, e := range list {
		if e.Prompt != "" {
			prompts[e.Turn] = e.Prompt
		}
		next := point{key: keyOf(e), entry: e, changed: e.Files != (missions.FileCounts{})}
		last := len(points) - 1
		if i == 0 {
			next.key, next.changed = "first", true
		}
		switch {
		case last >= 0 && points[last].key == next.key && next.changed:
			points[last].entry, points[last].changed = e, true
		case last >= 0 && points[last].key == next.key:
			if !points[last].changed || e.Turn == points[last].entry.Turn {
				points[last].entry = e
			}
		default:
			points = append(points, next)
		}
	}
	points = slices.DeleteFunc(points, func(p point) bool { return !p.changed })
	for i := range points {
		points[i].prompt = prompts[points[i].entry.Turn]
	}
	return points
}

// keyOf is what snapshots of one state have in common.
func keyOf(e missions.Entry) string {
	switch {
	case e.Operation != "":
		return "operation " + e.ID
	case e.HasPromptTrigger():
		return "between " + e.ID
	case e.Turn == 0:
		return "snapshot " + e.ID
	}
	return "turn " + missions.Itoa(e.Turn)
}
