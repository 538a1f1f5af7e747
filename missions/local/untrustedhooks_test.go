package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestUnheardAfterNew: an agent without hooks that was spoken to in a conversation which
// its user has begun since the launch has been spoken to, however much was said before.
func TestUnheardAfterNew(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	problems := func() string { return strings.Join(u.only().Problems, "\n") }
	const first, second = unhookedThread, "01a20240-bbbb-70f3-8cf7-6473b39ae7cc"
	for range 3 {
		u.says(time.Now(), codexPrompt, codexDone)
	}
	u.tells(first)
	u.relaunch()
	if said := problems(); said != "" {
		t.Errorf("launched again, and not spoken to: %s", said)
	}
	u.rollout = strings.Replace(u.rollout, first, second, 1)
	u.says(time.Now(), `{"type":"session_meta","payload":{"id":"`+second+`"}}`, codexPrompt, codexDone)
	u.tells(second)
	if said := problems(); u.only().SessionID != second || !strings.Contains(said, "without hooks") {
		t.Errorf("spoken to in another conversation (%s): %q", u.only().SessionID, said)
	}
}

// TestUnheardInPart: an agent of whose hooks some were heard, and others are not
// trusted, lacks snapshots, which is said until they are.
func TestUnheardInPart(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	caller := u.caller()
	caller.Binary = "/usr/bin/umbra"
	in, err := u.local.InstallHooks(context.Background(), missions.HooksRequest{Caller: caller, Name: "codex"})
	if err != nil {
		t.Fatal(err)
	}
	u.relaunch()
	u.says(time.Now(), codexPrompt, codexCall)
	trust := func(events ...string) {
		t.Helper()
		var config strings.Builder
		for _, event := range events {
			fmt.Fprintf(&config, "[hooks.state.\"%s:%s:0:0\"]\ntrusted_hash = \"sha256:00\"\n", in.File, event)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(in.File), "config.toml"), []byte(config.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	problems := func() string { return strings.Join(u.only().Problems, "\n") }
	trust("pre_tool_use")
	u.hears(toolHook, u.only().SessionID, u.rollout, u.dir)
	if said := problems(); u.only().Managed != missions.ManagedKeeper || !strings.Contains(said, "without some of its hooks") || !strings.Contains(said, "/hooks") {
		t.Errorf("with one hook that is trusted: %q", said)
	}
	text, err := os.ReadFile(in.File)
	if err != nil {
		t.Fatal(err)
	}
	var hooks struct {
		Hooks map[string]any `json:"hooks"`
	}
	if err := json.Unmarshal(text, &hooks); err != nil {
		t.Fatal(err)
	}
	var all []string
	for event := range hooks.Hooks {
		all = append(all, strings.ToLower(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(event, "${1}_$2")))
	}
	trust(all...)
	if said := problems(); said != "" {
		t.Errorf("with all that are trusted: %q", said)
	}
}

// relaunch has a keeper launch the mission's agent again.
func (u unhookedAgent) relaunch() {
	u.Helper()
	caller := u.caller()
	caller.Binary = "/usr/bin/umbra"
	launch, err := u.local.Launch(context.Background(), missions.LaunchRequest{Caller: caller, Mission: u.only().ID, KeeperPID: os.Getpid()})
	if err != nil {
		u.Fatal(err)
	}
	if _, err := u.local.Keep(context.Background(), missions.KeepRequest{Mission: u.only().ID, Launch: launch.ID, KeeperPID: os.Getpid(), AgentPID: os.Getpid()}); err != nil {
		u.Fatal(err)
	}
}
