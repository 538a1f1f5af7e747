package e2e

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestCopilot talks with Copilot CLI, forks it at now and at its first turn, restores and
// undoes, and lets each go on with the history it is to have, in its own workspace. A fork
// that nobody has gone on with is not what `copilot --continue` goes on with, and nothing
// that it has leads to its source.
func TestCopilot(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Copilot(t, clients.CopilotCurrent), "UMBRA_NO_DAEMON=1")
	source := p.newTalk("source")
	source.say("alpha")
	source.say("bravo")
	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("fork", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "source", "--name", "now", "--no-launch")
	p.untouched(repo)
	if content(t, p.mission("source").SessionPath) != session {
		t.Error("the source's conversation has changed")
	}
	if all := byTime(t, p, "source", "past", "now"); all[2] != "source" {
		t.Errorf("copilot --continue goes on with %s", all[2])
	}
	past, now := source.forked("past", 1), source.forked("now", 2)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	same(t, "the fork of now", files(t, now.workspace), source.ends[2].files)
	past.say("delta")
	now.say("echo")
	p.untouched(repo)
	ofNowAlone(t, p)
	p.umbra("restore", "source@1")
	same(t, "the workspace restored to turn 1", files(t, p.repo), source.ends[1].files)
	p.umbra("undo")
	same(t, "the workspace after undo", files(t, p.repo), source.ends[2].files)
	p.umbra("redo")
	back := source.at(1)
	same(t, "the workspace restored again", files(t, p.repo), back.ends[1].files)
	back.say("hotel")
	if ids := sessionsOf(p, "source", "past", "now"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 3 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
}

// ofNowAlone: what the fork of now has beside its conversation, in which Umbra tells it of
// its source, names nothing of that.
func ofNowAlone(t *testing.T, p *person) {
	t.Helper()
	source, now := p.mission("source"), p.mission("now")
	err := filepath.WalkDir(filepath.Dir(now.SessionPath), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == now.SessionPath {
			return err
		}
		b, err := os.ReadFile(path)
		text := strings.ReplaceAll(string(b), now.Workspace, "/fork")
		for _, of := range []string{source.Workspace, source.SessionID, hex.EncodeToString([]byte(source.Workspace + "/"))} {
			if strings.Contains(text, of) {
				t.Errorf("%s of the fork has %s of its source", path, of)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// byTime are missions by when their session files were written, the oldest first.
func byTime(t *testing.T, p *person, names ...string) []string {
	t.Helper()
	return slices.SortedFunc(slices.Values(names), func(a, b string) int {
		x, errX := os.Stat(p.mission(a).SessionPath)
		y, errY := os.Stat(p.mission(b).SessionPath)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		return x.ModTime().Compare(y.ModTime())
	})
}

// TestCopilotByHand starts Copilot CLI without umbra: with the hooks its session becomes a
// mission, and a subagent's none of its own; then by umbra, when each event is heard once.
// With hooks of which the program is gone its tools still run, and uninstalling leaves
// nothing.
func TestCopilotByHand(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Copilot(t, clients.CopilotCurrent))
	p.umbra("hooks", "install", "copilot")
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
	const task = `charlie, please [[tool name=task input="{\"description\":\"a\",\"agent_type\":\"general-purpose\",\"name\":\"sub\",\"mode\":\"sync\",\"prompt\":\"[[bash cmd=\\\"echo sub > sub.txt\\\"]]\"}"]]`
	if out := p.run(p.repo, append([]string{"umbra", "mission", "resume", "hand", "--"}, append(p.speaks().headless, task)...)...); out.code != 0 {
		t.Fatalf("a turn with a subagent: %s", out)
	}
	list = asked[[]mission](p, "mission", "ls", "--all")
	if made := content(t, filepath.Join(p.repo, "sub.txt")); len(list) != 1 || list[0].Turn != 3 || !strings.HasSuffix(made, `"sub\n"`) {
		t.Fatalf("a subagent made %q, and then the missions are %+v", made, list)
	}
	p.findsInSubagent(t, "sub.txt", "commands", "hand")
	hooks := filepath.Join(p.home, ".copilot", "hooks", "umbra.json")
	installed, err := os.ReadFile(hooks)
	if err != nil {
		t.Fatal(err)
	}
	gone := bytes.ReplaceAll(installed, []byte(umbraPath()), []byte("/nowhere/umbra"))
	if err := os.WriteFile(hooks, gone, 0o600); err != nil || bytes.Equal(gone, installed) {
		t.Fatalf("the hooks are %s, %v", installed, err)
	}
	out := p.run(p.repo, append(p.byHand(), `delta, please [[bash cmd="echo x > gone.txt"]]`)...)
	if data, err := os.ReadFile(filepath.Join(p.repo, "gone.txt")); err != nil || string(data) != "x\n" {
		t.Errorf("with hooks whose program is gone, a tool was not run: %v; %s", err, out)
	}
	p.umbra("hooks", "uninstall", "copilot")
	if _, err := os.Stat(filepath.Dir(hooks)); !os.IsNotExist(err) {
		t.Errorf("the hooks' directory after uninstalling: %v", err)
	}
}

// TestQuestionOfCopilot leaves a question of Copilot CLI's open on a terminal: the mission
// waits, a snapshot is taken, and the turn ends once it is answered.
func TestQuestionOfCopilot(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Copilot(t, clients.CopilotCurrent))
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "copilot")
	s.see(p.speaks().ready)
	s.prompts("tui", `alpha, please [[bash cmd="echo a > a.txt"]] [[say alpha done]]`, 1)
	s.see("Do you want to run this command?")
	s.is("tui", "waiting", 1)
	p.umbra("snapshot", "tui", "--pin", "asked")
	if got := p.run(p.repo, "umbra", "cat", "asked", "a.txt"); got.code == 0 {
		t.Errorf("before the answer there is a.txt: %s", got.stdout)
	}
	s.tmux("send-keys", "Enter")
	s.see("alpha done")
	s.is("tui", "idle", 1)
	if got := p.umbra("cat", "tui@1", "a.txt"); got != "a\n" {
		t.Errorf("at the end of the turn a.txt is %q", got)
	}
	s.stops("tui")
}
