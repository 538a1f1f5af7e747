package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestGemini talks with Gemini CLI, forks it at now and at its first turn, where
// the name of the fork's directory is another's already, restores and undoes, and
// lets each go on with the history it is to have.
func TestGemini(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent), "UMBRA_NO_DAEMON=1")
	p.umbra("hooks", "install", "gemini")
	source := p.newTalk("source")
	for _, word := range []string{"alpha", "bravo", "charlie"} {
		source.say(word)
	}
	source.history("@3.3 close", "@3 idle", "@3.1 tool", "@3.0 prompt", "@2.3 close", "@2 idle", "@2.1 tool", "@2.0 prompt",
		"@1.3 close", "@1 idle", "@1.1 tool", "@1.0 prompt", "@start manual")

	taken := filepath.Join(p.home, ".gemini", "tmp", "past", ".project_root")
	if err := os.MkdirAll(filepath.Dir(taken), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(taken, []byte("/elsewhere/past"), 0o600); err != nil {
		t.Fatal(err)
	}
	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("fork", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "source", "--name", "now", "--no-launch")
	p.untouched(repo)
	past, now := source.forked("past", 1), source.forked("now", 3)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	same(t, "the fork of now", files(t, now.workspace), source.ends[3].files)
	past.say("delta")
	now.say("echo")
	past.say("foxtrot")
	p.untouched(repo)
	if content(t, p.mission("source").SessionPath) != session {
		t.Error("the source's conversation has changed")
	}

	p.umbra("restore", "source@1")
	same(t, "the workspace restored to turn 1", files(t, p.repo), source.ends[1].files)
	p.umbra("undo")
	same(t, "the workspace after undo", files(t, p.repo), source.ends[3].files)
	source.say("golf")
	p.umbra("restore", "source@2")
	back := source.at(2)
	same(t, "the workspace restored to turn 2", files(t, p.repo), back.ends[2].files)
	back.say("hotel")
	p.umbra("fork", "past@2", "--name", "deep", "--no-launch")
	past.forked("deep", 2).say("india")
	if ids := sessionsOf(p, "source", "past", "now", "deep"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
}

// TestGeminiByHand starts Gemini CLI without umbra: with the hooks its session
// becomes a mission, whose turns are heard by a daemon, and uninstalling leaves
// the settings to the byte.
func TestGeminiByHand(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent))
	settings := filepath.Join(p.home, ".gemini", "settings.json")
	user := content(t, settings)
	p.umbra("hooks", "install", "gemini")
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	list := asked[[]mission](p, "mission", "ls", "--all")
	if len(list) != 1 || list[0].Turn != 1 || list[0].State != "closed" {
		t.Fatalf("after a session by hand the missions are %+v", list)
	}
	p.umbra("mission", "rename", list[0].Name, "hand")
	k.say("bravo", p.byHand("--resume", list[0].SessionID)...)
	for moment, want := range map[string]string{"hand@1.0": "0\n", "hand@1": "0\nalpha\n", "hand@2": "0\nalpha\nbravo\n"} {
		if got := p.umbra("cat", moment, "state.txt"); got != want {
			t.Errorf("state.txt at %s is %q, want %q", moment, got, want)
		}
	}
	p.umbra("fork", "hand@1", "--name", "f", "--no-launch")
	k.forked("f", 1).say("charlie")
	p.umbra("hooks", "uninstall", "gemini")
	if got := content(t, settings); got != user {
		t.Errorf("after uninstalling the settings are %s, they were %s", got, user)
	}
}
