package commands

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// hooksFake answers no other question about hooks than the one about all of them.
type hooksFake struct {
	missions.Service
	asked int
}

func (f *hooksFake) HooksList(context.Context, missions.HooksListRequest) ([]missions.HooksResult, error) {
	f.asked++
	return []missions.HooksResult{
		{Name: "claude", File: "/home/ada/.claude/settings.json", Installed: true},
		{Name: "claude", File: "/repo/.claude/settings.local.json", Project: true, Problems: []string{"not plain\x1b JSON"}},
		{Name: "git", Absent: true},
	}, nil
}

// TestHooksListAsksOnce: the daemon is asked once, however many hooks there can be.
func TestHooksListAsksOnce(t *testing.T) {
	t.Parallel()
	f := &hooksFake{}
	b := newBench(t, f)
	if code := b.run("hooks", "status"); code != 0 || f.asked != 1 {
		t.Fatalf("exit code %d after %d questions: %s", code, f.asked, b.Stderr.String())
	}
	want := []string{
		"claude            up to date  /home/ada/.claude/settings.json",
		"claude --project  problems    /repo/.claude/settings.local.json",
		`  problem: not plain\x1b JSON`,
		"git               not here",
	}
	if got := b.Stdout.String(); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("it says\n%s", got)
	}
}
