package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// installPlugin installs Umbra's plugin into the person's agent, from this repository as its
// marketplace.
func (p *person) installPlugin(install string) {
	p.Helper()
	source, err := filepath.Abs("../..")
	if err != nil {
		p.Fatalf("%v", err)
	}
	for _, args := range [][]string{{"marketplace", "add", source}, {install, "umbra@umbra"}} {
		if out := p.run(p.home, append([]string{p.client.Path, "plugin"}, args...)...); out.code != 0 {
			p.Fatalf("%s", out)
		}
	}
	if says := p.umbra("hooks", "status", p.client.Agent); !strings.Contains(says, "umbra@umbra") {
		p.Errorf("hooks status says %q", says)
	}
}

// adopted is the one mission that there is, of one turn, by another name.
func (p *person) adopted(name string) mission {
	p.Helper()
	list := asked[[]mission](p, "mission", "ls", "--all")
	if len(list) != 1 || list[0].SessionID == "" || list[0].Turn != 1 {
		p.Fatalf("after a session by hand the missions are %+v", list)
	}
	p.umbra("mission", "rename", list[0].Name, name)
	return list[0]
}

// triggersOf are those of a turn's snapshots, the newest first.
func (p *person) triggersOf(name string, turn int) []string {
	p.Helper()
	var triggers []string
	for _, e := range asked[[]entry](p, "log", name) {
		if e.Turn == turn {
			triggers = append(triggers, strings.Join(e.Triggers, "+"))
		}
	}
	return triggers
}

// TestPlugin installs the plugin into Claude Code: sessions that are started by hand become
// missions, its commands answer, and with the hooks installed or handed over as well
// everything is done once.
func TestPlugin(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.installPlugin("install")
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	session := p.adopted("hand").SessionID
	requests := len(p.server.Requests())
	for typed, says := range map[string]string{"/umbra:checkpoint good": "snapshot good", "/umbra:exit": "is no side fork"} {
		if out := p.run(p.repo, append(p.byHand("--resume", session), typed)...); !strings.Contains(out.stdout, says) {
			t.Errorf("%s: %s", typed, out)
		}
	}
	if n := len(p.server.Requests()); n != requests {
		t.Errorf("the plugin's commands made %d requests", n-requests)
	}

	p.umbra("hooks", "install", "claude")
	k.say("bravo", p.byHand("--resume", session)...)
	p.umbra("hooks", "uninstall", "claude")
	k.say("charlie") // launched by umbra
	for turn := 2; turn <= 3; turn++ {
		if got, want := p.triggersOf("hand", turn), []string{"close", "idle", "tool", "prompt"}; !slices.Equal(got, want) {
			t.Errorf("turn %d has the snapshots %s, want %s", turn, got, want)
		}
	}
}

// TestCodexPlugin is TestPlugin with Codex, which has no commands of plugins.
func TestCodexPlugin(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Codex(t, clients.CodexCurrent))
	p.installPlugin("add")
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	p.adopted("hand")
	p.umbra("hooks", "install", "codex")
	k.say("bravo")
	if got, want := p.triggersOf("hand", 2), []string{"close", "idle", "tool", "prompt"}; !slices.Equal(got, want) {
		t.Errorf("turn 2 has the snapshots %s, want %s", got, want)
	}
}
