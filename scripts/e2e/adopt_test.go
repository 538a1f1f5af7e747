package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestAdopt installs the hooks for good and starts Claude Code by hand: its
// session becomes a mission, can be forked, and uninstalling leaves the user's
// settings to the byte.
func TestAdopt(t *testing.T) {
	t.Parallel()
	for version, env := range map[string][]string{clients.ClaudeCurrent: nil, clients.ClaudeMiddle: {"UMBRA_NO_DAEMON=1"}} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, version, env...)
			settings := filepath.Join(p.home, ".claude", "settings.json")
			// The last key is one that Claude Code would add itself.
			const user = "{\n  \"env\": {\"MINE\": \"1\"},\n\"skipDangerousModePermissionPrompt\": true }\n"
			if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(settings, []byte(user), 0o600); err != nil {
				t.Fatal(err)
			}
			p.umbra("hooks", "install", "claude")
			p.umbra("hooks", "install", "claude")

			k := p.talk("hand")
			k.say("alpha", p.byHand()...)
			list := asked[[]mission](p, "mission", "ls", "--all")
			if len(list) != 1 || list[0].SessionID == "" || list[0].Turn != 1 {
				t.Fatalf("after a session by hand the missions are %+v", list)
			}
			p.umbra("mission", "rename", list[0].Name, "hand")
			k.say("bravo", p.byHand("--resume", list[0].SessionID)...)
			if got := p.mission("hand").SessionID; got != list[0].SessionID {
				t.Errorf("the second turn ran in session %s", got)
			}
			for moment, want := range map[string]string{"hand@1.0": "0\n", "hand@1": "0\nalpha\n", "hand@2": "0\nalpha\nbravo\n"} {
				if got := p.umbra("cat", moment, "state.txt"); got != want {
					t.Errorf("state.txt at %s is %q, want %q", moment, got, want)
				}
			}

			// Hooks that are installed and handed to the launch run once.
			k.say("charlie")
			var of []string
			for _, e := range asked[[]entry](p, "log", "hand") {
				if e.Turn == 3 {
					of = append(of, strings.Join(e.Triggers, "+"))
				}
			}
			if want := []string{"close", "idle", "tool", "prompt"}; !slices.Equal(of, want) {
				t.Errorf("turn 3 has the snapshots %s, want %s", of, want)
			}
			p.umbra("fork", "hand@1", "--name", "f", "--no-launch")
			fork := k.forked("f", 1)
			same(t, "the fork", files(t, fork.workspace), k.ends[1].files)
			fork.say("delta")

			p.umbra("hooks", "uninstall", "claude")
			if data, err := os.ReadFile(settings); err != nil || string(data) != user {
				t.Errorf("after uninstalling the settings are %q, %v", data, err)
			}
		})
	}
}
