package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestContestForks makes the forks of a contest: one for each prompt and each model. What
// they have in common is in the record of each, whatever dies afterwards.
func TestContestForks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	_, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "work", Command: []string{"claude"}})
	if err != nil {
		t.Fatal(err)
	}
	contest := &missions.Contest{ID: missions.NewRequestID(), Check: "make test", Timeout: time.Minute}
	ask := missions.ForkRequest{
		Caller: b.caller(), From: "work", Name: "t", Prompts: []string{"this way", "that way"}, Headless: true, Contest: contest,
		Variants: []missions.ForkVariant{{Model: "small"}, {Agent: "claude", Model: "large"}},
	}
	if _, err := b.local.Fork(context.Background(), ask); err != nil {
		t.Fatal(err)
	}
	list, err := b.again().local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		if m.Contest != nil {
			got = append(got, fmt.Sprintf("%s: %s, %t, %v", m.Name, strings.Join(m.Command, " "), m.PromptKept, *m.Contest == *contest))
		}
	}
	slices.Sort(got)
	want := []string{
		"t-1: claude --model small, true, true", "t-2: claude --model small, true, true",
		"t-3: claude --model large, true, true", "t-4: claude --model large, true, true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the forks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ask.Variants, ask.Name = []missions.ForkVariant{{Agent: "codex"}, {Agent: "vim"}}, "u"
	ask.Caller.Env["PATH"] = b.dir
	_, err = b.local.Fork(context.Background(), ask)
	b.fails("agents that are not there", err, missions.KindFailed)
	ask.Variants, ask.Count = slices.Repeat([]missions.ForkVariant{{}}, 11), 5
	_, err = b.local.Fork(context.Background(), ask)
	b.fails("110 forks", err, missions.KindUsage)
	if list, err = b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil || len(list) != 5 {
		t.Errorf("after the refusals there are %d missions (%v)", len(list), err)
	}
}
