package servicetest

import "github.com/umbra-vcs/umbra/missions"

func workFound(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	d.write("fox.txt", "the Quick brown fox\n")
	_, err := d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller(), Message: "a fox came by"})
	d.ok("snapshot", err)
	search := func(r missions.SearchRequest) missions.SearchResult {
		r.Caller = d.caller()
		found, err := d.Search(d.ctx, r)
		d.ok("search "+r.Query, err)
		return found
	}
	all := search(missions.SearchRequest{Query: "FOX"})
	if len(all.Hits) != 2 || all.More || all.Hits[0].Mission != "work" || all.Hits[0].Address == "" || all.Hits[0].Text == "" {
		d.wrong("found %+v", all)
		return
	}
	if first := search(missions.SearchRequest{Query: "fox", Limit: 1}); len(first.Hits) != 1 || !first.More || first.Hits[0] != all.Hits[0] {
		d.wrong("the first page is %+v", first)
	}
	if next := search(missions.SearchRequest{Query: "fox", After: &all.Hits[0]}); len(next.Hits) != 1 || next.Hits[0] != all.Hits[1] {
		d.wrong("the next page is %+v", next)
	}
	content := search(missions.SearchRequest{Query: `brown "Quick"`, In: []missions.SearchPlace{missions.SearchFiles}})
	if len(content.Hits) != 1 || content.Hits[0].Path != "fox.txt" || content.Hits[0].Line != 1 {
		d.wrong("in files: %+v", content)
	}
	_, err = d.Search(d.ctx, missions.SearchRequest{Caller: d.caller(), Query: ` "" `})
	d.refuses("a search for nothing", missions.KindUsage, err)
	_, err = d.Search(d.ctx, missions.SearchRequest{Caller: d.caller(), Query: "x", In: []missions.SearchPlace{"dreams"}})
	d.refuses("a search in a place that is not there", missions.KindUsage, err)
	_, err = d.Search(d.ctx, missions.SearchRequest{Caller: d.caller(), Query: "x", Mission: "nobody"})
	d.refuses("a search in no mission", missions.KindNotFound, err)
}
