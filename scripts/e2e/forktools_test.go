package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestSideForkTools has the agent itself enter side forks of itself and leave them, by the
// tools of Umbra's that it has: with nothing, with what was found out, and with all.
func TestSideForkTools(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	k := p.talk("tui")
	prompt, lines := k.prompt("alpha")
	s.prompts("tui", prompt, 1)
	s.is("tui", "idle", 1)
	k.heard("alpha", lines)

	f := s.entersByTool(k, `{}`, "")
	parent := files(t, p.repo)
	s.goesOn(f, "bravo", 3)
	s.uses(f, "leave", "exit_fork", `{}`,
		"when this turn of "+f.mission+" ends, tui has its terminal again; umbra undo "+f.mission+" --queued cancels that")
	s.back(f.mission, "discarded")
	same(t, "the parent's workspace", files(t, p.repo), parent)
	s.goesOn(k, "charlie", 3)

	f = s.entersByTool(k, `{"topic":"look around"}`, "look around")
	s.enter(`tell, please [[tool name=mcp__umbra__report_updates input="{\"message\":\"a map is faster\"}"]] [[say tell done]]`)
	s.back(f.mission, "discarded")
	same(t, "the parent's workspace", files(t, p.repo), k.ends[len(k.ends)-1].files)
	for i, word := range []string{"delta", "echo"} {
		prompt, lines := k.prompt(word)
		s.prompts("tui", prompt, 5+i)
		s.is("tui", "idle", 5+i)
		if request, ok := p.server.Last(standin.Prompted(word + ", please")); !ok || strings.Count(string(request.Body), "| a map is faster") != 1 {
			t.Errorf("with %s the parent's model has not been told once what the fork has found", word)
		}
		k.heard(word, lines)
	}

	f = s.entersByTool(k, `{}`, "")
	before := files(t, p.repo)
	s.goesOn(f, "foxtrot", p.mission(f.mission).Turn+1)
	s.enter(`keep, please [[tool name=mcp__umbra__save_context input="{}"]] [[say keep done]]`)
	s.saysYes()
	s.back(f.mission, "promoted")
	same(t, "the parent's workspace", files(t, p.repo), files(t, f.workspace))
	for _, back := range []string{"undo", "redo"} {
		if r := asked[handed](p, back, "tui"); r.Handover.How != "relaunched" {
			t.Errorf("%s says %+v", back, r)
		}
		if back == "undo" {
			same(t, "the parent's workspace after undo", files(t, p.repo), before)
		}
	}
	s.shows("redo to tui@", "keep done", "golf")
	s.enter("golf, please [[say golf done]]")
	s.see("● golf done")
	request, _ := p.server.Last(standin.Prompted("golf, please"))
	if got := p.plain(request); !slices.Contains(got, "assistant: foxtrot done") {
		t.Errorf("the parent's model was sent\n%s", strings.Join(got, "\n"))
	}
	if strings.Contains(strings.Join(standin.Lines(standin.History(request)), "\n"), f.workspace) {
		t.Errorf("the parent's model is told of %s", f.workspace)
	}
}

// entersByTool has the agent enter a side fork, and returns the fork's talk.
func (s *terminal) entersByTool(k *talk, input, topic string) *talk {
	s.p.Helper()
	s.uses(k, "enter", "enter_fork", input,
		"when this turn of tui ends, it is parked, and a fork of it takes over its terminal; umbra undo tui --queued cancels that")
	name := s.parked()
	s.see("side fork " + name + " of tui")
	f := k.forked(name, len(k.ends)-1)
	if topic == "" {
		return f
	}
	s.is(name, "idle", s.p.mission(k.mission).Turn+1)
	request, ok := s.p.server.Last(standin.Prompted(topic))
	if got := s.p.plain(request); !ok || !slices.Contains(got, "assistant: enter done") {
		s.p.Errorf("with its topic the fork's model was sent\n%s", strings.Join(got, "\n"))
	}
	return f
}

// uses has a turn of the talk's mission whose agent calls a tool of Umbra's, which answers
// with one line.
func (s *terminal) uses(k *talk, word, tool, input, result string) {
	s.p.Helper()
	turn := s.p.mission(k.mission).Turn + 1
	prompt := fmt.Sprintf("%s, please [[tool name=mcp__umbra__%s input=%q]] [[say %s done]]", word, tool, input, word)
	s.prompts(k.mission, prompt, turn)
	s.p.wait("the turn to end", func() bool { return s.p.mission(k.mission).Turn == turn && s.p.mission(k.mission).State != "running" })
	k.lines = append(k.lines, "user: "+prompt, fmt.Sprintf("call mcp__umbra__%s %s", tool, input), "result: "+result, "assistant: "+word+" done")
	k.ends = append(k.ends, moment{lines: len(k.lines), files: files(s.p.T, k.workspace)})
}

// saysYes answers what a tool of Umbra's asks the agent's user. At first the agent takes no
// key.
func (s *terminal) saysYes() {
	s.p.Helper()
	s.see("requests your input")
	s.watch("the user's answer to be taken", func() bool {
		s.tmux("send-keys", "Enter")
		return !strings.Contains(s.screen(), "requests your input")
	})
}
