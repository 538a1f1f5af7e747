package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// calls is a prompt whose answer calls tools of Umbra's, one after the other.
func calls(text string, tools ...[2]string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, tool := range tools {
		fmt.Fprintf(&b, ` [[tool name=mcp__umbra__%s input=%q]]`, tool[0], tool[1])
	}
	return b.String() + " [[say that is all]]"
}

// TestMCP: the model of an agent that Umbra has launched calls Umbra's tools, whose
// results it is sent; and without its user it restores nothing.
func TestMCP(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{"current": clients.ClaudeCurrent, "middle": clients.ClaudeMiddle} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, version, "UMBRA_NO_DAEMON=1")
			prompt := calls("use them",
				[2]string{"snapshot", `{"message":"by the agent itself","pin":"kept"}`},
				[2]string{"timeline", `{}`},
				[2]string{"run_fork", `{"prompts":["try it another way"],"name":"twin"}`},
				[2]string{"wait", `{"forks":["twin"],"seconds":600}`},
				[2]string{"fork_output", `{"fork":"twin"}`},
				[2]string{"restore", `{"moment":"login@start"}`},
			)
			p.umbra("mission", "new", "--name", "login", "--", "claude", "--print", prompt, "--dangerously-skip-permissions")
			request, ok := p.server.Last(standin.Prompted("use them"))
			if !ok {
				t.Fatal("the model was asked nothing")
			}
			history := strings.Join(standin.Lines(standin.History(request)), "\n")
			for _, want := range []string{
				"call mcp__umbra__timeline", "by the agent itself", // the snapshot, in the log
				"twin", "twin closed", "ok", // the fork, that it has ended, and its answer
				"would:", "Your user could not be asked. Nothing was changed.", "umbra restore --mission=login login@start",
			} {
				if !strings.Contains(history, want) {
					t.Errorf("the model was not sent %q:\n%s", want, history)
				}
			}
			if m := p.mission("twin"); m.Turn != 2 {
				t.Errorf("the fork: %+v", m)
			}
			if pins := p.umbra("pins"); !strings.Contains(pins, "kept") {
				t.Errorf("pins: %s", pins)
			}
			p.wait("the fork's answer to be reported", func() bool { return strings.Contains(p.umbra("updates", "login"), "twin") })
		})
	}
}

// TestToolsOfOthers: so do the models of Codex, which looks tools up, of OpenCode, and of
// Gemini CLI, where they are installed.
func TestToolsOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(t *testing.T) *person
		tool  string
	}{
		"codex": {func(t *testing.T) *person { return newCodex(t, "UMBRA_NO_DAEMON=1") }, "mcp__umbra.snapshot"},
		"opencode": {func(t *testing.T) *person {
			return newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent), "UMBRA_NO_DAEMON=1")
		}, "umbra_snapshot"},
		"pi": {func(t *testing.T) *person {
			return newPersonWith(t, clients.Pi(t, clients.PiCurrent), "UMBRA_NO_DAEMON=1")
		}, "mcp__umbra__snapshot"},
		"copilot": {func(t *testing.T) *person {
			return newPersonWith(t, clients.Copilot(t, clients.CopilotCurrent), "UMBRA_NO_DAEMON=1")
		}, "umbra-snapshot"},
		"gemini": {func(t *testing.T) *person {
			p := newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent), "UMBRA_NO_DAEMON=1")
			p.umbra("hooks", "install", "gemini")
			return p
		}, "mcp_umbra_snapshot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.begin(t)
			prompt := fmt.Sprintf(`use it [[tool name=%s input=%q]] [[say that is all]]`, c.tool, `{"message":"by the agent itself","pin":"kept"}`)
			p.umbra(append([]string{"mission", "new", "--name", "login", "--prompt", prompt, "--"}, p.speaks().headless...)...)
			request, _ := p.server.Last(standin.Prompted("use it"))
			history := strings.Join(standin.Lines(standin.History(request)), "\n")
			if id := regexp.MustCompile(`\b[0-9a-f]{40}\b`); !id.MatchString(history) {
				t.Errorf("the model was not sent the id of the snapshot:\n%s", history)
			}
			if pins := p.umbra("pins"); !strings.Contains(pins, "kept") {
				t.Errorf("pins: %s", pins)
			}
			if log := p.umbra("log", "login"); !strings.Contains(log, "by the agent itself") {
				t.Errorf("the tool worked on another mission: %s", log)
			}
		})
	}
}

// TestInstalledTools: sessions that are started by hand have Umbra's tools once the hooks are
// installed, by the agent's own commands where it keeps its servers itself; and they are gone
// with the hooks.
func TestInstalledTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client func(*testing.T) clients.Client
		tool   string
		list   []string // the agent's own list of its servers, by the user's PATH
	}{
		"claude":   {func(t *testing.T) clients.Client { return clients.Claude(t, clients.ClaudeCurrent) }, "mcp__umbra__missions", []string{"env", "claude", "mcp", "get", "umbra"}},
		"codex":    {func(t *testing.T) clients.Client { return clients.Codex(t, clients.CodexCurrent) }, "mcp__umbra.missions", []string{"env", "codex", "mcp", "get", "umbra"}},
		"opencode": {func(t *testing.T) clients.Client { return clients.OpenCode(t, clients.OpenCodeCurrent) }, "umbra_missions", []string{"env", "opencode", "mcp", "list"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPersonWith(t, c.client(t), "UMBRA_NO_DAEMON=1")
			p.umbra("mission", "new", "--name", "found-by-the-tool", "--", "true")
			listed := func() bool {
				out := p.run(p.repo, c.list...)
				return out.code == 0 && strings.Contains(out.stdout+out.stderr, p.binary)
			}
			if listed() {
				t.Fatal("the tools are there before they are installed")
			}
			p.umbra("hooks", "install", name)
			if !listed() {
				t.Errorf("the agent does not list Umbra's tools: %+v", p.run(p.repo, c.list...))
			}
			p.run(p.repo, append(append([]string{"env"}, p.speaks().headless...), fmt.Sprintf("use it [[tool name=%s input={}]] [[say that is all]]", c.tool))...)
			request, _ := p.server.Last(standin.Prompted("use it"))
			if history := strings.Join(standin.Lines(standin.History(request)), "\n"); !strings.Contains(history, "found-by-the-tool") {
				t.Errorf("the model was sent\n%s", history)
			}
			p.umbra("hooks", "uninstall", name)
			if listed() {
				t.Errorf("the tools are there when they are uninstalled: %+v", p.run(p.repo, c.list...))
			}
		})
	}
}

// TestUserIsAsked: on a terminal Claude Code asks its user whether its agent may restore
// its own mission, which is done when the turn has ended.
func TestUserIsAsked(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	before := files(t, p.repo)
	s.prompts("tui", `write it [[write path=new.txt content="new"]] [[say written]]`, 1)
	agent := s.is("tui", "idle", 1).PID
	s.prompts("tui", calls("go back", [2]string{"restore", `{"moment":"tui@1.0"}`}), 2)
	s.see("restore of ")
	if now := files(t, p.repo); len(now) != len(before)+1 {
		t.Errorf("before the answer the files are %v", now)
	}
	s.watch("the user's answer to be taken", func() bool { // at first it takes no key
		s.tmux("send-keys", "Enter")
		return !strings.Contains(s.screen(), "requests your input")
	})
	s.watch("the restore to be done", func() bool { return strings.Contains(p.umbra("log", "tui", "--ops"), "restore") })
	s.watch("the agent to be there again", func() bool { pid := p.mission("tui").PID; return pid != 0 && pid != agent })
	s.shows("restore to tui@1.0; ", "", "written")
	same(t, "the restored workspace", files(t, p.repo), before)
	request, _ := p.server.Last(standin.Prompted("go back"))
	if history := strings.Join(standin.Lines(standin.History(request)), "\n"); !strings.Contains(history, "the restore happens when it ends") {
		t.Errorf("the model was sent\n%s", history)
	}
}
