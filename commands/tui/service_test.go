package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// service answers as the Service does, from lists.
type service struct {
	missions.Service
	list  []missions.Mission
	logs  map[string][]missions.Entry // by mission, newest first
	calls []string
	err   error // of Log and Show
	// plan is the answer to restores, undos and redos; refused is their error when
	// they are not previews.
	plan    missions.RestoreResult
	refused error
	opened  string // what was shown last

	merge    waiting
	overlaps []missions.Overlap
	checks   map[string]*missions.Check // by fork
	commits  []missions.Commit          // that a promotion can move the branch to
}

func (s *service) called(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *service) Missions(context.Context, missions.MissionsRequest) ([]missions.Mission, error) {
	return s.list, nil
}

func (s *service) Log(_ context.Context, r missions.LogRequest) ([]missions.Entry, error) {
	s.called("log %s %d %s%s", r.Mission, r.Limit, r.Path, r.After)
	if s.err != nil {
		return nil, s.err
	}
	for _, list := range s.logs {
		if i := slices.IndexFunc(list, func(e missions.Entry) bool { return e.ID == r.Mission || e.Mission == r.Mission }); i >= 0 {
			list = list[i:]
			if r.After != "" {
				list = list[slices.IndexFunc(list, func(e missions.Entry) bool { return e.ID == r.After })+1:]
			}
			if r.Path != "" {
				list = list[:1]
			}
			return list[:min(len(list), r.Limit)], nil
		}
	}
	return nil, nil
}

func (s *service) Show(_ context.Context, r missions.ShowRequest) (missions.ShowResult, error) {
	s.called("show %s %v", r.Moment, r.Brief)
	for _, list := range s.logs {
		for _, e := range list {
			if e.ID == r.Moment {
				return missions.ShowResult{
					Entry: e, Git: missions.GitState{Head: "0123456789abcdef", Branch: "main"},
					Conversation: []missions.ConversationLine{{Role: "user", Text: "make it\tgreet"}, {Role: "assistant", Text: "It greets \x1b[31mnow."}},
					Files:        []missions.FileChange{{Path: "greet.sh", Type: "modified", Added: 1, Deleted: 1}, {Path: "e\x1bvil", Type: "added", Binary: true}},
					Patch:        "diff --git a/greet.sh b/greet.sh\n@@ -1 +1 @@\n-echo\thello\n+echo hello, world\n",
				}, s.err
			}
		}
	}
	return missions.ShowResult{}, missions.Errorf(missions.KindNotFound, "umbra log", "no snapshot %s", r.Moment)
}

func (s *service) Diff(_ context.Context, r missions.DiffRequest) (missions.Difference, error) {
	s.called("diff %s %s %d", r.From, r.To, r.Turn)
	return missions.Difference{From: r.From, To: r.To, Patch: "@@ -0,0 +1 @@\n+between\n"}, nil
}

func (s *service) Pin(_ context.Context, r missions.PinRequest) (missions.Pin, error) {
	if r.Name == "taken" {
		return missions.Pin{}, missions.Errorf(missions.KindConflict, "another name", "taken is taken")
	}
	return missions.Pin{Name: r.Name, Snapshot: r.Moment}, nil
}

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// story is a mission of so many turns, of three snapshots each.
func story(mission string, turns int) []missions.Entry {
	var list []missions.Entry
	add := func(turn int, trigger missions.Trigger, state missions.StateName, message string, files int, made ...missions.ToolUse) {
		n, parent := len(list), ""
		if n > 0 {
			parent = list[n-1].ID
		}
		list = append(list, missions.Entry{
			Parent: parent, MadeBy: made,
			ID: fmt.Sprintf("%s%039d", mission[:1], n), Address: fmt.Sprintf("%s@%d", mission, turn), Mission: mission, MissionName: mission, State: state,
			Triggers: []string{string(trigger)}, At: start.Add(time.Duration(n) * 30 * time.Second), Message: message, Turn: turn,
			Files: missions.FileCounts{Modified: files}, Lines: &missions.LineCounts{Added: 2 * files, Deleted: files},
		})
	}
	add(0, missions.TriggerManual, missions.StateInitializing, "mission begins", 1000)
	for t := 1; t <= turns; t++ {
		add(t, missions.TriggerPrompt, missions.StateRunning, missions.MessagePrompt, 0)
		list[len(list)-1].Prompt = fmt.Sprintf("wish number %d", t)
		add(t, missions.TriggerTool, missions.StateRunning, "before Bash sh greet.sh", 1, missions.ToolUse{Name: "Write", Target: "greet.sh"})
		add(t, missions.TriggerIdle, missions.StateIdle, "turn ended", 2, missions.ToolUse{Name: "Bash", Target: "sh greet.sh", Description: "Try the greeting"})
	}
	slices.Reverse(list)
	return list
}

// world is a project with a mission and a fork of it.
func world(turns int) *service {
	s := &service{logs: map[string][]missions.Entry{"demo": story("demo", turns), "other": story("other", 1)}}
	demo, other := s.logs["demo"], s.logs["other"]
	demo[0].Pins = []string{"good"}
	demo[1].Message = "before Write e\x1b[2Jvil"
	s.list = []missions.Mission{
		{ID: "other", Name: "french", State: missions.StateIdle, Head: other[0].ID, Turn: 1, Parent: &missions.Parent{Mission: "demo", Snapshot: demo[3].ID}},
		{ID: "demo", Name: "demo", State: missions.StateRunning, Head: demo[0].ID, Turn: turns, UpdatedAt: start, Workspace: "/home/ada/code/app"},
	}
	return s
}
