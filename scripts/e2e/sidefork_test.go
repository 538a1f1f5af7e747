package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestSideFork has Claude Code enter side forks in its terminal, by itself and by its user,
// and leave them: the fork's model knows what the parent's does, and the parent's nothing
// of the fork.
func TestSideFork(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	k := p.talk("tui")
	prompt, lines := k.prompt("alpha")
	s.prompts("tui", prompt, 1)
	s.is("tui", "idle", 1)
	k.heard("alpha", lines)

	s.calls(k, "enter", "umbra fork enter", 2,
		"when this turn of tui ends, it is parked, and a fork of it takes over its terminal; umbra undo tui --queued cancels that")
	name := s.parked()
	s.see("side fork " + name + " of tui")
	parent := files(t, p.repo)
	f := k.forked(name, 2)
	s.goesOn(f, "bravo", 3)
	p.refused(11, "fork exit", "fork", "enter", name)
	s.calls(f, "leave", "umbra fork exit", 4,
		"when this turn of "+name+" ends, tui has its terminal again; umbra undo "+name+" --queued cancels that")
	s.back(name, "discarded")
	s.shows("back in tui; "+name+" is kept: umbra mission resume", "enter done", "leave done")
	same(t, "the parent's workspace", files(t, p.repo), parent)
	s.goesOn(k, "charlie", 3)

	p.umbra("fork", "enter", "tui", "--topic", "look around")
	name = s.parked()
	s.is(name, "idle", 4)
	s.enter("/exit")
	s.back(name, "discarded")
	s.goesOn(k, "delta", 4)

	p.umbra("fork", "enter", "tui")
	name = s.parked()
	s.enter(`tell, please [[bash cmd="umbra fork report 'a map is faster'"]] [[say tell done]]`)
	s.back(name, "discarded")
	prompt, lines = k.prompt("echo")
	s.prompts("tui", prompt, 5)
	s.is("tui", "idle", 5)
	if request, ok := p.server.Last(standin.Prompted("echo, please")); !ok || strings.Count(string(request.Body), "| a map is faster") != 1 {
		t.Errorf("the parent's model was not told once what the fork has found")
	}
	k.heard("echo", lines)

	p.umbra("fork", "enter", "tui")
	name = s.parked()
	f = k.forked(name, len(k.ends)-1)
	s.goesOn(f, "foxtrot", 6)
	s.enter(`keep, please [[bash cmd="umbra promote"]] [[say keep done]]`)
	s.back(name, "promoted")
	same(t, "the parent's workspace", files(t, p.repo), files(t, f.workspace))
	if r := asked[handed](p, "undo", "tui"); r.Handover.How != "relaunched" {
		t.Errorf("undo says %+v", r)
	}
	same(t, "the parent's workspace after undo", files(t, p.repo), k.ends[len(k.ends)-1].files)
	if r := asked[handed](p, "redo", "tui"); r.Handover.How != "relaunched" {
		t.Errorf("redo says %+v", r)
	}
	prompt, _ = k.prompt("golf")
	s.shows("redo to tui@", "keep done", "golf")
	s.enter(prompt)
	s.see("● golf done")
	if request, ok := p.server.Last(standin.Prompted("golf, please")); !ok || !slices.Contains(p.plain(request), "assistant: foxtrot done") {
		t.Errorf("the parent's model does not know what the promoted fork's does")
	}
	s.enter("/exit")
	s.ends()
}

// TestSideForkIdle: a side fork that nobody is at ends by itself, and its agent sums up without
// its user. The parent has its terminal again, and its model is told that once.
func TestSideForkIdle(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	k := p.talk("tui")
	prompt, lines := k.prompt("alpha")
	s.prompts("tui", prompt, 1)
	s.is("tui", "idle", 1)
	k.heard("alpha", lines)

	// On a slow machine the fork has ended before the command has seen it: it fails then.
	p.run(p.repo, "umbra", "fork", "enter", "tui", "--topic", "look around [[say a map is faster]]", "--idle-timeout", "3s")
	s.back("look-around-say-map", "discarded")
	asked, ok := p.server.Last(standin.Prompted("[umbra] Nobody has been here"))
	if !ok || !slices.Contains(p.plain(asked), "assistant: a map is faster") {
		t.Errorf("the fork's model was asked to sum up: %t", ok)
	}
	for i, word := range []string{"bravo", "charlie"} {
		prompt, lines := k.prompt(word)
		s.prompts("tui", prompt, 2+i)
		s.is("tui", "idle", 2+i)
		request, ok := p.server.Last(standin.Prompted(word + ", please"))
		if !ok || strings.Count(string(request.Body), "was ended, since its time was over") != 1 {
			t.Errorf("with %s the parent's model has not been told once that the fork was ended", word)
		}
		k.heard(word, lines)
	}
}

// TestSideForkTyped: what is typed in Claude Code is answered by its hook, without a model.
func TestSideForkTyped(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.umbra("hooks", "install", "claude")
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	k := p.talk("tui")
	prompt, lines := k.prompt("alpha")
	s.prompts("tui", prompt, 1)
	s.is("tui", "idle", 1)
	k.heard("alpha", lines)
	asked := len(p.server.Requests())
	s.enter("/umbra fork")
	name := s.parked()
	s.shows("side fork "+name+" of tui", "alpha done", "umbra exit done")
	s.see("which is parked: /umbra exit; ") // what can be typed here
	s.enter("/umbra exit")
	s.back(name, "discarded")
	if n := len(p.server.Requests()); n != asked {
		t.Errorf("/umbra made %d requests", n-asked)
	}
	s.shows("back in tui; ", "alpha done", "umbra exit done")
	s.goesOn(k, "bravo", 2)
}

// calls has a turn whose agent runs a command, which answers with one line.
func (s *terminal) calls(k *talk, word, command string, turn int, result string) {
	s.p.Helper()
	prompt := fmt.Sprintf("%s, please [[bash cmd=%q]] [[say %s done]]", word, command, word)
	s.prompts(k.mission, prompt, turn)
	s.p.wait("the turn to end", func() bool { return s.p.mission(k.mission).Turn == turn && s.p.mission(k.mission).State != "running" })
	k.lines = append(k.lines, "user: "+prompt, fmt.Sprintf("call Bash {\"command\":%q}", command), "result: "+result, "assistant: "+word+" done")
	k.ends = append(k.ends, moment{lines: len(k.lines), files: files(s.p.T, k.workspace)})
}

// parked waits until the mission is parked and its fork has the terminal; it returns the
// fork's name.
func (s *terminal) parked() (name string) {
	s.p.Helper()
	s.watch("a side fork to have the terminal", func() bool {
		m := s.p.mission("tui")
		name = m.SideFork
		return m.State == "closed" && m.ClosedHow == "parked" && name != "" && s.p.mission(name).SideForkOf == "tui" && s.p.mission(name).State == "idle"
	})
	s.see(s.p.speaks().ready)
	return name
}

// back waits until the parent has its terminal again, and checks how the fork was closed.
func (s *terminal) back(fork, how string) {
	s.p.Helper()
	s.watch("the parent to have its terminal again", func() bool {
		m := s.p.mission("tui")
		return m.State == "idle" && m.Managed == "keeper" && strings.Contains(s.screen(), s.p.speaks().ready)
	})
	if f := s.p.mission(fork); f.State != "closed" || f.ClosedHow != how {
		s.p.Errorf("the fork is %+v", f)
	}
}
