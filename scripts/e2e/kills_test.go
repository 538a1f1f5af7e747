package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// allKills is a variable that has TestSideForkKills try each row of its table with each agent, and TestForkRunKills too, where it is all. Else they try those that the
// gate has time for.
const allKills = "UMBRA_E2E_KILLS"

func triesAllKills() bool { return os.Getenv(allKills) == "all" }

// A kill is of whom, and when in the life of a side fork.
type kill struct {
	step    string // entering, working, reporting, telling or promoting
	point   string // where the daemon waits meanwhile, if anywhere
	victims []victim
	gate    victim // the one that the gate tries
}

// killSteps are in the order in which a side fork comes to them. While the agent that has the
// terminal has ended, and the next one has not begun, there is none to kill.
var killSteps = []kill{
	{"entering", "handover.begun", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"entering", "fork.published", []victim{daemonDies, keeperDies, agentDies}, agentDies},
	{"entering", "terminal.noted", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"entering", "handover.told", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"entering", "handover.ended", []victim{daemonDies, keeperDies}, ""},
	{"entering", "terminal.closed", []victim{daemonDies, keeperDies}, daemonDies},
	{"entering", "handover.done", []victim{daemonDies, keeperDies}, ""},
	{"entering", "terminal.launch", []victim{daemonDies, keeperDies}, ""},
	{"entering", "keeper.started", []victim{daemonDies, keeperDies, agentDies}, keeperDies},
	{"working", "", []victim{daemonDies, keeperDies, agentDies}, agentDies},
	{"reporting", "update.queued", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"reporting", "handover.begun", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"reporting", "terminal.noted", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"reporting", "handover.told", []victim{daemonDies, keeperDies, agentDies}, agentDies},
	{"reporting", "handover.ended", []victim{daemonDies, keeperDies}, ""},
	{"reporting", "terminal.closed", []victim{daemonDies, keeperDies}, keeperDies},
	{"reporting", "handover.done", []victim{daemonDies, keeperDies}, ""},
	{"reporting", "terminal.launch", []victim{daemonDies, keeperDies}, ""},
	{"reporting", "keeper.started", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"telling", "update.give", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"telling", "update.given", []victim{daemonDies, keeperDies, agentDies}, keeperDies},
	{"telling", "update.told", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"promoting", "handover.begun", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"promoting", "restore.exchanged", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"promoting", "restore.committed", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"promoting", "restore.talked", []victim{daemonDies, keeperDies, agentDies}, daemonDies},
	{"promoting", "handover.told", []victim{daemonDies, keeperDies, agentDies}, ""},
	{"promoting", "terminal.closed", []victim{daemonDies, keeperDies}, ""},
	{"promoting", "terminal.launch", []victim{daemonDies, keeperDies}, ""},
	{"promoting", "keeper.started", []victim{daemonDies, keeperDies, agentDies}, ""},
}

// TestSideForkKills kills the daemon, the keeper or the agent at each step of a side fork's
// life. Each time the parent can go on, what the fork has done and told is there, and the
// parent's model is told it once, or has the fork's history, as if nobody had been killed.
func TestSideForkKills(t *testing.T) {
	t.Parallel()
	tried := map[string]func(*testing.T) clients.Client{
		"claude": func(t *testing.T) clients.Client { return clients.Claude(t, clients.ClaudeCurrent) },
		"codex":  func(t *testing.T) clients.Client { return clients.Codex(t, clients.CodexCurrent) },
	}
	for _, row := range killSteps {
		for _, v := range row.victims {
			for agent, client := range tried {
				if !triesAllKills() && (v != row.gate || agent != "claude") {
					continue
				}
				t.Run(strings.Join([]string{agent, row.step, row.point, string(v)}, "/"), func(t *testing.T) {
					t.Parallel()
					p := newPersonHeld(t, client(t))
					k := p.killer()
					if agent != "claude" {
						p.umbra("hooks", "install", agent)
					}
					(&sideForkLife{killer: k.launches(), row: row, victim: v}).run()
				})
			}
		}
	}
}

// A sideForkLife is that of one side fork, in which one process is killed.
type sideForkLife struct {
	*killer
	row    kill
	victim victim

	parent *talk
	before map[string]string // the parent's files
	fork   *talk
	holder string // who has the terminal
}

// found is what the fork has found out.
const found = "a map is faster"

func (l *sideForkLife) run() {
	l.p.Helper()
	l.parent = l.p.talk("tui")
	prompt, lines := l.parent.prompt("alpha")
	l.prompts("tui", prompt, 1)
	l.is("tui", "idle", 1)
	l.parent.heard("alpha", lines)
	l.before = files(l.p.T, l.p.repo)

	l.goesAside()
	l.works()
	if l.row.step == "promoting" {
		l.promotes()
		return
	}
	l.reports()
	l.tells()
}

// does has the agent use a tool of Umbra's, if there is one, in a turn in which the row's
// victim is killed if it is the row's step. Else it waits for done.
func (l *sideForkLife) does(step, prompt string, done func() bool) {
	l.p.Helper()
	if l.row.step != step {
		l.enters(prompt, step+" to end", done)
		return
	}
	l.killAt(l.victim, l.row.point, func(reached func() bool) { l.enters(prompt, "the daemon to be at "+l.row.point, reached) })
}

func (l *sideForkLife) useTool(word, tool, input string) string {
	return fmt.Sprintf("%s, please [[tool name=%s input=%q]] [[say %s done]]", word, l.p.speaks().tool(tool), input, word)
}

// goesAside has the agent enter a side fork of itself.
func (l *sideForkLife) goesAside() {
	l.p.Helper()
	prompt := l.useTool("enter", "enter_fork", "{}")
	l.does("entering", prompt, func() bool { return l.p.mission("tui").ClosedHow == "parked" })
	k := l.parent
	k.lines = append(k.lines, "user: "+prompt, fmt.Sprintf("call %s {}", l.p.speaks().tool("enter_fork")),
		"result: when this turn of tui ends, it is parked, and a fork of it takes over its terminal; umbra undo tui --queued cancels that", "assistant: enter done")
	k.ends = append(k.ends, moment{lines: len(k.lines), files: l.before})
	if l.holder = l.settles(); l.holder == "tui" {
		l.p.umbra("fork", "enter", "tui")
		l.holder = l.settles()
	}
	if l.holder == "tui" {
		l.p.Fatalf("no side fork has the terminal")
	}
	l.fork = k.forked(l.holder, 2)
}

// works has the fork's agent work: its model knows what its parent's does.
func (l *sideForkLife) works() {
	l.p.Helper()
	l.goesOn(l.fork, "bravo", 3)
	if l.row.step != "working" {
		return
	}
	l.prompts(l.fork.mission, `stay, please [[bash cmd="echo aside >aside.txt; echo in the middle"]] [[wait go]] [[say stay done]]`, 4)
	l.p.wait("the fork's agent to be in its turn", func() bool {
		r, ok := l.p.server.Last(standin.Prompted("stay, please"))
		return ok && slices.ContainsFunc(l.p.plain(r), func(line string) bool { return strings.HasPrefix(line, "result: in the middle") })
	})
	l.kill(l.victim)
	l.p.server.Release("go")
	l.holder = l.settles()
	if got := l.p.umbra("cat", l.fork.mission, "aside.txt"); got != "aside\n" {
		l.p.Errorf("what the fork has done is %q in its newest snapshot", got)
	}
}

// reports has the fork report what it has found out, and leaves it.
func (l *sideForkLife) reports() {
	l.p.Helper()
	if l.holder == l.fork.mission {
		l.does("reporting", l.useTool("tell", "report_updates", `{"message":"`+found+`"}`), func() bool { return l.p.mission(l.fork.mission).State == "closed" })
		l.holder = l.settles()
	}
	waiting := asked[[]struct{ Text string }](l.p, "updates", "tui")
	switch {
	case len(waiting) == 0:
		if l.row.step != "working" {
			l.p.Errorf("what was told is lost")
		}
		l.p.umbra("fork", "report", l.fork.mission, found)
	case l.holder == l.fork.mission:
		l.p.umbra("fork", "exit")
	}
	if l.holder != "tui" {
		l.holder = l.settles()
	}
	if waiting = asked[[]struct{ Text string }](l.p, "updates", "tui"); l.holder != "tui" || len(waiting) != 1 {
		l.p.Fatalf("%s has the terminal, and %q wait", l.holder, waiting)
	}
	same(l.p.T, "the parent's workspace", files(l.p.T, l.p.repo), l.before)
}

// tells has the parent's model told what the fork has found out.
func (l *sideForkLife) tells() {
	l.p.Helper()
	if l.row.step == "telling" {
		turn := l.p.mission("tui").Turn + 1
		l.does("telling", "delta, please [[say delta done]]", nil)
		if l.victim == daemonDies { // its prompt goes on
			l.is("tui", "idle", turn)
		}
		l.holder = l.settles()
	}
	for _, word := range []string{"echo", "foxtrot"} {
		turn := l.p.mission("tui").Turn + 1
		l.prompts("tui", word+", please [[say "+word+" done]]", turn)
		l.is("tui", "idle", turn)
		request, ok := l.p.server.Last(standin.Prompted(word + ", please"))
		if n := strings.Count(string(request.Body), "| "+found); !ok || n != 1 {
			l.p.Errorf("with %s the parent's model has been told %d times what the fork has found", word, n)
		}
		if got := l.p.plain(request); len(got) < len(l.parent.lines) || !slices.Equal(got[:len(l.parent.lines)], l.parent.lines) {
			l.p.Errorf("with %s the parent's model was sent\n%s\nwhich does not begin with\n%s", word, strings.Join(got, "\n"), strings.Join(l.parent.lines, "\n"))
		}
	}
	if waiting := asked[[]struct{ Text string }](l.p, "updates", "tui"); len(waiting) > 0 {
		l.p.Errorf("%q wait still", waiting)
	}
	l.stops("tui")
}

// promotes has the parent become what the fork is, and takes that back.
func (l *sideForkLife) promotes() {
	l.p.Helper()
	prompt := l.useTool("keep", "save_context", "{}")
	l.killAt(l.victim, l.row.point, func(reached func() bool) {
		if l.p.client.Agent != "claude" { // which ask in forms of their own
			cmd, cancel := l.p.command(l.p.repo, "umbra", "promote", l.fork.mission, "--keep")
			l.p.Cleanup(cancel)
			if err := cmd.Start(); err != nil {
				l.p.Fatal(err)
			}
			l.p.Cleanup(func() { _ = cmd.Wait() }) // it may have failed, with the daemon
			l.p.wait("the daemon to be at "+l.row.point, reached)
			return
		}
		l.enters(prompt, "the agent to ask", func() bool { return reached() || strings.Contains(l.screen(), "requests your input") })
		l.saysYes(reached)
	})
	l.holder = l.settles()
	if l.holder == l.fork.mission || files(l.p.T, l.p.repo)["bravo.txt"] == "" {
		l.p.umbra("promote", l.fork.mission, "--keep")
		l.holder = l.settles()
	}
	if l.holder != "tui" {
		l.p.Fatalf("%s has the terminal", l.holder)
	}
	same(l.p.T, "the parent's workspace", files(l.p.T, l.p.repo), files(l.p.T, l.fork.workspace))
	promoted := 0
	for _, e := range asked[[]entry](l.p, "log", "tui") {
		if slices.Contains(e.Triggers, "promote") {
			promoted++
		}
	}
	if promoted != 1 {
		l.p.Errorf("it was promoted %d times", promoted)
	}
	for _, args := range [][]string{{"undo", "tui"}, {"redo", "tui"}} {
		l.p.umbra(args...)
		l.holder = l.settles()
		if args[0] == "undo" {
			same(l.p.T, "the parent's workspace after undo", files(l.p.T, l.p.repo), l.before)
		}
	}
	same(l.p.T, "the parent's workspace after redo", files(l.p.T, l.p.repo), files(l.p.T, l.fork.workspace))
	l.asks("delta", []string{"assistant: alpha done", "assistant: bravo done"}, l.fork.workspace)
	l.p.umbra("undo", "tui", "--force") // delta was a turn since
	l.holder = l.settles()
	l.asks("echo", l.parent.lines, "assistant: bravo done")
	l.stops("tui")
}

// asks has a turn of the parent's, and checks what its model knows.
func (l *sideForkLife) asks(word string, has []string, not ...string) {
	l.p.Helper()
	turn := l.p.mission("tui").Turn + 1
	l.prompts("tui", word+", please [[say "+word+" done]]", turn)
	l.is("tui", "idle", turn)
	request, ok := l.p.server.Last(standin.Prompted(word + ", please"))
	if !ok {
		l.p.Fatalf("the model was not asked %s", word)
	}
	l.p.sees(request, has, not...)
}
