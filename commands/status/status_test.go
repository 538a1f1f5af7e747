package status

import (
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TestStatusFits: no terminal has to break a line of status, but for a command that
// is to be copied; and all that is said elsewhere in full is said.
func TestStatusFits(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 16, 30, 0, 0, time.UTC)
	workspace := "/home/ada/" + strings.Repeat("code/", 12) + "parser"
	fix := "umbra project move " + workspace + " NEW"
	s := missions.Status{
		Daemon: &missions.DaemonStatus{Running: true, PID: 4711, Missions: 2, Housekeeping: []missions.Housekeeping{
			{Project: "parser", At: at, Packed: 12345, FreedBytes: 1 << 24},
			{Project: "parser", At: at, Mended: "an object that was damaged was taken from the repository of the workspace"},
		}},
		Project:      &missions.Project{Name: "parser", Path: workspace},
		Missions:     []missions.Mission{{ID: "m", Name: "fix-login", Agent: "claude", State: missions.StateIdle, Workspace: workspace, PendingAction: "restore fix-login@3", Notes: []string{"its hooks are of an older umbra, and some events have none"}}},
		LastSnapshot: &missions.Entry{Address: "fix-login@12", At: at, Message: "prompt: " + strings.Repeat("words and more ", 20)},
		Walks:        []missions.WorkspaceWalks{{Workspace: workspace, Count: 12, LastAt: at, LastWhy: "it was not looked at for a day"}, {Workspace: workspace, Count: 1, LastAt: at, LastWhy: "asked", Corrected: 3}},
		Unread:       []missions.UnreadFiles{{Workspace: workspace, Files: 12345}},
		LeftOut:      []missions.LeftOutFiles{{Mission: "fix-login", File: ".umbraignore", Files: 12, Paths: []string{"build/one.o", "build/two.o", "build/three.o"}}},
		Problems:     []missions.Problem{{Invariant: "I6", Project: "parser", Mission: "fix-login", Message: "its workspace was moved, replaced, mounted over or removed", Fix: fix}},
	}
	for _, width := range []int{40, 60, 80, 120, 200} {
		got := calltest.Printed(width, func(p *print.Printer) { writeStatus(p, s) })
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if n := print.Columns(line); n > width && line != "    "+fix {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
		for _, want := range []string{"mounted over or", fix, "older umbra", "build/three.o", "nothing missed", "12345 files", "to come: fix-login: restore fix-login@3"} {
			if !strings.Contains(strings.ReplaceAll(got, "\n"+print.FoldIndent, " "), want) {
				t.Errorf("%d columns: %q is not in\n%s", width, want, got)
			}
		}
	}
	whole := calltest.Printed(0, func(p *print.Printer) { writeStatus(p, s) })
	for _, want := range []string{"checked " + workspace + ": 12 walks, the last 2026-01-31T16:30:00Z (it was not looked at for a day); nothing missed\n", "  to mend it: " + fix + "\n"} {
		if !strings.Contains(whole, want) {
			t.Errorf("off a terminal %q is not in\n%s", want, whole)
		}
	}
}

// TestParkedInPrompt: a prompt says which mission is parked, and which has another's terminal.
func TestParkedInPrompt(t *testing.T) {
	t.Parallel()
	s := missions.Status{Missions: []missions.Mission{
		{Name: "map", State: missions.StateIdle, Turn: 3, SideForkOf: "login"}, {Name: "login", State: missions.StateClosed, Turn: 2, SideFork: "map"},
		{Name: "old", State: missions.StateClosed, Turn: 9},
	}}
	for want, say := range map[string]func(*print.Printer, missions.Status) string{
		"map@3 idle (side fork of login), login@2 parked":  promptText,
		"idle map@3 (side fork of login) · parked login@2": statusLine,
	} {
		if got := calltest.Printed(0, func(p *print.Printer) { p.Line("%s", say(p, s)) }); got != want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
