package local

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestBackgroundSession: a session that goes on in the background is a mission of its
// own, linked to the one whose agent began it, whether that has ended (/background) or
// goes on (/fork).
func TestBackgroundSession(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]int{"before its agent ended": 1, "after that": -1, "while that goes on": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startTalker(t)
			from, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Name: "from", Agent: "claude"})
			if err != nil {
				t.Fatal(err)
			}
			keep := func(r missions.KeepRequest) {
				r.Mission, r.KeeperPID, r.AgentPID = from.ID, os.Getpid(), os.Getppid()
				if _, err := c.local.Keep(context.Background(), r); err != nil {
					t.Fatal(err)
				}
			}
			keep(missions.KeepRequest{})
			c.mission = from.ID
			c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getppid())}
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			background := *c
			background.turn += 10
			background.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid()), "CLAUDE_JOB_DIR": "/jobs/1"}
			background.switchTo(otherSession)
			end := func() {
				c.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
				keep(missions.KeepRequest{Ended: true})
			}
			if ends < 0 {
				end()
			}
			begun := background.hook("SessionStart", map[string]any{"source": "fork"}).Mission
			if ends > 0 {
				end()
			}
			background.takeTurn("second", "b.txt", "two\n")
			m, err := c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: begun})
			if err != nil || m.ID == from.ID || m.SessionID != otherSession || m.Turn != 1 || !slices.ContainsFunc(m.Notes, func(note string) bool { return strings.Contains(note, "begun by the agent of from") }) {
				t.Errorf("in the background: %+v, %v", m, err)
			}
			if m, err = c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: "from"}); err != nil || m.SessionID != testSession || m.Turn != 1 || (m.State == missions.StateClosed) != (ends != 0) {
				t.Errorf("where it began: %+v, %v", m, err)
			}
			c.healthy()
		})
	}
}
