package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// chatter is a mission's conversation with OpenCode, as the model must be sent
// it.
type chatter struct {
	p         *person
	mission   string
	workspace string
	lines     []string
	ends      []moment // ends[n] is as turn n ended
}

func newChatter(p *person, name string) *chatter {
	p.Helper()
	return &chatter{p: p, mission: name, workspace: p.repo, ends: []moment{{files: files(p.T, p.repo)}}}
}

// at is the conversation as that turn ended, in a fork's workspace or the same.
func (c *chatter) at(turn int, mission, workspace string) *chatter {
	past := &chatter{p: c.p, mission: mission, workspace: workspace, ends: slices.Clone(c.ends[:turn+1])}
	for _, line := range c.lines[:c.ends[turn].lines] {
		past.lines = append(past.lines, strings.ReplaceAll(line, c.workspace, workspace))
	}
	return past
}

// prompt is a turn that writes a file by its whole path and runs a command.
func (c *chatter) prompt(word string) (prompt string, lines []string) {
	file, written := filepath.Join(c.workspace, word+".txt"), word+" in "+c.mission+"\n"
	shell := fmt.Sprintf("echo %s >> state.txt; pwd; cat %s.txt", word, word)
	prompt = fmt.Sprintf("%s, please [[write path=%q content=%q]] [[bash cmd=%q]] [[say %s done]]", word, file, written, shell, word)
	return prompt, []string{
		"user: " + prompt,
		fmt.Sprintf(`call write {"content":%q,"filePath":%q}`, written, file), "result: Wrote file successfully.",
		fmt.Sprintf(`call bash {"command":%q}`, shell), "result: " + c.workspace + "\n" + strings.TrimSuffix(written, "\n"),
	}
}

// say has one turn, by args that take the prompt on stdin, and checks what the
// model was sent and what the turn did.
func (c *chatter) say(word string, args ...string) {
	c.p.Helper()
	if len(args) == 0 {
		args = []string{umbraPath(), "mission", "resume", c.mission, "--", "opencode", "run"}
	}
	prompt, lines := c.prompt(word)
	cmd, cancel := c.p.command(c.workspace, args...)
	defer cancel()
	cmd.Stdin = strings.NewReader(prompt)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), word+" done") {
		c.p.Fatalf("%s was answered %q, %v", word, out, err)
	}
	request, ok := c.p.server.Last(standin.Prompted(word + ", please"))
	if !ok {
		c.p.Fatalf("no request with the prompt %s", word)
	}
	c.lines = append(c.lines, lines...)
	if got := chatted(request); !slices.Equal(got, c.lines) {
		c.p.Fatalf("with %s the model was sent\n%s\nwant\n%s", word, strings.Join(got, "\n"), strings.Join(c.lines, "\n"))
	}
	c.lines = append(c.lines, "assistant: "+word+" done")
	c.ends = append(c.ends, moment{lines: len(c.lines), files: files(c.p.T, c.workspace)})
}

// chatted is what a request carries of the conversation, without what Umbra adds
// to a prompt and what OpenCode fills in where a tool wants more.
func chatted(r standin.Request) []string {
	var lines []string
	for _, line := range standin.Lines(standin.History(r)) {
		for _, note := range []string{"\nUmbra has put files", "\nUmbra: you are the agent"} {
			line, _, _ = strings.Cut(line, note)
		}
		if head, _, ok := strings.Cut(line, `,"description":`); ok && strings.HasPrefix(line, "call bash") {
			line = head + "}"
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// TestOpenCode talks two turns, forks at now and at the first turn, restores,
// undoes, and lets each go on with its own history.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent), "UMBRA_NO_DAEMON=1")
	p.umbra("mission", "new", "--name", "source", "--no-launch", "--", "opencode", "run")
	source := newChatter(p, "source")
	source.say("alpha")
	source.say("bravo")
	var log []string
	for _, e := range asked[[]entry](p, "log", "source") {
		log = append(log, strings.TrimPrefix(e.Address, "source")+" "+strings.Join(e.Triggers, "+"))
	}
	turn := func(n int) []string {
		return []string{fmt.Sprintf("@%d.3 close", n), fmt.Sprintf("@%d idle", n), fmt.Sprintf("@%d.1 tool", n), fmt.Sprintf("@%d.0 prompt", n)}
	}
	if want := slices.Concat(turn(2), turn(1), []string{"@start manual"}); !slices.Equal(log, want) {
		t.Errorf("the log is %q, want %q", log, want)
	}

	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("fork", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "source", "--name", "now", "--no-launch")
	p.untouched(repo)
	past := source.at(1, "past", p.mission("past").Workspace)
	now := source.at(2, "now", p.mission("now").Workspace)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	past.say("delta")
	now.say("echo")
	if content(t, p.mission("source").SessionPath) != session {
		t.Error("the source's conversation has changed")
	}

	p.umbra("restore", "source@1")
	same(t, "the workspace restored to turn 1", files(t, p.repo), source.ends[1].files)
	p.umbra("undo")
	same(t, "the workspace after undo", files(t, p.repo), source.ends[2].files)
	source.say("foxtrot")
	p.umbra("restore", "source@1")
	back := source.at(1, "source", p.repo)
	back.say("golf")
	if ids := sessionsOf(p, "source", "past", "now"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 3 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
	if left, err := filepath.Glob(filepath.Join(p.home, ".local", "share", "opencode", "umbra", "*.[pi]*")); err != nil || len(left) > 0 {
		t.Errorf("left of imports: %q, %v", left, err)
	}
}

// TestOpenCodeByHand installs the plugin and starts OpenCode by hand, with the
// daemon; then by umbra, when the plugin is heard once; and uninstalls it.
func TestOpenCodeByHand(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent))
	p.umbra("hooks", "install", "opencode")
	p.umbra("hooks", "install", "opencode")
	if out := p.umbra("hooks", "status", "opencode"); !strings.Contains(out, "installed in") || strings.Contains(out, "problem") {
		t.Errorf("status: %s", out)
	}
	k := newChatter(p, "hand")
	k.say("alpha", p.client.Path, "run")
	list := asked[[]mission](p, "mission", "ls", "--all")
	if len(list) != 1 || list[0].Turn != 1 || list[0].State != "closed" {
		t.Fatalf("after a session by hand the missions are %+v", list)
	}
	p.umbra("mission", "rename", list[0].Name, "hand")
	k.say("bravo")
	var of []string
	for _, e := range asked[[]entry](p, "log", "hand") {
		if e.Turn == 2 {
			of = append(of, strings.Join(e.Triggers, "+"))
		}
	}
	if want := []string{"close", "idle", "tool", "prompt"}; !slices.Equal(of, want) {
		t.Errorf("turn 2 has the snapshots %s, want %s", of, want)
	}
	p.umbra("hooks", "uninstall", "opencode")
	if _, err := os.Stat(filepath.Join(p.home, ".config", "opencode", "plugin", "umbra.js")); !os.IsNotExist(err) {
		t.Errorf("the plugin after uninstalling: %v", err)
	}

	// Without the program the fork is made, and says what is still to be done.
	env := p.env
	p.env = slices.Clone(env)
	for i, v := range p.env {
		if strings.HasPrefix(v, "PATH=") {
			p.env[i] = "PATH=" + filepath.Dir(umbraPath()) + ":/usr/bin:/bin"
		}
	}
	out := p.run(p.repo, "umbra", "fork", "hand@1", "--name", "f", "--no-launch")
	if out.code != 0 || !strings.Contains(out.stderr, "opencode is not on PATH") || !strings.Contains(out.stderr, "umbra mission resume f") {
		t.Errorf("a fork without the program: %s", out)
	}
	p.env = env
	fork := k.at(1, "f", p.mission("f").Workspace)
	fork.say("delta")
}
