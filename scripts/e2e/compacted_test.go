package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestCompacted has an agent on a terminal sum its conversation up. A fork from before
// goes on with all that was said, one from right after and a later one with the
// summary, as the agent itself does. (TestThread is Claude Code's.)
func TestCompacted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		client            func(testing.TB, string) clients.Client
		version           string
		command, says, by string // what is typed, the screen says, the model is sent
		written           string // in the session's file once the summary is: the screen says it before
	}{
		{clients.Codex, clients.CodexCurrent, "/compact", "Context compacted", "Another language model started to solve this problem", ""},
		{clients.Gemini, clients.GeminiCurrent, "/compress", "compressed from", "Got it. Thanks for the additional context!", ""},
		{clients.OpenCode, clients.OpenCodeCurrent, "/compact", "Compaction", "What did we do so far?", compactedBy},
	} {
		t.Run(tt.version, func(t *testing.T) {
			t.Parallel()
			p := newPersonWith(t, tt.client(t, tt.version))
			s := p.compacts(tt.command, tt.says, tt.written)
			p.umbra("fork", "tui", "--name", "summed", "--no-launch")
			s.prompts("tui", "charlie, please [[say charlie done]]", 3)
			s.is("tui", "idle", 3)
			p.umbra("fork", "tui@2", "--name", "before", "--no-launch")
			p.umbra("fork", "tui@3", "--name", "later", "--no-launch")

			// A prompt, with what it quotes, may be kept beside the summary; an answer is not.
			const whole, summed = "assistant: alpha done", "assistant: charlie done"
			p.sees(p.asksCharlie(), []string{tt.by}, whole)
			p.sees(p.goesOn("before"), []string{whole, "assistant: bravo done"}, tt.by, summed)
			p.sees(p.goesOn("summed"), []string{tt.by}, whole, summed)
			p.sees(p.goesOn("later"), []string{tt.by, "charlie, please", summed}, whole)
			s.stops("tui")
		})
	}
}

// compactedBy is what OpenCode writes of a summary.
const compactedBy = `"mode":"compaction"`

// TestCompactedTail has OpenCode keep its last turn beside the summary, as it does where
// the conversation is longer than what it keeps: forks, and what is restored, go on with
// the same.
func TestCompactedTail(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent))
	if err := os.WriteFile(filepath.Join(p.repo, "opencode.json"), []byte(`{"compaction": {"tail_turns": 1}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := p.compacts("/compact", "Compaction", compactedBy)
	p.umbra("fork", "tui", "--name", "summed", "--no-launch")
	s.prompts("tui", "charlie, please [[say charlie done]]", 3)
	s.is("tui", "idle", 3)
	p.umbra("fork", "tui@3", "--name", "later", "--no-launch")
	s.stops("tui")

	kept := p.plain(p.asksCharlie())
	at := slices.IndexFunc(kept, func(line string) bool { return strings.HasPrefix(line, "user: charlie, please") })
	if text := strings.Join(kept, "\n"); at < 0 || strings.Contains(text, "alpha done") || !strings.Contains(text, "assistant: bravo done") {
		t.Fatalf("the source's model was sent\n%s", text)
	}
	summed, later := kept[:at], append(slices.Clone(kept), "assistant: charlie done")
	p.goesOnWith("summed", summed)
	p.goesOnWith("later", later)
	p.umbra("fork", "later", "--name", "again", "--no-launch")
	p.goesOnWith("again", append(later, "user: later goes on [[say well]]", "assistant: well"))
	p.umbra("restore", "tui@3", "--conversation-only")
	p.goesOnWith("tui", later)
}

// goesOnWith has a mission go on, whose model is sent those lines of the source's and
// then the prompt.
func (p *person) goesOnWith(name string, lines []string) {
	p.Helper()
	workspace := p.mission(name).Workspace
	got := p.plain(p.goesOn(name))
	for i, line := range got {
		got[i] = strings.ReplaceAll(line, workspace, p.repo)
	}
	if len(got) != len(lines)+1 || !slices.Equal(got[:len(lines)], lines) {
		p.Errorf("%s goes on with\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// compacts has the mission tui talk two turns on a terminal and sum them up by a
// command, until its session's file holds written, if that is not empty, and what
// comes after: the screen says it before.
func (p *person) compacts(command, says, written string) *terminal {
	p.Helper()
	p.umbra("hooks", "install", p.client.Agent)
	d := p.speaks()
	s := p.terminal(slices.Concat([]string{umbraPath(), "mission", "new", "--name", "tui", "--"}, d.terminal)...)
	s.see(d.ready)
	s.turns(p.talk("tui"))
	s.command(command, says)
	p.wait("the summary", func() bool {
		b, err := os.ReadFile(p.mission("tui").SessionPath)
		at := bytes.Index(b, []byte(written))
		return err == nil && (written == "" || at >= 0 && bytes.Contains(b[at:], []byte(`"type":"idle"`)))
	})
	return s
}

// asksCharlie is what the model was sent with the prompt after the summary.
func (p *person) asksCharlie() standin.Request {
	p.Helper()
	request, ok := p.server.Last(func(r standin.Request) bool { // and not for a title, which quotes it
		return standin.Prompted("")(r) && strings.HasPrefix(r.Prompt, "charlie, please")
	})
	if !ok {
		p.Fatal("no request with the prompt charlie")
	}
	return request
}

// stops stops the mission of a terminal.
func (s *terminal) stops(name string) {
	s.p.Helper()
	s.p.umbra("mission", "stop", name)
	s.p.wait("the keeper to end", s.dead)
}

// command enters a command of the agent's own and waits for what it says.
func (s *terminal) command(line, says string) {
	s.p.Helper()
	s.enters(line, "the terminal to show "+says, func() bool { return strings.Contains(s.screen(), says) })
}

// TestCompactedInTurn has Claude Code sum its conversation up by itself, in the middle of
// a turn, as it does when its model says that it is too long: the turn goes on, no
// restore ends the agent beneath it, and it ends as it ends.
func TestCompactedInTurn(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	s.prompts("tui", "alpha, please [[say alpha done]]", 1)
	s.is("tui", "idle", 1)
	s.prompts("tui", "bravo, please [[wait model]] [[fail 400 prompt is too long]]", 2)
	s.is("tui", "running", 2)
	p.server.Release("model")
	m := s.is("tui", "error", 2)
	if !strings.Contains(m.LastError, "too long") {
		t.Errorf("the mission is %+v", m)
	}
	text, err := os.ReadFile(m.SessionPath)
	if err != nil || !bytes.Contains(text, []byte(`"compact_boundary"`)) {
		t.Fatalf("the conversation was not summed up (%v); the screen is\n%s", err, s.screen())
	}
	for _, e := range asked[[]entry](p, "log", "tui") {
		if strings.Contains(e.Message, "unseen") {
			t.Errorf("a snapshot says %q", e.Message)
		}
	}
}
