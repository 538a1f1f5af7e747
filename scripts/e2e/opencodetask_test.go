package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestOpenCodeSubagent: what a subagent said goes along with its mission. Forks from
// now and from before, and a restore, have it as it was then, and their agents go on
// with it in their own workspaces. The source's is left alone.
func TestOpenCodeSubagent(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent), "UMBRA_NO_DAEMON=1")
	p.umbra("mission", "new", "--name", "source", "--no-launch", "--", "opencode", "run")
	p.asks("source", "alpha, please "+task("", "one, please [[bash cmd=pwd]] [[say sub said]]")+" [[say alpha done]]")
	p.asks("source", "bravo, please "+task(p.subagent("source"), "two, please [[say sub again]]")+" [[say bravo done]]")
	p.umbra("fork", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "source", "--name", "now", "--no-launch")
	p.findsInSubagent(t, "sub said", "answers", "source")
	of := p.mission("source")
	before := files(t, strings.TrimSuffix(of.SessionPath, ".jsonl"))
	p.subagentGoesOn("past", "sub again")
	p.subagentGoesOn("now", "three, past")
	p.umbra("restore", "source@1")
	if again := p.mission("source"); again.SessionID == of.SessionID {
		t.Fatalf("after the restore the mission is %+v", again)
	}
	p.subagentGoesOn("source", "sub again")
	same(t, "what the source's subagent said", files(t, strings.TrimSuffix(of.SessionPath, ".jsonl")), before)
}

// TestOpenCodeUnheard: what was said while the plugin was not there, by a subagent
// too, is in the snapshot before the first prompt that is heard.
func TestOpenCodeUnheard(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent), "UMBRA_NO_DAEMON=1")
	prompt := "alpha, please " + task("", "one, please [[bash cmd=pwd]] [[say sub said]]") + " [[say alpha done]]"
	if out := p.runWith(strings.NewReader(prompt), p.repo, p.byHand()...); out.code != 0 {
		t.Fatalf("%s", out)
	}
	p.umbra("mission", "new", "--name", "heard", "--no-launch", "--", "opencode", "run")
	if out := p.runWith(strings.NewReader("bravo, please [[say bravo done]]"), p.repo, "umbra", "mission", "resume", "heard", "--", "opencode", "run", "--continue"); out.code != 0 {
		t.Fatalf("%s", out)
	}
	p.umbra("fork", "heard@1.0", "--name", "before", "--no-launch")
	p.subagentGoesOn("before", "bravo")
	p.sees(p.lastOf("charlie, please"), []string{"user: " + prompt, "assistant: alpha done"}, "bravo")
}

// task has the model give a subagent a prompt: a new one, or the one of that id.
func task(id, prompt string) string {
	input := map[string]string{"subagent_type": "general", "description": "helper", "prompt": prompt}
	if id != "" {
		input["task_id"] = id
	}
	b, _ := json.Marshal(input) // strings always marshal
	return fmt.Sprintf("[[tool name=task input=%q]]", b)
}

// asks has one turn of a mission with OpenCode.
func (p *person) asks(name, prompt string) {
	p.Helper()
	if out := p.runWith(strings.NewReader(prompt), p.repo, "umbra", "mission", "resume", name, "--", "opencode", "run"); out.code != 0 {
		p.Fatalf("%s", out)
	}
}

// subagent is the session of a mission's only subagent.
func (p *person) subagent(name string) string {
	p.Helper()
	m := p.mission(name)
	all, err := filepath.Glob(filepath.Join(strings.TrimSuffix(m.SessionPath, ".jsonl"), "*"))
	if err != nil || len(all) != 1 || filepath.Ext(all[0]) != ".jsonl" {
		p.Fatalf("%s has the subagents %q, %v", name, all, err)
	}
	return strings.TrimSuffix(filepath.Base(all[0]), ".jsonl")
}

// lastOf is the last request whose prompt begins so.
func (p *person) lastOf(word string) standin.Request {
	p.Helper()
	request, ok := p.server.Last(func(r standin.Request) bool {
		return standin.Prompted(word)(r) && strings.HasPrefix(r.Prompt, word)
	})
	if !ok {
		p.Fatalf("no request with the prompt %s", word)
	}
	return request
}

// subagentGoesOn has a mission's agent go on with its subagent of before, which knows what
// it said, but for what was said elsewhere, and works in the mission's workspace.
func (p *person) subagentGoesOn(name, elsewhere string) {
	p.Helper()
	id := p.subagent(name)
	p.asks(name, "charlie, please "+task(id, "three, "+name+" [[bash cmd=pwd]] [[say well]]")+" [[say charlie done]]")
	p.sees(p.lastOf("charlie, please"), []string{`<task id="` + id + `"`})
	workspace := p.mission(name).Workspace
	request := p.lastOf("three, " + name)
	p.sees(request, []string{"user: one, please", "assistant: sub said", "result: " + workspace}, elsewhere)
	if workspace != p.repo && slices.Contains(p.plain(request), "result: "+p.repo) {
		p.Errorf("the subagent of %s is told of its source's workspace", name)
	}
}
