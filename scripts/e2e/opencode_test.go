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

// TestOpenCode talks two turns, forks at now and at the first turn, restores,
// undoes, and lets each go on with its own history.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent), "UMBRA_NO_DAEMON=1")
	p.umbra("mission", "new", "--name", "source", "--no-launch", "--", "opencode", "run")
	source := p.talk("source")
	source.say("alpha")
	source.say("bravo")
	source.history("@2.3 close", "@2 idle", "@2.1 tool", "@2.0 prompt", "@1.3 close", "@1 idle", "@1.1 tool", "@1.0 prompt", "@start manual")

	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("fork", "source@1", "--name", "past", "--no-launch")
	p.leavesNoLock(func() { p.umbra("fork", "source", "--name", "now", "--no-launch") })
	p.untouched(repo)
	past := source.forked("past", 1)
	now := source.forked("now", 2)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	past.say("delta")
	now.say("echo")
	if content(t, p.mission("source").SessionPath) != session {
		t.Error("the source's conversation has changed")
	}

	p.umbra("restore", "source@1")
	same(t, "the workspace restored to turn 1", files(t, p.repo), source.ends[1].files)
	p.umbra("undo")
	same(t, "the workspace after undo", files(t, p.repo), source.ends[2].files)
	source.say("foxtrot")
	p.umbra("restore", "source@1")
	back := source.at(1)
	back.say("golf")
	if ids := sessionsOf(p, "source", "past", "now"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 3 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
	if left, err := filepath.Glob(filepath.Join(p.home, ".local", "share", "opencode", "umbra", "*.[pis]*")); err != nil || len(left) > 0 {
		t.Errorf("left of imports: %q, %v", left, err)
	}
}

// leavesNoLock has a conversation imported where OpenCode would install something
// at its start: no lock is left, for which the next OpenCode would wait.
func (p *person) leavesNoLock(imports func()) {
	p.Helper()
	if err := clients.OpenCodeHasPlugins(p.home, false); err != nil {
		p.Fatal(err)
	}
	imports()
	if locks, err := filepath.Glob(filepath.Join(p.home, ".local", "state", "opencode", "locks", "*")); err != nil || len(locks) > 0 {
		p.Errorf("the next OpenCode waits for locks of nobody's: %q, %v", locks, err)
	}
	if err := clients.OpenCodeHasPlugins(p.home, true); err != nil {
		p.Fatal(err)
	}
}

// TestOpenCodeByHand installs the plugin and starts OpenCode by hand, with the
// daemon; then by umbra, when the plugin is heard once; and uninstalls it.
func TestOpenCodeByHand(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent))
	p.umbra("hooks", "install", "opencode")
	p.umbra("hooks", "install", "opencode")
	if out := p.umbra("hooks", "status", "opencode"); !strings.Contains(out, "installed in") || strings.Contains(out, "problem") {
		t.Errorf("status: %s", out)
	}
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
	p.umbra("hooks", "uninstall", "opencode")
	if _, err := os.Stat(filepath.Join(p.home, ".config", "opencode", "plugin", "umbra.js")); !os.IsNotExist(err) {
		t.Errorf("the plugin after uninstalling: %v", err)
	}

	// Without the program the fork is made, and says what is still to be done.
	env := p.env
	p.env = slices.Clone(env)
	for i, v := range p.env {
		if strings.HasPrefix(v, "PATH=") {
			p.env[i] = "PATH=" + filepath.Dir(umbraPath()) + ":/usr/bin:/bin"
		}
	}
	out := p.run(p.repo, "umbra", "fork", "hand@1", "--name", "f", "--no-launch")
	if out.code != 0 || !strings.Contains(out.stderr, "opencode is not on PATH") || !strings.Contains(out.stderr, "umbra mission resume f") {
		t.Errorf("a fork without the program: %s", out)
	}
	p.env = env
	fork := k.forked("f", 1)
	fork.say("delta")
}

// TestOpenCodeNew leaves a turn for a new session, as OpenCode allows while it works:
// the mission goes on there, and has what was said in the turn until then. A turn that is
// stopped there has one end.
func TestOpenCodeNew(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent))
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "opencode")
	s.see(p.speaks().ready)
	s.stuck("busy", 1)
	left := p.mission("tui").SessionID
	s.enter("/new")
	s.watch("the session to be left", func() bool { return !strings.Contains(s.screen(), "busy, please") })
	const prompt = "after, please [[say after done]]"
	s.prompts("tui", prompt, 2)
	s.see("after done")
	if m := s.is("tui", "idle", 2); m.SessionID == left {
		t.Errorf("after /new the mission is %+v", m)
	}
	request, ok := p.server.Last(standin.Prompted("after, please"))
	if got := p.plain(request); !ok || len(got) != 1 || got[0] != "user: "+prompt {
		t.Errorf("after /new the model was sent\n%s", strings.Join(got, "\n"))
	}
	if list := asked[[]mission](p, "mission", "ls", "--all"); len(list) != 1 {
		t.Errorf("after /new the missions are %+v", list)
	}
	if shown := p.umbra("show", "tui@1"); !strings.Contains(shown, "busy, please") || !strings.Contains(shown, left) {
		t.Errorf("the turn that was left is\n%s", shown)
	}
	s.stoppedInCall(3)
	p.umbra("mission", "stop", "tui")
	if ends := p.ends("tui", 3); ends != 1 {
		t.Errorf("a turn that was stopped has %d ends", ends)
	}
}

// stoppedInCall stops a turn whose call runs, of which OpenCode says that it has ended
// before it has ended the call: the turn's end has that, as OpenCode's model is told.
func (s *terminal) stoppedInCall(turn int) {
	s.p.Helper()
	s.prompts("tui", `stop, please [[bash cmd="touch called; sleep 300"]]`, turn)
	s.watch("the call to run", func() bool {
		_, err := os.Stat(filepath.Join(s.p.repo, "called"))
		return err == nil
	})
	s.tmux("send-keys", "Escape")
	s.see(s.p.speaks().again)
	s.tmux("send-keys", "Escape")
	s.is("tui", "idle", turn)
	if plan := s.p.umbra("restore", fmt.Sprintf("tui@%d", turn), "--preview"); strings.Contains(plan, "cut before") {
		s.p.Errorf("to the end of a turn that was stopped %s", plan)
	}
}

// ends counts the ends of a turn.
func (p *person) ends(mission string, turn int) int {
	p.Helper()
	n := 0
	for _, e := range asked[[]entry](p, "log", mission) {
		if e.Turn == turn && slices.Contains(e.Triggers, "idle") {
			n++
		}
	}
	return n
}
