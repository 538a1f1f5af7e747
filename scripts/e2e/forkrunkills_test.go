package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestForkRunKills kills a process while a fork answers a prompt in the background, or while
// its answer is queued for its parent. What the fork has done is there, the parent goes on,
// and its model is told the answer once.
func TestForkRunKills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point  string // where the daemon waits meanwhile; "" in the fork's turn
		victim victim
		gate   bool
	}{
		{"", commandDies, false},
		{"", daemonDies, false},
		{"", keeperDies, true},
		{"", agentDies, false},
		{"update.queue", daemonDies, false},
		{"update.queued", daemonDies, true},
		{"update.queued", keeperDies, false},
		{"update.queued", commandDies, false},
		{"keeper.ended", keeperDies, false}, // and its agent has ended
	} {
		if !c.gate && !triesAllKills() {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s", c.point, c.victim), func(t *testing.T) {
			t.Parallel()
			newPersonHeld(t, clients.Claude(t, clients.ClaudeCurrent)).runsForkKilled(c.point, c.victim)
		})
	}
}

func (p *person) runsForkKilled(point string, v victim) {
	p.Helper()
	k := p.killer()
	source := p.newTalk("source")
	source.say("alpha")
	cmd, cancel := p.command(p.repo, "umbra", "fork", "run", "source", "--name", "twin",
		"--prompt", `bravo, please [[bash cmd="echo aside >aside.txt; echo in the middle"]] [[wait go]] [[say this is bravo]]`)
	defer cancel()
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.wait("the fork's agent to be in its turn", func() bool {
		r, ok := p.server.Last(standin.Prompted("bravo, please"))
		return ok && slices.ContainsFunc(p.plain(r), func(line string) bool { return strings.HasPrefix(line, "result: in the middle") })
	})
	kill := func() {
		if v != commandDies {
			k.kill(v)
		} else if err := cmd.Process.Kill(); err != nil {
			p.Fatal(err)
		}
	}
	if point == "" {
		kill()
		p.server.Release("go")
	} else {
		k.whileAt(point, kill, func(reached func() bool) {
			p.server.Release("go")
			p.wait("the daemon to be at "+point, reached)
		})
	}
	_ = cmd.Wait() // it may have failed, with its agent
	p.wait("the fork to end", func() bool { return p.mission("twin").State == "closed" })
	if got := p.umbra("cat", "twin", "aside.txt"); got != "aside\n" {
		p.Errorf("what the fork has done is %q in its newest snapshot", got)
	}
	if v == agentDies { // it has answered nothing: its conversation goes on
		p.sees(p.goesOn("twin"), []string{"assistant: alpha done", "user: bravo, please", "result: in the middle"})
		p.umbra("fork", "report", "twin", "this is bravo")
	}
	for range 2 {
		request := p.goesOn("source")
		if n := strings.Count(string(request.Body), "| this is bravo"); n != 1 {
			p.Errorf("the parent's model has been told %d times what the fork has answered", n)
		}
		p.sees(request, source.lines)
	}
}
