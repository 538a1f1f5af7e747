package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// ownServers is a stand-in for the commands of Claude Code and Codex that change their own files
// of servers, which they refuse where told.
const ownServers = `#!/bin/sh
test -e "$HOME/refuse" && { echo "it is locked"; exit 7; }
file=$HOME/.claude.json
case "${0##*/} $*" in
"claude mcp add --scope user umbra -- "*)
	printf '{"mine": 1, "mcpServers": {"umbra": {"type": "stdio", "command": "%s", "args": ["%s"], "env": {}}}}' "$7" "$8" >"$file" ;;
"claude mcp remove --scope user umbra")
	printf '{"mine": 1, "mcpServers": {}}' >"$file" ;;
"codex mcp add umbra --env UMBRA_HOME="*" -- "*)
	mkdir -p "$HOME/.codex"
	while [ "$1" != -- ]; do shift; done
	printf '[mcp_servers.umbra]\ncommand = "%s"\nargs = ["%s"]\n' "$2" "$3" >>"$HOME/.codex/config.toml" ;;
"codex mcp remove umbra")
	: >"$HOME/.codex/config.toml" ;;
*)
	echo "no such command: $*"; exit 2 ;;
esac
`

// enlistedBench is a user of an agent that keeps its servers of tools itself.
type enlistedBench struct {
	*testBench
	ask  missions.HooksRequest
	file string // of the servers
}

func newEnlistedBench(t *testing.T, agent string) *enlistedBench {
	t.Helper()
	b := &enlistedBench{testBench: newBench(t)}
	b.local.Adapters = projects.Agents()
	bin := filepath.Join(b.user, "bin")
	b.put(filepath.Join(bin, agent), ownServers)
	if err := os.Chmod(filepath.Join(bin, agent), 0o755); err != nil {
		t.Fatal(err)
	}
	b.ask = missions.HooksRequest{Caller: b.caller(), Name: agent}
	b.ask.Caller.Env["PATH"] = bin + ":/usr/bin:/bin"
	b.binary("one/umbra")
	b.file = filepath.Join(b.user, map[string]string{"claude": ".claude.json", "codex": ".codex/config.toml"}[agent])
	return b
}

// binary has another umbra ask.
func (b *enlistedBench) binary(name string) {
	b.ask.Caller.Binary = filepath.Join(b.user, name)
	b.put(b.ask.Caller.Binary, "")
}

func (b *enlistedBench) install() missions.HooksResult {
	b.Helper()
	r, err := b.local.InstallHooks(b.Context(), b.ask)
	if err != nil || !r.Installed {
		b.Fatalf("installed: %+v, %v", r, err)
	}
	return r
}

func (b *enlistedBench) uninstall() missions.HooksResult {
	b.Helper()
	r, err := b.local.UninstallHooks(b.Context(), b.ask)
	if err != nil || r.Installed {
		b.Fatalf("uninstalled: %+v, %v", r, err)
	}
	return r
}

// names checks whether the agent's file names a program's server, and what is said of that.
func (b *enlistedBench) names(when string, r missions.HooksResult, program string, says string) {
	b.Helper()
	content, _ := os.ReadFile(b.file)
	if program == "" && strings.Contains(string(content), "umbra") || program != "" && !strings.Contains(string(content), `"`+program+`"`) {
		b.Errorf("%s: want the server %q, in\n%s", when, program, content)
	}
	if all := strings.Join(append(r.Extras, r.Problems...), "\n"); !strings.Contains(all, says) {
		b.Errorf("%s: it is said\n%s\nwant %q", when, all, says)
	}
	if ours := strings.HasPrefix(program, b.user); (r.ToolsFile == b.file) != ours {
		b.Errorf("%s: Umbra's tools are in %q", when, r.ToolsFile)
	}
}

// TestToolsOfInstalledHooks: the tools come and go with the hooks, by the agent's own commands;
// what its user has added, or changed since, stays.
func TestToolsOfInstalledHooks(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newEnlistedBench(t, agent)
			const said = "Umbra's tools for the agent (umbra mcp) in "
			r := b.install()
			b.names("installed", r, b.ask.Caller.Binary, said)
			if !r.Changed {
				t.Error("nothing has changed")
			}
			if again := b.install(); again.Changed {
				t.Errorf("installed twice: %+v", again)
			}
			b.binary("two/umbra")
			if r, err := b.local.HooksStatus(t.Context(), b.ask); err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), "those of another umbra") {
				t.Errorf("asked by another umbra: %+v, %v", r, err)
			}
			b.names("by another umbra", b.install(), b.ask.Caller.Binary, said)
			b.put(filepath.Join(b.user, "refuse"), "")
			b.names("the agent refuses", b.uninstall(), b.ask.Caller.Binary, "it is locked; to take them out: "+agent+" mcp remove")
			if err := os.Remove(filepath.Join(b.user, "refuse")); err != nil {
				t.Fatal(err)
			}
			b.names("uninstalled", b.uninstall(), "", "Umbra's tools, which it had in a file of its own")
			if _, err := os.Stat(b.file); agent == "codex" && err == nil {
				t.Error("an empty file stays that was made for the server")
			}
			if r := b.uninstall(); r.Changed {
				t.Errorf("uninstalled twice: %+v", r)
			}
			b.healthy()
		})
	}
}

// TestToolsNotInstalled: hooks are installed without the tools where those are there already, or
// not wanted, or can't be added; and it is said.
func TestToolsNotInstalled(t *testing.T) {
	t.Parallel()
	const theirs = `{"mcpServers": {"umbra": {"command": "umbra", "args": ["mcp"]}}}`
	for name, test := range map[string]struct {
		before  func(*enlistedBench)
		program string
		says    string
	}{
		"the user's own":    {func(b *enlistedBench) { b.put(b.file, theirs) }, "umbra", "your server of tools that is called umbra, as it is"},
		"one of no command": {func(b *enlistedBench) { b.put(b.file, `{"mcpServers": {"umbra": {"url": "http://x"}}}`) }, "http://x", "your server of tools"},
		"the plugin": {func(b *enlistedBench) {
			b.put(filepath.Join(b.user, ".claude", "settings.json"), `{"enabledPlugins": {"umbra@umbra": true}}`)
		}, "", "Umbra's tools for the agent, by its plugin"},
		"no program":     {func(b *enlistedBench) { b.ask.Caller.Env["PATH"] = "/nowhere" }, "", "no tools for the agent, since claude is not in PATH"},
		"it refuses":     {func(b *enlistedBench) { b.put(filepath.Join(b.user, "refuse"), "") }, "", "claude did not take Umbra's tools: claude mcp add --scope user umbra"},
		"none wanted":    {func(b *enlistedBench) { b.local.Config.Hooks.MCP = false }, "", ""},
		"for a project":  {func(b *enlistedBench) { b.ask.Project = true }, "", ""},
		"a damaged file": {func(b *enlistedBench) { b.put(b.file, `{"umbr`) }, "", "read "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnlistedBench(t, "claude")
			test.before(b)
			before, _ := os.ReadFile(b.file)
			b.names("installed", b.install(), test.program, test.says)
			b.uninstall()
			if after, _ := os.ReadFile(b.file); string(after) != string(before) {
				t.Errorf("the servers are\n%s\nand were\n%s", after, before)
			}
			b.healthy()
		})
	}
}

// TestToolsThatTheUserChanged: a server that is no more what Umbra had added is the user's.
func TestToolsThatTheUserChanged(t *testing.T) {
	t.Parallel()
	b := newEnlistedBench(t, "claude")
	b.install()
	const changed = `{"mcpServers": {"umbra": {"command": "wrapped", "args": ["umbra", "mcp"]}}}`
	b.put(b.file, changed)
	b.names("installed again", b.install(), "wrapped", "your server of tools that is called umbra, as it is")
	b.uninstall()
	if after, _ := os.ReadFile(b.file); string(after) != changed {
		t.Errorf("the servers are %s", after)
	}
}

// TestToolsThatTheUserAddedAfterARefusal: the same server, added by the user where the agent had
// refused Umbra, is the user's.
func TestToolsThatTheUserAddedAfterARefusal(t *testing.T) {
	t.Parallel()
	b := newEnlistedBench(t, "claude")
	refuse := filepath.Join(b.user, "refuse")
	b.put(refuse, "")
	b.names("refused", b.install(), "", "claude did not take Umbra's tools")
	if err := os.Remove(refuse); err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf(`{"mcpServers": {"umbra": {"command": %q, "args": ["mcp"]}}}`, b.ask.Caller.Binary)
	b.put(b.file, own)
	b.uninstall()
	if after, _ := os.ReadFile(b.file); string(after) != own {
		t.Errorf("the servers are %s", after)
	}
}
