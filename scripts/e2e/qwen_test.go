package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestQwen talks with Qwen Code and forks it at now and at its first turn: each goes on with
// the history it is to have, in its own workspace, and what Qwen Code itself takes for the
// newest session in the source's workspace is still the source's.
func TestQwen(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Qwen(t, clients.QwenCurrent), "UMBRA_NO_DAEMON=1")
	source := p.newTalk("source")
	source.say("alpha")
	source.say("bravo")
	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("fork", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "source", "--name", "now", "--no-launch")
	p.untouched(repo)
	past, now := source.forked("past", 1), source.forked("now", 2)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	same(t, "the fork of now", files(t, now.workspace), source.ends[2].files)
	past.say("delta")
	now.say("echo")
	p.untouched(repo)
	if content(t, p.mission("source").SessionPath) != session {
		t.Error("the source's conversation has changed")
	}
	source.say("golf", p.byHand("--continue")...)
	if ids := sessionsOf(p, "source", "past", "now"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 3 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
}

// TestQwenByHand starts Qwen Code without umbra: with the hooks its session becomes a
// mission, whose turns are heard by a daemon; then by umbra, when each event is heard once;
// and uninstalling leaves the settings as they were.
func TestQwenByHand(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Qwen(t, clients.QwenCurrent))
	settings := filepath.Join(p.home, ".qwen", "settings.json")
	before := content(t, settings)
	p.umbra("hooks", "install", "qwen")
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	list := asked[[]mission](p, "mission", "ls", "--all")
	if len(list) != 1 || list[0].Turn != 1 {
		t.Fatalf("after a session by hand the missions are %+v", list)
	}
	name := list[0].Name
	// Without a terminal Qwen Code tells of no end: the process is seen to be gone.
	p.wait("the mission to be closed", func() bool { return p.mission(name).State == "closed" })
	p.umbra("mission", "rename", name, "hand")
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
	p.umbra("hooks", "uninstall", "qwen")
	if after := content(t, settings); after != before {
		t.Errorf("after uninstalling, the settings are\n%s\nwere\n%s", after, before)
	}
	if _, err := os.Stat(filepath.Join(p.repo, ".qwen")); !os.IsNotExist(err) {
		t.Errorf("a directory of the client's in the workspace: %v", err)
	}
}

// TestQwenOnTerminal has it ask its user, who answers, and restores beneath it: it is there
// again with the conversation of that moment. Esc ends a turn. It relaunches itself, as it
// does where nothing keeps it from that: the agent is a child of what is launched.
// (Another agent's TestHandover, TestQuestion and TestToolsOfOthers in one.)
func TestQwenOnTerminal(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Qwen(t, clients.QwenCurrent), "QWEN_CODE_NO_RELAUNCH=")
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "qwen", "--approval-mode", "default")
	s.see(p.speaks().ready)
	s.question("Allow execution of")
	process := p.mission("tui").PID
	if r := asked[handed](p, "restore", "tui@1"); r.Handover.How != "relaunched" {
		t.Fatalf("the restore says %+v", r)
	}
	if _, err := os.Stat(filepath.Join(p.repo, "b.txt")); !os.IsNotExist(err) {
		t.Errorf("what turn 2 wrote is there after the restore: %v", err)
	}
	s.relaunched(process, "alpha done", "bravo done")
	s.stuck("busy", 3)
	s.tmux("send-keys", "Escape")
	s.is("tui", "idle", 3)
	s.stops("tui")
	// At last a turn without a terminal, in which its model uses Umbra's tools.
	prompt := fmt.Sprintf(`tui goes on [[tool name=%s input=%q]] [[say well]]`, p.speaks().tool("snapshot"), `{"message":"by the agent itself","pin":"kept"}`)
	p.umbra(slices.Concat([]string{"mission", "resume", "tui", "--"}, p.speaks().headless, []string{prompt})...)
	request, _ := p.server.Last(standin.Prompted("tui goes on"))
	p.sees(request, []string{"alpha done"}, "bravo done")
	if !strings.Contains(string(request.Body), "Umbra has put files that you may remember back") {
		t.Error("the model was not told that files were put back")
	}
	if log := p.umbra("log", "tui"); !strings.Contains(log, "by the agent itself") {
		t.Errorf("no snapshot of the tool's: %s", log)
	}
}
