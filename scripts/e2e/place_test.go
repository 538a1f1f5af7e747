package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestStore begins missions of the other agents in a store that the shell names
// (TestOddPlaces does so with Claude Code), and goes on with them, and forks them, from
// a shell that does not.
func TestStore(t *testing.T) {
	for agent, c := range map[string]struct {
		client   func(*testing.T) clients.Client
		variable string
		below    string // what of the home directory is in it
	}{
		"codex":    {func(t *testing.T) clients.Client { return clients.Codex(t, clients.CodexCurrent) }, "CODEX_HOME", ".codex"},
		"gemini":   {func(t *testing.T) clients.Client { return clients.Gemini(t, clients.GeminiCurrent) }, "GEMINI_CLI_HOME", ""},
		"opencode": {func(t *testing.T) clients.Client { return clients.OpenCode(t, clients.OpenCodeCurrent) }, "OPENCODE_DB", "other.db"},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			p := newPersonWith(t, c.client(t), "UMBRA_NO_DAEMON=1")
			home := filepath.Join(p.home, "other")
			store := filepath.Join(home, c.below)
			if err := p.client.Prepare(home, p.server.URL, p.repo); err != nil {
				t.Fatal(err)
			}
			shell := p.env
			p.env = append(slices.Clone(shell), c.variable+"="+store)
			if agent != "opencode" { // whose plugin comes with the launch
				p.umbra("hooks", "install", agent)
			}
			k := p.newTalk("m")
			k.say("alpha")
			k.say("bravo")

			p.env = shell
			p.umbra("fork", "m@1", "--name", "f", "--no-launch")
			k.forked("f", 1).say("charlie")
			p.umbra("restore", "m@1")
			k.at(1).say("delta")
			for _, name := range []string{"m", "f"} {
				if m := p.mission(name); agent != "opencode" && !strings.HasPrefix(m.SessionPath, store+string(filepath.Separator)) {
					t.Errorf("%s is %+v, want its session below %s", name, m, store)
				}
			}
		})
	}
}

// TestOddPlaces works in a repository whose path Claude Code names its folder
// for in its own way, with signs and too long, and with a store of the mission's own: from a link to the
// repository, and from a shell that knows nothing of the store.
func TestOddPlaces(t *testing.T) {
	t.Parallel()
	place := filepath.Join("a.b c_ü 字😀", strings.Repeat("deep", 30), strings.Repeat("down", 30))
	p := newPersonAt(t, clients.Claude(t, clients.ClaudeCurrent), place, "UMBRA_NO_DAEMON=1")
	link, store := filepath.Join(p.home, "link"), filepath.Join(p.home, "store")
	if err := os.Symlink(p.repo, link); err != nil {
		t.Fatal(err)
	}
	shell := p.env
	p.env = append(slices.Clone(shell), "CLAUDE_CONFIG_DIR="+store)
	p.umbraIn(link, "mission", "new", "--name", "m", "--no-launch")
	k := p.talk("m")
	k.say("alpha")
	k.say("bravo")

	p.env = shell
	p.umbra("fork", "m@1", "--name", "f", "--no-launch")
	fork := k.forked("f", 1)
	same(t, "the fork", files(t, fork.workspace), k.ends[1].files)
	fork.say("charlie")
	p.umbraIn(link, "restore", "m@1")
	same(t, "the restored workspace", files(t, p.repo), k.ends[1].files)
	back := k.at(1)
	back.say("delta")

	out := p.run(link, append([]string{"umbra", "mission", "resume", "m"}, args("echo, please [[say echo done]]")...)...)
	request, ok := p.server.Last(standin.Prompted("echo, please"))
	want := append(slices.Clone(back.lines), "user: echo, please [[say echo done]]")
	if out.code != 0 || !ok || !slices.Equal(p.plain(request), want) {
		t.Errorf("through a link the model was sent\n%s\nwant\n%s\n%s", strings.Join(p.plain(request), "\n"), strings.Join(want, "\n"), out)
	}
	for _, name := range []string{"m", "f"} {
		if m := p.mission(name); !strings.HasPrefix(m.SessionPath, store+string(filepath.Separator)) || m.Workspace == link {
			t.Errorf("%s is %+v, want its session below %s", name, m, store)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*")); len(left) > 0 {
		t.Errorf("sessions where nobody wanted them: %q", left)
	}
}
