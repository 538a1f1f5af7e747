package local

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/generic"
)

// TestSecretsOfACommand: a mission, a fork or a launch with a secret in its command is
// refused before anything is made, and the refusal says where the secret is without it.
func TestSecretsOfACommand(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	ctx := t.Context()
	secret := "sk-ant-api03-" + strings.Repeat("aB3dE5gH", 11)
	command := []string{"claude", "--settings", `{"env":{"ANTHROPIC_API_KEY":"` + secret + `"}}`}
	if _, err := c.local.NewMission(ctx, missions.NewMissionRequest{Caller: c.caller(), Name: "work", Command: []string{"claude"}}); err != nil {
		t.Fatal(err)
	}
	for what, ask := range map[string]func() error{
		"begun": func() error {
			_, err := c.local.NewMission(ctx, missions.NewMissionRequest{Caller: c.caller(), Name: "other", Command: command})
			return err
		},
		"forked": func() error {
			_, err := c.local.Fork(ctx, missions.ForkRequest{Caller: c.caller(), From: "work", Name: "child", Command: command})
			return err
		},
		"launched": func() error {
			_, err := c.local.Launch(ctx, missions.LaunchRequest{Caller: c.caller(), Mission: "work", Command: command})
			return err
		},
	} {
		err := ask()
		c.fails(what, err, missions.KindUsage)
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), `--settings '{"env":{"ANTHROPIC_API_KEY":"[umbra-left-out:setting]"}}'`) {
			t.Errorf("%s: %v", what, err)
		}
	}
	list, err := c.local.Missions(ctx, missions.MissionsRequest{Caller: c.caller()})
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Command, []string{"claude"}) {
		t.Errorf("missions: %+v %v", list, err)
	}
	if places := c.stored(secret); len(places) > 0 {
		t.Errorf("the secret is in %q", places)
	}
	c.healthy()
}

// TestMayRecord: what a refusal shows of a command, and that the ways which it names pass.
func TestMayRecord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", projects.MostOfWord)
	for _, tt := range []struct {
		command []string
		want    string // shown; "" where the command passes
	}{
		{[]string{"claude", "--settings", "settings.json"}, ""},
		{[]string{"sh", "-c", `agent --api-key "$AGENT_KEY"`}, ""},
		{[]string{"agent", "--api-key-file", "/run/key"}, ""},
		{nil, ""},
		{[]string{"agent", "--api-key", "hunter2", "go on"}, "--api-key '[umbra-left-out:setting]'"},
		{[]string{"env", "DB_PASSWORD=hunter2", "agent", "--api-key=hunter2"}, "'DB_PASSWORD=[umbra-left-out:setting]' '--api-key=[umbra-left-out:setting]'"},
		{[]string{"agent", "--api-key", "[umbra-left-out:setting]"}, "--api-key '[umbra-left-out:setting]'"},
		{[]string{"agent", "DB_PASSWORD=hunter2 " + long}, "'DB_PASSWORD=[umbra-left-out:setting]'"},
		{[]string{"sh", "-c", "agent --api-key a7Kq2Zx9a7Kq2Zx9a7Kq2Zx9; " + long}, "-c 'agent --api-key [umbra-left-out:secret]; " + long[:118] + "…'"},
	} {
		err := projects.MayRecord(tt.command)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.command, err)
		case tt.want != "" && (err == nil || !strings.HasSuffix(err.Error(), " keep it: "+tt.want)):
			t.Errorf("%q: %v, want %s", tt.command, err, tt.want)
		}
	}
}

// TestResumeWithSecrets: how a tool says that it is resumed is not kept if there is a
// secret in it, nor is what the tool said before.
func TestResumeWithSecrets(t *testing.T) {
	t.Parallel()
	var m projects.Mission
	for _, tt := range []struct{ resume, want []string }{
		{[]string{"tool", "{session}"}, []string{"tool", "{session}"}},
		{nil, []string{"tool", "{session}"}},
		{[]string{"tool", "--api-key", "hunter2", "{session}"}, nil},
	} {
		m.TakeToolName(generic.Adapter{}, sessions.Event{Resume: tt.resume})
		if !slices.Equal(m.ResumeCommand, tt.want) {
			t.Errorf("after %q: %q", tt.resume, m.ResumeCommand)
		}
	}
}
