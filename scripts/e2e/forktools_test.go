package e2e

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestSideForkOfCodex has Codex enter side forks by the tool, and leave them, on its terminal.
func TestSideForkOfCodex(t *testing.T) {
	t.Parallel()
	p := newCodex(t)
	d := p.speaks()
	s := p.terminal(slices.Concat([]string{umbraPath(), "mission", "new", "--name", "tui", "--"}, d.terminal)...)
	s.see(d.ready)
	k := p.talk("tui")
	prompt, lines := k.prompt("alpha")
	s.prompts("tui", prompt, 1)
	s.is("tui", "idle", 1)
	k.heard("alpha", lines)

	f := s.entersByTool(k, `{}`, "")
	args, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(p.mission(f.mission).PID)).Output()
	if err != nil || !strings.Contains(string(args), `"UMBRA_STANDIN_KEY"`) { // of the keeper's environment, which Codex gives no tool unasked
		t.Errorf("the tools of the fork's agent are not given its key: %s, %v", args, err)
	}
	parent := files(t, p.repo)
	s.goesOn(f, "bravo", 3)
	s.enter(fmt.Sprintf(`leave, please [[tool name=%s input="{}"]] [[say leave done]]`, d.tool("exit_fork")))
	s.back(f.mission, "discarded")
	same(t, "the parent's workspace", files(t, p.repo), parent)
	s.goesOn(k, "charlie", 3)

	f = s.entersByTool(k, `{}`, "")
	s.enter(fmt.Sprintf(`tell, please [[tool name=%s input="{\"message\":\"a map is faster\"}"]] [[say tell done]]`, d.tool("report_updates")))
	s.back(f.mission, "discarded")
	s.isToldOnce("delta", "a map is faster", 5)

	p.umbra("fork", "enter", "tui")
	name := s.parked()
	s.enter(`write, please [[bash cmd="echo kept >kept.txt"]] [[say write done]]`)
	s.is(name, "idle", p.mission("tui").Turn+1)
	p.umbra("promote", name)
	s.back(name, "promoted")
	turn := p.mission("tui").Turn + 1
	s.prompts("tui", "echo, please [[say echo done]]", turn)
	s.is("tui", "idle", turn)
	request, _ := p.server.Last(standin.Prompted("echo, please"))
	p.sees(request, []string{"assistant: write done"})
	if got := files(t, p.repo)["kept.txt"]; got == "" {
		t.Error("the parent has not what its fork wrote")
	}
}

// TestSideForkWithoutTerminal: an agent without a terminal enters no side fork, and is told
// which tool runs a fork in the background. What that one answers reaches it with its next
// prompt, once.
func TestSideForkWithoutTerminal(t *testing.T) {
	t.Parallel()
	newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1").entersWithoutTerminal()
}

// TestForkRunToolOfCodex: a fork that Codex runs by its tool has the environment that Codex has,
// though Codex gives its tools little of it: the stand-in asks for a key.
func TestForkRunToolOfCodex(t *testing.T) {
	t.Parallel()
	newCodex(t, "UMBRA_NO_DAEMON=1").entersWithoutTerminal()
}

func (p *person) entersWithoutTerminal() {
	p.Helper()
	d := p.speaks()
	prompt := "try it"
	for _, c := range [][2]string{
		{"enter_fork", `{}`}, {"run_fork", `{"prompts":["look around [[say a map is faster]]"],"name":"twin"}`}, {"wait", `{"forks":["twin"],"seconds":600}`},
	} {
		prompt += fmt.Sprintf(" [[tool name=%s input=%q]]", d.tool(c[0]), c[1])
	}
	p.umbra(slices.Concat([]string{"mission", "new", "--name", "login", "--prompt", prompt + " [[say tried]]", "--"}, d.headless)...)
	request, _ := p.server.Last(standin.Prompted("try it"))
	p.sees(request, []string{"the agent of login has no terminal", "umbra fork run login --prompt TEXT", "twin closed"})
	p.wait("the fork's answer to be reported", func() bool { return strings.Contains(p.umbra("updates", "login"), "a map is faster") })
	for range 2 {
		if n := strings.Count(string(p.goesOn("login").Body), "| a map is faster"); n != 1 {
			p.Errorf("the model was told %d times what the fork has found", n)
		}
	}
}

// isToldOnce has two turns of the parent's: from the first on its model knows once what a fork
// has reported.
func (s *terminal) isToldOnce(word, reported string, turn int) {
	s.p.Helper()
	for i := range 2 {
		prompt := fmt.Sprintf("%s %d, please [[say %s %d done]]", word, i, word, i)
		s.prompts("tui", prompt, turn+i)
		s.is("tui", "idle", turn+i)
		request, ok := s.p.server.Last(standin.Prompted(fmt.Sprintf("%s %d, please", word, i)))
		if n := strings.Count(string(request.Body), "| "+reported); !ok || n != 1 {
			s.p.Errorf("with prompt %d the parent's model has been told %d times what the fork has found", i, n)
		}
	}
}

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
	s.saysYes(func() bool { return p.mission(f.mission).State == "closed" })
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
	if s.p.client.Agent == "claude" { // others draw over the line
		s.see("side fork " + name + " of tui")
	}
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
	prompt := fmt.Sprintf("%s, please [[tool name=%s input=%q]] [[say %s done]]", word, s.p.speaks().tool(tool), input, word)
	s.prompts(k.mission, prompt, turn)
	s.p.wait("the turn to end", func() bool { return s.p.mission(k.mission).Turn == turn && s.p.mission(k.mission).State != "running" })
	k.lines = append(k.lines, "user: "+prompt, fmt.Sprintf("call %s %s", s.p.speaks().tool(tool), input), "result: "+result, "assistant: "+word+" done")
	k.ends = append(k.ends, moment{lines: len(k.lines), files: files(s.p.T, k.workspace)})
}

// saysYes answers what a tool of Umbra's asks the agent's user, until what they said yes to
// is done. At first the agent takes no key; and it may have the answer already, of an Enter
// that was typed again for the prompt.
func (s *terminal) saysYes(done func() bool) {
	s.p.Helper()
	s.watch("what the user says yes to", func() bool {
		if strings.Contains(s.screen(), "requests your input") {
			s.tmux("send-keys", "Enter")
			return false
		}
		return done()
	})
}
