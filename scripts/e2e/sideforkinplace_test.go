package e2e

import (
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestSideForkInPlace has agents enter side forks in the workspace of their mission: the fork's
// model knows what the parent's does, and the parent has its files and its conversation again.
func TestSideForkInPlace(t *testing.T) {
	t.Parallel()
	for agent, client := range map[string]func(*testing.T) clients.Client{
		"claude": func(t *testing.T) clients.Client { return clients.Claude(t, clients.ClaudeCurrent) },
		"codex":  func(t *testing.T) clients.Client { return clients.Codex(t, clients.CodexCurrent) },
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			p := newPersonWith(t, client(t))
			if agent != "claude" {
				p.umbra("hooks", "install", agent)
			}
			p.aside()
		})
	}
}

func (p *person) aside() {
	p.Helper()
	d := p.speaks()
	s := p.terminal(slices.Concat([]string{umbraPath(), "mission", "new", "--name", "tui", "--"}, d.terminal)...)
	s.see(d.ready)
	k := p.talk("tui")
	s.turns(k)
	parent := files(p.T, p.repo)

	p.umbra("fork", "enter", "tui", "--in-place")
	name := s.parked()
	f := k.forked(name, 2)
	if f.workspace != k.workspace {
		p.Fatalf("the fork works in %s", f.workspace)
	}
	s.goesOn(f, "charlie", 3)
	p.refused(11, "umbra fork exit "+name, "restore", "tui@1")
	p.umbra("fork", "exit", name)
	s.back(name, "discarded")
	same(p.T, "the workspace after the fork was left", files(p.T, p.repo), parent)
	s.goesOn(k, "delta", 3)
	k.ends = append(k.ends, moment{lines: len(k.lines), files: files(p.T, p.repo)})

	p.umbra("fork", "enter", "tui", "--in-place")
	name = s.parked()
	s.goesOn(k.forked(name, 3), "echo", 4)
	aside := files(p.T, p.repo)
	p.umbra("promote", name)
	s.back(name, "promoted")
	same(p.T, "the workspace after the fork was promoted", files(p.T, p.repo), aside)
	if r := asked[handed](p, "undo", "tui"); r.Handover.How != "relaunched" {
		p.Errorf("undo says %+v", r)
	}
	same(p.T, "the workspace after undo", files(p.T, p.repo), k.ends[3].files)
}
