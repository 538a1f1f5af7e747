package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// newCodex is a person with Codex, whose hooks are installed.
func newCodex(t *testing.T, env ...string) *person {
	t.Helper()
	p := newPersonWith(t, clients.Codex(t, clients.CodexCurrent), env...)
	p.umbra("hooks", "install", "codex")
	return p
}

// TestCodexFork forks a mission of two turns at now and at its first turn, and
// lets all three go on, each in its own workspace and with its own history.
func TestCodexFork(t *testing.T) {
	t.Parallel()
	p := newCodex(t, "UMBRA_NO_DAEMON=1")
	source := p.newTalk("source")
	source.say("alpha")
	source.say("bravo")
	source.history("@2.3 close", "@2 idle", "@2.1 tool", "@2.0 prompt", "@1.3 close", "@1 idle", "@1.1 tool", "@1.0 prompt", "@start manual")

	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("mission", "new", "--clone", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "--name", "now", "--no-launch")
	p.untouched(repo)
	past, now := source.forked("past", 1), source.forked("now", 2)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	same(t, "the fork of now", files(t, now.workspace), source.ends[2].files)
	past.say("charlie")
	now.say("delta")
	if got := content(t, p.mission("source").SessionPath); got != session {
		t.Error("the source's conversation has changed")
	}
	source.say("echo")
	p.umbra("fork", "past@2", "--name", "deep", "--no-launch")
	deep := past.forked("deep", 2)
	same(t, "the fork of a fork", files(t, deep.workspace), past.ends[2].files)
	deep.say("foxtrot")
	seen := map[string]bool{}
	for _, id := range sessionsOf(p, "source", "past", "now", "deep") {
		if seen[id] {
			t.Errorf("two missions are in session %s", id)
		}
		seen[id] = true
	}
}

// TestCodexRestore takes files and conversation back to the first turn, undoes
// that, and talks on from each.
func TestCodexRestore(t *testing.T) {
	t.Parallel()
	p := newCodex(t)
	k := p.newTalk("m")
	k.say("alpha")
	k.say("bravo")
	original := p.mission("m")
	back := k.at(1)
	p.umbra("restore", "m@1")
	same(t, "the workspace restored to turn 1", files(t, p.repo), k.ends[1].files)
	p.umbra("undo")
	same(t, "the workspace after undo", files(t, p.repo), k.ends[2].files)
	k.say("charlie")
	p.umbra("restore", "m@1")
	kept := content(t, original.SessionPath)
	back.say("delta")
	if request, ok := p.server.Last(standin.Prompted("delta")); !ok || !strings.Contains(string(request.Body), "Umbra has put files that you may remember back") {
		t.Error("the model was not told that files were put back")
	}
	if content(t, original.SessionPath) != kept {
		t.Error("the conversation before the restore has changed")
	}
}

// TestCodexOwnFork: a conversation that Codex itself has forked holds only what
// came since. A fork of it goes on from the whole, also where what Codex forked
// it from has been deleted.
func TestCodexOwnFork(t *testing.T) {
	t.Parallel()
	p := newCodex(t, "UMBRA_NO_DAEMON=1")
	k := p.newTalk("first")
	k.say("alpha")
	first := p.mission("first")
	byHand := func(args ...string) {
		t.Helper()
		if out := p.run(p.repo, append([]string{p.client.Path, "exec", "--dangerously-bypass-hook-trust"}, args...)...); out.code != 0 {
			t.Fatalf("%s", out)
		}
	}
	byHand("fork", first.SessionID, `thin [[bash cmd="echo thin > thin.txt"]] [[say forked]]`)
	thin := asked[[]mission](p, "mission", "ls", "--all")
	if len(thin) != 2 {
		t.Fatalf("after a fork by hand the missions are %+v", thin)
	}
	name := thin[0].Name
	if name == "first" {
		name = thin[1].Name
	}
	if err := os.Remove(first.SessionPath); err != nil {
		t.Fatal(err)
	}
	p.umbra("fork", name, "--name", "whole", "--no-launch")
	fork := &talk{p: p, mission: "whole", workspace: p.mission("whole").Workspace, lines: append([]string(nil), k.lines...), ends: k.ends}
	// The part before Codex's own fork is as it was, paths and all: Codex counts its bytes.
	fork.lines = append(fork.lines, `user: thin [[bash cmd="echo thin > thin.txt"]] [[say forked]]`,
		`call exec_command {"cmd":"echo thin > thin.txt"}`, "result: ", "assistant: forked")
	fork.say("bravo")
	if _, err := os.Stat(first.SessionPath); err != nil {
		t.Errorf("what the conversation begins in is not there again: %v", err)
	}
}

// TestCodexUntrusted: hooks that nobody has trusted do not run, which is said.
// The ends of turns are told all the same, to a program for this launch alone.
func TestCodexUntrusted(t *testing.T) {
	t.Parallel()
	p := newCodex(t)
	if out := p.umbra("hooks", "status", "codex"); !strings.Contains(out, "/hooks") {
		t.Errorf("hooks status does not say how hooks are trusted: %s", out)
	}
	p.umbra("mission", "new", "--name", "m", "--no-launch")
	out := p.run(p.repo, "umbra", "mission", "resume", "m", "--", "codex", "exec", `alpha [[bash cmd="echo a > a.txt"]] [[say done]]`)
	if out.code != 0 || !strings.Contains(out.stderr, "without hooks") || !strings.Contains(out.stderr, "/hooks") {
		t.Fatalf("%s", out)
	}
	p.wait("the conversation of a turn without hooks", func() bool { return p.mission("m").SessionID != "" })
	session := p.mission("m").SessionID
	p.umbra("mission", "resume", "m", "--", "codex", "exec", "bravo [[say well]]")
	request, ok := p.server.Last(standin.Prompted("bravo"))
	if !ok || request.Session != session {
		t.Errorf("the second turn ran in session %q, the first in %q", request.Session, session)
	}
	matches, err := filepath.Glob(filepath.Join(p.home, ".codex", "sessions", "*", "*", "*", "*.jsonl"))
	if err != nil || len(matches) != 1 {
		t.Errorf("there are the conversations %v, %v", matches, err)
	}
}

// TestCodexSubagent: what a subagent said is forked with its mission, and the
// fork's agent goes on with it, in the fork's workspace. The source's is left alone.
func TestCodexSubagent(t *testing.T) {
	t.Parallel()
	p := newCodex(t, "UMBRA_NO_DAEMON=1")
	p.newTalk("source")
	headless := append(p.speaks().headless, "--enable", "multi_agent_v2")
	say := func(mission, prompt string) {
		t.Helper()
		p.umbra(slices.Concat([]string{"mission", "resume", mission, "--"}, headless, []string{prompt})...)
	}
	reported := make(chan string, 1)
	go func() { // the turn goes on when its subagent has reported
		defer p.server.Release("report")
		defer close(reported)
		for t.Context().Err() == nil {
			files, _ := filepath.Glob(filepath.Join(p.home, ".codex", "sessions", "*", "*", "*", "*.jsonl")) // the pattern is good
			for _, file := range files {
				b, _ := os.ReadFile(file) // one that is being written is read again
				if strings.Contains(string(b), `"last_agent_message":"sub said"`) {
					reported <- file
					return
				}
			}
			time.Sleep(30 * time.Millisecond)
		}
	}()
	say("source", `alpha, please [[tool name=collaboration.spawn_agent input="{\"task_name\":\"helper\",\"message\":\"one [[bash cmd=pwd]] [[say sub said]]\"}"]] [[wait report]] [[say alpha done]]`)
	sub := <-reported
	before := content(t, sub)
	p.umbra("fork", "source", "--name", "branched", "--no-launch")
	type heard struct {
		request standin.Request
		err     error
	}
	asked := make(chan heard, 1)
	go func() { // this turn too goes on when its subagent has begun
		defer p.server.Release("again")
		of := standin.Prompted("bravo")
		request, err := p.server.Wait(t.Context(), func(r standin.Request) bool { return standin.Prompted("two, please")(r) && !of(r) })
		asked <- heard{request, err}
	}()
	say("branched", `bravo, please [[tool name=collaboration.followup_task input="{\"target\":\"/root/helper\",\"message\":\"two, please [[say sub again]]\"}"]] [[wait again]] [[say bravo done]]`)
	sent := <-asked
	if sent.err != nil {
		t.Fatal(sent.err)
	}
	p.sees(sent.request, []string{"assistant: sub said", "result: " + p.mission("branched").Workspace + "\n"}, p.repo+"\n")
	if content(t, sub) != before {
		t.Error("the source's subagent has heard of it")
	}
	p.findsInSubagent(t, "sub said", "answers", "source")
	p.findsInSubagent(t, "sub again", "answers", "branched")
	if left, err := filepath.Glob(filepath.Join(p.home, ".codex", "archived_sessions", "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the archive: %q, %v", left, err)
	}
}
