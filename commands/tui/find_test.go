package tui

import (
	"context"
	"fmt"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// Search gives three hits a page, of both missions, of another project, of the trash and of one that was fetched.
func (s *service) Search(_ context.Context, r missions.SearchRequest) (missions.SearchResult, error) {
	s.called("search %s %v", r.Query, r.After != nil)
	switch r.Query {
	case "nothing":
		return missions.SearchResult{}, nil
	case "wrong":
		return missions.SearchResult{}, missions.Errorf(missions.KindUsage, "close it", "a quote is open")
	}
	hit := func(address, mission, project, snapshot, text string) missions.SearchHit {
		return missions.SearchHit{Address: address, Mission: mission, Project: project, Snapshot: snapshot, Text: text, In: missions.SearchPrompts}
	}
	if r.After != nil {
		gone := hit("gone@2", "gone", "", "", "of the trash")
		gone.Removed = true
		return missions.SearchResult{Hits: []missions.SearchHit{gone, hit("work/far@2", "work/far", "", "e", "fetched")}}, nil
	}
	other, demo := s.logs["other"], s.logs["demo"]
	far := hit("far@1", "far", "elsewhere", "f", "far away")
	far.Subagent = "a1f"
	return missions.SearchResult{More: true, Hits: []missions.SearchHit{
		hit("demo@3", "demo", "", demo[4].ID, "wish \x1bnumber 3"),
		hit("french@1", "french", "", other[1].ID, "en français"),
		far,
	}}, nil
}

// TestSearch: what was said or done in any mission is found, and gone to.
func TestSearch(t *testing.T) {
	s := world(6)
	x := begin(t, s, 100, 24)
	x.keys("/", "state:idle", "tab").sees("search all missions").keys("tab").sees("filter").keys("ctrl+u", "tab", "nothing", "enter").sees("0 moments")
	x.keys("/", "ctrl+u", "wrong", "enter").sees("a quote is open (close it)").misses("moments")
	x.keys("/", "tab", "wish", "enter").sees("the newest 3 moments", "> demo@3", "français", "far away (in a subagent)").misses("\x1bnumber")

	x.keys("j", "j").sees("5 moments, newest first", "of the trash").keys("enter").sees("far is of another project: umbra show far@1")
	x.keys("j", "enter").sees("gone is in the trash: umbra trash restore gone")
	x.keys("j", "enter").sees("work/far was fetched: umbra show work/far@2")
	if want := "search wish true"; s.calls[len(s.calls)-1] != want {
		t.Errorf("the last call was %s, want %s", s.calls[len(s.calls)-1], want)
	}
	x.keys("k", "k", "k", "enter")
	if e, ok := x.model.list.entryAt(); !ok || e.ID != s.logs["other"][1].ID || x.model.at().Name != "french" {
		t.Errorf("the cursor is at %+v", e)
	}
	for _, folded := range []bool{false, true} {
		if folded {
			x.keys("Z")
		}
		x.keys("/", "tab", "wish", "enter", "enter")
		if e, ok := x.model.list.entryAt(); !ok || folded && e.Turn != s.logs["demo"][4].Turn || !folded && e.ID != s.logs["demo"][4].ID || x.model.at().Name != "demo" {
			t.Errorf("folded %v: the cursor is at %+v", folded, fmt.Sprint(e.ID, e.Turn))
		}
	}
	x.keys("/", "tab", "wish", "enter", "esc").misses("moments")
}
