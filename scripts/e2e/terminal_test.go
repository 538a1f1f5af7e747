package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// A terminal is a tmux of its own with one window, which stays when its program
// has ended. All that the program writes is in a file as well.
type terminal struct {
	p      *person
	socket string
	begun  int // programs
}

func (p *person) terminal(args ...string) *terminal {
	p.Helper()
	s := &terminal{p: p, socket: filepath.Join(p.home, "tmux")}
	p.Cleanup(s.leave)
	s.begin(p.repo, args...)
	return s
}

// leave closes the terminal, and waits until what ran there is gone: an agent whose
// terminal goes away tells its hooks, which write to Umbra's home, that it ends.
func (s *terminal) leave() {
	s.p.Helper()
	s.p.run(s.p.repo, "tmux", "-S", s.socket, "kill-server")
	s.p.wait("the terminal's processes to end", func() bool { return len(lab.ProcessesWith("TMUX="+s.socket+",")) == 0 })
}

// begin runs a program in dir, in the place of the one before.
func (s *terminal) begin(dir string, args ...string) {
	s.p.Helper()
	s.begun++
	name := itoa(s.begun)
	start := []string{"-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"}
	start = append(start, "new-session", "-d", "-s", name, "-x", "180", "-y", "50", "-c", dir, "--")
	start = append(append(start, args...), ";", "pipe-pane", "exec cat >'"+filepath.Join(s.p.home, "terminal-"+name)+"'")
	s.tmux(append(start, ";", "kill-session", "-a", "-t", name)...)
}

func (s *terminal) tmux(args ...string) string {
	s.p.Helper()
	out := s.p.run(s.p.repo, append([]string{"tmux", "-S", s.socket}, args...)...)
	if out.code != 0 {
		s.p.Fatalf("%s", out)
	}
	return out.stdout
}

// screen is what is to be seen.
func (s *terminal) screen() string {
	return s.p.run(s.p.repo, "tmux", "-S", s.socket, "capture-pane", "-p").stdout
}

// ends waits for the end of the program, which must be a good one.
func (s *terminal) ends() {
	s.p.Helper()
	s.endsWith("0")
}

// endsWith waits for the end of the program, which must have that exit code.
func (s *terminal) endsWith(code string) {
	s.p.Helper()
	var state string
	s.p.wait("the terminal's program to end", func() bool {
		state = strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_dead}#{pane_dead_signal},#{pane_dead_status}"))
		if state == "1," {
			// tmux 3.3 loses the signal of a child's end now and then, beside
			// pipe-pane's own child, and waits for it for ever.
			s.tmux("run-shell", "kill -CHLD #{pid}")
			return false
		}
		return strings.HasPrefix(state, "1")
	})
	if state != "1,"+code {
		s.p.Errorf("it ended with %q; the screen is\n%s", state, s.screen())
	}
}

// enter types a line, and Enter until it can be seen to be taken.
func (s *terminal) enter(line string) {
	s.p.Helper()
	s.enters(line, "the terminal to take "+line, func() bool { return !s.holds(line) || s.dead() })
}

// enters types a line and Enter, and waits for what comes of it. While the line can be
// seen to stand in the input still, Enter is typed again: at once where the agent took it
// for a part of what was typed, and as a person would where nothing has come of it, which
// a busy agent that still starts may have lost.
func (s *terminal) enters(line, what string, done func() bool) {
	s.p.Helper()
	s.types(line)
	typed := s.input()
	s.tmux("send-keys", "Enter")
	entered := time.Now()
	s.watch(what, func() bool {
		if done() {
			return true
		}
		now := s.input()
		if strings.Contains(now, beforeScript(line)) && (now != typed || time.Since(entered) > patience.Of(5*time.Second)) {
			typed, entered = now, time.Now()
			s.tmux("send-keys", "Enter")
		}
		return false
	})
}

// input is what stands in the agent's input; "" for an agent that loses no Enter.
func (s *terminal) input() string {
	if box := s.p.speaks().box; box != nil {
		return box(s.screen())
	}
	return ""
}

func (s *terminal) holds(line string) bool { return strings.Contains(s.input(), beforeScript(line)) }

// dead says whether the program has ended.
func (s *terminal) dead() bool {
	s.p.Helper()
	return strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_dead}")) == "1"
}

// types types a line that is to be seen then: what is typed while an agent still
// starts may be lost, and is typed again.
func (s *terminal) types(line string) {
	s.p.Helper()
	start := beforeScript(line)
	s.tmux("send-keys", "-l", line)
	typed := time.Now()
	s.watch("the terminal to show "+start, func() bool {
		if strings.Contains(s.screen(), start) {
			return true
		}
		if time.Since(typed) > patience.Of(20*time.Second) {
			s.tmux("send-keys", "C-u")
			s.tmux("send-keys", "-l", line)
			typed = time.Now()
		}
		return false
	})
}

// beforeScript is what is typed before the first directive, where no end of a line
// on the screen takes it apart.
func beforeScript(line string) string {
	start, _, _ := strings.Cut(line, "[[")
	return strings.TrimSpace(start)
}

// prompts enters a prompt that begins a turn of the mission.
func (s *terminal) prompts(mission, line string, turn int) {
	s.p.Helper()
	s.enters(line, mission+" to begin a turn", func() bool { return s.p.mission(mission).Turn >= turn })
}

func (s *terminal) see(text string) {
	s.p.Helper()
	s.watch("the terminal to show "+text, func() bool { return strings.Contains(s.screen(), text) })
}

// watch waits, and says what the screen was if that was in vain.
func (s *terminal) watch(what string, done func() bool) {
	s.p.Helper()
	defer func() {
		if s.p.Failed() {
			s.p.Logf("the screen is\n%s", s.screen())
		}
	}()
	s.p.wait(what, done)
}

// is waits until the mission is in that state and turn.
func (s *terminal) is(name, state string, turn int) mission {
	s.p.Helper()
	var m mission
	defer func() {
		if s.p.Failed() {
			s.p.Logf("the mission is %+v, the screen\n%s", m, s.screen())
		}
	}()
	s.p.wait(name+" to be "+state, func() bool {
		m = s.p.mission(name)
		return m.State == state && m.Turn == turn
	})
	return m
}

// shows waits until the agent is there again with a conversation in which has
// was said last and not was not, and with Umbra's line below it.
func (s *terminal) shows(line, has, not string) {
	s.p.Helper()
	defer func() {
		s.p.Logf("with %q the screen is\n%s", line, s.screen())
	}()
	s.p.wait("the terminal to show "+line, func() bool {
		screen := s.screen()
		before, after, found := strings.Cut(screen, "says: umbra: "+line)
		return found && strings.Contains(before, has) && strings.Contains(after, ready) && !strings.Contains(screen, not)
	})
}

// ready is what Claude Code shows below its input.
const ready = "bypass permissions on"

// turns has two turns on the terminal, whatever keeps the mission.
func (s *terminal) turns(k *talk) {
	s.p.Helper()
	for turn, word := range []string{"alpha", "bravo"} {
		prompt, lines := k.prompt(word)
		s.prompts(k.mission, prompt, turn+1)
		s.see(word + " done")
		s.is(k.mission, "idle", turn+1)
		k.heard(word, lines)
	}
}

// goesOn has a turn after a restore to a moment: what the model is sent shows
// where the agent is. It returns the request; the talk has the turn then.
func (s *terminal) goesOn(back *talk, word string, turn int) standin.Request {
	s.p.Helper()
	prompt, lines := back.prompt(word)
	s.prompts(back.mission, prompt, turn)
	s.see(word + " done")
	s.is(back.mission, "idle", turn)
	request, ok := s.p.server.Last(standin.Prompted(word + ", please"))
	if !ok {
		s.p.Fatalf("no request with the prompt %s", word)
	}
	back.lines = append(back.lines, lines...)
	if got := s.p.plain(request); !slices.Equal(got, back.lines) {
		s.p.Fatalf("with %s the model was sent\n%s\nwant\n%s\nthe screen is\n%s", word, strings.Join(got, "\n"), strings.Join(back.lines, "\n"), s.screen())
	}
	back.lines = append(back.lines, "assistant: "+word+" done")
	return request
}

// handed is what these tests read of a restore's JSON.
type handed struct {
	SessionID string `json:"session_id"`
	Queued    bool   `json:"queued"`
	Handover  struct{ How, Type string }
}

// TestTerminal works with Claude Code on a terminal, under the keeper: turns, one
// that is interrupted, restores, undo and redo beneath the live agent, while it
// is idle, while it works and from inside a turn, the end.
func TestTerminal(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	k := p.talk("tui")
	if m := p.mission("tui"); m.Managed != "keeper" {
		t.Errorf("a mission in a terminal is %+v", m)
	}
	s.turns(k)
	for moment, want := range map[string]string{"tui@1.0": "0\n", "tui@1": "0\nalpha\n", "tui@2": "0\nalpha\nbravo\n"} {
		if got := p.umbra("cat", moment, "state.txt"); got != want {
			t.Errorf("state.txt at %s is %q, want %q", moment, got, want)
		}
	}
	s.stuck("stuck", 3)
	s.tmux("send-keys", "Escape")
	s.see("nterrupted")
	s.is("tui", "idle", 3)

	relaunched := func(args ...string) handed {
		t.Helper()
		r := asked[handed](p, args...)
		if r.Handover.How != "relaunched" || r.Handover.Type != "" {
			t.Fatalf("umbra %q says %+v", args, r)
		}
		return r
	}
	s.tmux("send-keys", "-l", "half a thought")
	s.see("half a thought")
	restored := relaunched("restore", "tui@1")
	same(t, "the restored workspace", files(t, p.repo), k.ends[1].files)
	s.shows("restore to tui@1; what was typed and not sent is lost; ", "alpha done", "bravo done")
	relaunched("undo", "tui")
	same(t, "the workspace after undo", files(t, p.repo), k.ends[2].files)
	s.shows("undo to ", "bravo done", "half a thought")
	if again := relaunched("redo", "tui"); again.SessionID != restored.SessionID {
		t.Errorf("redo leads to session %s, want %s", again.SessionID, restored.SessionID)
	}
	s.shows("redo to tui@", "alpha done", "bravo done")
	back := k.at(1)
	request := s.goesOn(back, "charlie", 4)
	if !strings.Contains(string(request.Body), "Umbra has put files that you may remember back") {
		t.Error("the model was not told that files were put back")
	}
	if m := p.mission("tui"); m.SessionID != restored.SessionID || m.Managed != "keeper" {
		t.Errorf("the mission's session is %s, want %s; it is %+v", m.SessionID, restored.SessionID, m)
	}

	s.stuck("busy", 5)
	p.refused(11, "--when-idle", "restore", "tui@1")
	if r := asked[handed](p, "restore", "tui@1", "--when-idle"); !r.Queued {
		t.Errorf("restore --when-idle says %+v", r)
	}
	s.tmux("send-keys", "Escape")
	s.p.wait("a third restore", func() bool { return s.restores() == 3 })
	s.shows("restore to tui@1; ", "alpha done", "charlie done")
	sixth := k.at(1)
	s.goesOn(sixth, "delta", 6)

	p.umbra("hooks", "install", "claude") // the next one launched knows /checkpoint
	s.enter(`inside, please [[bash cmd="umbra restore tui@1"]] [[say inside done]]`)
	s.p.wait("a fourth restore", func() bool { return s.restores() == 4 })
	s.shows("restore to tui@1; ", "alpha done", "delta done")
	s.is("tui", "idle", 7)
	s.goesOn(k.at(1), "echo", 8)
	s.enter("/checkpoint restore @1 --all")
	s.p.wait("a fifth restore", func() bool { return s.restores() == 5 })
	s.shows("restore to tui@1; ", "alpha done", "echo done")
	s.goesOn(k.at(1), "foxtrot", 9)

	s.enter("/exit")
	s.ends()
	m := p.mission("tui")
	if m.State != "closed" || m.ExitCode == nil || *m.ExitCode != 0 {
		t.Errorf("after /exit the mission is %+v", m)
	}
	s.forkedAtEnds(back, sixth)
}

// forkedAtEnds forks the mission at the ends of turns that its user had on the
// terminal: the fifth, stopped with Esc, and the sixth, each in a conversation that a
// restore has left since. A fork's model is sent what was said up to there.
func (s *terminal) forkedAtEnds(fifth, sixth *talk) {
	s.p.Helper()
	stopped := append(fifth.lines, "user: "+stuckPrompt("busy"), `call Bash {"command":"echo in the middle"}`, "result: in the middle",
		"user: [Request interrupted by user]", "assistant: No response requested.")
	for moment, said := range map[string][]string{"tui@5": stopped, "tui@6": sixth.lines} {
		name := strings.ReplaceAll(moment, "@", "-at-")
		s.p.umbra("fork", moment, "--name", name, "--no-launch")
		fork := &talk{p: s.p, mission: name, workspace: s.p.mission(name).Workspace}
		for _, line := range said {
			fork.lines = append(fork.lines, strings.ReplaceAll(line, s.p.repo, fork.workspace))
		}
		fork.say("golf")
		fork.say("hotel")
	}
}

// stuck has a turn that does not end by itself, after a command. Whatever a client on a busy
// machine heard of that command's output, its model was told that it ended.
func (s *terminal) stuck(word string, turn int) {
	s.p.Helper()
	s.prompts("tui", stuckPrompt(word), turn)
	s.p.wait("the model to be asked", func() bool {
		r, ok := s.p.server.Last(standin.Prompted(word + ", please"))
		lines := s.p.plain(r)
		asked := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, word+", please") })
		return ok && asked >= 0 && slices.ContainsFunc(lines[asked:], func(line string) bool { return strings.HasPrefix(line, "result: ") })
	})
	s.is("tui", "running", turn)
}

func stuckPrompt(word string) string {
	return word + `, please [[bash cmd="echo in the middle"]] [[wait never]]`
}

// restores counts the restores and redos of the mission, which lead to the same.
func (s *terminal) restores() int {
	n := 0
	for _, e := range asked[[]entry](s.p, "log", "tui") {
		if strings.HasPrefix(e.Message, "restore to") || strings.HasPrefix(e.Message, "redo to") {
			n++
		}
	}
	return n
}

// TestTerminalByHand restores beneath a Claude Code that was started by hand: its
// user is told what to type.
func TestTerminalByHand(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.umbra("hooks", "install", "claude")
	s := p.terminal("claude", "--dangerously-skip-permissions")
	s.see(ready)
	var name string
	p.wait("the session to be a mission", func() bool {
		list := asked[[]mission](p, "mission", "ls")
		if len(list) == 1 {
			name = list[0].ID
		}
		return name != ""
	})
	k := p.talk(name)
	s.turns(k)
	restored := asked[handed](p, "restore", name+"@1")
	same(t, "the restored workspace", files(t, p.repo), k.ends[1].files)
	if want := "/resume " + restored.SessionID; restored.Handover.How != "type" || restored.Handover.Type != want {
		t.Fatalf("the restore says %+v, want %q", restored, want)
	}
	s.enter(restored.Handover.Type)
	s.p.wait("the conversation to be the shorter one", func() bool { return !strings.Contains(s.screen(), "bravo done") })
	s.goesOn(k.at(1), "charlie", 3)
	if m := p.mission(name); m.SessionID != restored.SessionID {
		t.Errorf("after /resume the mission's session is %s, want %s", m.SessionID, restored.SessionID)
	}
}
