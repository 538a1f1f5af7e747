package servicetest

import "github.com/umbra-vcs/umbra/missions"

func linesHaveAuthors(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	d.write("a.txt", "one\ntwo\n")
	_, err := d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller()})
	d.ok("snapshot", err)
	b, err := d.Blame(d.ctx, missions.BlameRequest{Caller: d.caller(), Path: "a.txt"})
	if d.ok("blame", err); len(b.Lines) != 2 || b.Lines[0].By != missions.AuthorUnknown || b.Lines[1].Mission != "work" || b.Lines[1].Snapshot == "" {
		d.wrong("blame %+v", b)
	}
	_, err = d.Blame(d.ctx, missions.BlameRequest{Caller: d.caller(), Path: "gone.txt"})
	d.refuses("blame of no file", missions.KindNotFound, err)
}
