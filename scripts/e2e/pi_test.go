package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestPi talks with pi, forks it at now and at its first turn, restores and undoes, and lets
// each go on with the history it is to have, in its own workspace.
func TestPi(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Pi(t, clients.PiCurrent), "UMBRA_NO_DAEMON=1")
	source := p.newTalk("source")
	for _, word := range []string{"alpha", "bravo", "charlie"} {
		source.say(word)
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
	if ids := sessionsOf(p, "source", "past", "now"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 3 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
}

// TestPiByHand starts pi without umbra: with the extension its session becomes a mission,
// whose turns are heard by a daemon; then by umbra, when the extension is heard once; and
// uninstalling leaves nothing.
func TestPiByHand(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Pi(t, clients.PiCurrent))
	p.umbra("hooks", "install", "pi")
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	list := asked[[]mission](p, "mission", "ls", "--all")
	if len(list) != 1 || list[0].Turn != 1 || list[0].State != "closed" {
		t.Fatalf("after a session by hand the missions are %+v", list)
	}
	p.umbra("mission", "rename", list[0].Name, "hand")
	k.say("bravo")
	var of []string
	for _, e := range asked[[]entry](p, "log", "hand") {
		if e.Turn == 2 {
			of = append(of, strings.Join(e.Triggers, "+"))
		}
	}
	if want := []string{"close", "idle", "tool", "prompt"}; !slices.Equal(of, want) {
		t.Errorf("turn 2 has the snapshots %s, want %s", of, want)
	}
	p.umbra("hooks", "uninstall", "pi")
	if _, err := os.Stat(filepath.Join(p.home, ".pi", "agent", "extensions")); !os.IsNotExist(err) {
		t.Errorf("the extension's directory after uninstalling: %v", err)
	}
	p.umbra("fork", "hand@1", "--name", "f", "--no-launch")
	k.forked("f", 1).say("charlie")
}
