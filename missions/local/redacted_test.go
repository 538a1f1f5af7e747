package local

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// drawn looks like no word: 40 letters and digits.
var drawn = strings.Repeat("a7Kq2Zx9", 5)

// TestSecretsOfWhatIsSaid: what a prompt, a tool's command line, a question or a message
// has that looks like a secret is in no snapshot, no name and no document of
// Umbra's, and all that stands beside it is.
func TestSecretsOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	token, password := "ghp_"+drawn, "hunter2-hunter2"
	command := "curl -H 'Authorization: Bearer " + password + "' https://me:" + password + "@host/x"
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": token + " logs in, API_TOKEN=" + drawn + " too", "prompt_id": "p1"})
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": command}}
	c.hook("PreToolUse", tool)
	c.hook("PermissionRequest", tool)
	c.write("a.txt", "one\n")
	c.hook("PostToolUse", tool)
	asJSON := map[string]any{"tool_name": "Bash", "tool_use_id": "t2", "tool_input": map[string]any{"command": `{"api_key": "` + drawn + `"}`}}
	c.hook("PreToolUse", asJSON)
	c.hook("PostToolUse", asJSON)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "and then " + token + ", the password is " + password + ", or mysql -p" + password, "prompt_id": "p2"})
	c.write("a.txt", "two\n")
	entry, err := c.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c.caller(), Message: "with " + token})
	if err != nil || !strings.HasPrefix(entry.Message, "with [umbra-left-out:") {
		t.Errorf("%+v %v", entry, err)
	}
	for _, secret := range []string{token, strings.ToLower(token[:12]), drawn, password} {
		if places := c.stored(secret); len(places) > 0 {
			t.Errorf("%q is in %q", secret, places)
		}
	}
	for _, kept := range []string{"logs in", "curl -H 'Authorization: Bearer [umbra-left-out:setting]' https://me:[umbra-left-out:password]@host/x"} {
		if len(c.stored(kept)) == 0 {
			t.Errorf("%q is nowhere", kept)
		}
	}
	list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller()})
	if err != nil || len(list) != 1 || list[0].Name != "logs-api-token-too" {
		t.Errorf("%+v %v", list, err)
	}
	c.healthy()
}

// TestSecretOfAFirstPrompt: a prompt that waits for its agent reaches it whole, and no
// snapshot has the secret in it; once the agent has taken it, nothing of Umbra's has.
func TestSecretOfAFirstPrompt(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	prompt := "log in with ghp_" + drawn + " now"
	m, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Command: []string{"claude"}, Prompt: prompt})
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "log-now" {
		t.Errorf("its name is %s", m.Name)
	}
	for _, place := range c.stored(drawn) {
		if !strings.Contains(place, "/journal/live/") {
			t.Errorf("it is in %s", place)
		}
	}
	launch, err := c.local.Launch(context.Background(), missions.LaunchRequest{Caller: c.caller(), Mission: m.Name, KeeperPID: os.Getpid()})
	if err != nil || launch.Argv[len(launch.Argv)-1] != prompt {
		t.Errorf("%q %v", launch.Argv, err)
	}
	c.mission = m.ID
	c.hook("UserPromptSubmit", map[string]any{"prompt": prompt, "prompt_id": "p1"})
	if places := c.stored(drawn); len(places) > 0 {
		t.Errorf("when its agent has taken it, it is in %q", places)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p1"})
	forked, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: m.Name, Prompt: prompt})
	if err != nil || forked.Missions[0].Name != "log-now-2" {
		t.Errorf("%+v %v", forked, err)
	}
	c.healthy()
}
