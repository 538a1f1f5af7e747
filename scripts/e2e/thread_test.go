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

// TestThread follows one conversation through what Claude Code does to it: a task
// list, results of which some are missing, a compaction, a fork of its own, and a
// turn in another directory. At each moment a fork has what was said up to it.
func TestThread(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1")
	p.newTalk("m")
	const first = `alpha, please [[tool name=TaskCreate input="{\"subject\":\"milk\",\"description\":\"buy\"}"]] [[say alpha done]]`
	p.turn("m", "alpha, please", first)
	p.halfDone("m", 2)
	p.turn("m", "/compact", "/compact")
	p.turn("m", "charlie, please", "charlie, please [[say charlie done]]")
	p.umbra("fork", "m", "--name", "after", "--no-launch")

	// Between two results: the turn before is whole, and its task list is there.
	p.umbra("fork", "half", "--name", "middle", "--no-launch")
	if _, err := os.Stat(filepath.Join(p.mission("middle").Workspace, "one.txt")); err != nil {
		t.Error(err)
	}
	half := p.turn("middle", "tick, please", `tick, please [[tool name=TaskUpdate input="{\"taskId\":\"1\",\"status\":\"completed\"}"]] [[tool name=TaskList input="{}"]] [[say tick done]]`)
	want := []string{
		"user: " + first, `call TaskCreate {"description":"buy","subject":"milk"}`, "result: Task #1 created successfully: milk", "assistant: alpha done",
		"user: " + half.Prompt, `call TaskUpdate {"status":"completed","taskId":"1"}`, "result: Updated task #1 status", `call TaskList {}`, "result: #1 [completed] milk",
	}
	if got := p.plain(half); !slices.Equal(got, want) {
		t.Errorf("in the fork between two results the model was sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	p.sees(p.turn("m", "list, please", `list, please [[tool name=TaskList input="{}"]] [[say list done]]`), []string{"result: #1 [pending] milk", "charlie done"}, "alpha, please")

	// Before and after the compaction.
	p.umbra("fork", "m@2", "--name", "before", "--no-launch")
	p.sees(p.turn("before", "delta, please", "delta, please [[say delta done]]"), []string{"alpha, please", "result: first", "result: second", "bravo done"}, "Compacted")
	p.umbra("fork", "m@3", "--name", "summed", "--no-launch")
	p.sees(p.turn("summed", "mike, please", "mike, please [[say mike done]]"), []string{"Compacted", "charlie, please", "assistant: charlie done"}, "alpha, please", "list")
	p.sees(p.turn("after", "echo, please", "echo, please [[say echo done]]"), []string{"Compacted", "charlie, please", "assistant: charlie done"}, "alpha, please", "list done")

	p.ownFork("m")
	p.elsewhere("m")
}

// halfDone has a turn with two calls in one answer, and a snapshot named half when
// the file holds the first one's result and not the second's.
func (p *person) halfDone(name string, turn int) {
	p.Helper()
	const prompt = `bravo, please [[bash cmd="echo 1 > one.txt; echo first"]] [[parallel]] [[bash cmd="until [ -e go ]; do sleep 0.05; done; echo second"]] [[say bravo done]]`
	running := p.start(append([]string{"mission", "resume", name}, args(prompt)...)...)
	session := p.mission(name).SessionPath
	p.wait("the first result", func() bool {
		text, err := os.ReadFile(session)
		if running.over() {
			p.Fatalf("the turn is over: %s", running.said())
		}
		return err == nil && strings.Contains(string(text), `"type":"tool_result","content":"first"`)
	})
	p.umbra("snapshot", name, "--pin", "half")
	if err := os.WriteFile(filepath.Join(p.repo, "go"), nil, 0o644); err != nil {
		p.Fatal(err)
	}
	if code := running.wait(p.T); code != 0 {
		p.Fatalf("the turn ended with %d: %s", code, running.said())
	}
	if m := p.mission(name); m.Turn != turn {
		p.Errorf("after turn %d the mission is %+v", turn, m)
	}
}

// ownFork has Claude Code fork the mission's session itself: under Umbra that is
// the session of the mission that it is launched for, by hand a mission of its own.
func (p *person) ownFork(name string) {
	p.Helper()
	source := p.mission(name)
	fork := []string{"claude", "--resume", source.SessionID, "--fork-session", "--dangerously-skip-permissions", "-p"}
	p.umbra(append([]string{"mission", "new", "--name", "own", "--"}, append(fork, "foxtrot, please [[say foxtrot done]]")...)...)
	own := p.mission("own")
	if own.SessionID == "" || own.SessionID == source.SessionID || own.Turn != 1 {
		p.Errorf("the mission of Claude Code's own fork is %+v", own)
	}
	p.umbra("fork", "own", "--name", "further", "--no-launch")
	p.sees(p.turn("own", "golf, please", "golf, please [[say golf done]]"), []string{"charlie, please", "list done", "foxtrot done"})
	if m := p.mission("own"); m.SessionID != own.SessionID {
		p.Errorf("the next turn is in session %s, want %s", m.SessionID, own.SessionID)
	}
	p.sees(p.turn("further", "hotel, please", "hotel, please [[say hotel done]]"), []string{"charlie, please", "list done", "foxtrot done"}, "golf")
	p.umbra("fork", "own@1", "--name", "first", "--no-launch")
	p.sees(p.turn("first", "lima, please", "lima, please [[say lima done]]"), []string{"charlie, please", "list done", "foxtrot done"}, "golf")

	p.umbra("hooks", "install", "claude")
	fork[0] = p.client.Path
	if out := p.run(p.repo, append(fork, "india, please [[write path=india.txt content=india]] [[say india done]]")...); out.code != 0 {
		p.Fatalf("%s", out)
	}
	all := asked[[]mission](p, "mission", "ls", "--all")
	if n := slices.IndexFunc(all, func(m mission) bool { return m.SessionID == p.sessionOf("india, please") }); n < 0 || all[n].ID == source.ID {
		p.Errorf("the session forked by hand is not a mission of its own: %+v", all)
	}
	if m := p.mission(name); m.SessionID != source.SessionID || m.Turn != source.Turn {
		p.Errorf("the mission whose session was forked by hand is %+v, was %+v", m, source)
	}
}

// sessionOf is the session in which a prompt was sent.
func (p *person) sessionOf(word string) string {
	p.Helper()
	request, ok := p.server.Last(standin.Prompted(word))
	if !ok {
		p.Fatalf("no request with %s", word)
	}
	return request.Session
}

// elsewhere resumes the mission's session by hand in a directory outside its
// workspace: it stays the mission's, status says what is not kept, and a fork has
// the conversation, also in a shell that names another store.
func (p *person) elsewhere(name string) {
	p.Helper()
	before, dir := p.mission(name), p.T.TempDir()
	out := p.run(dir, p.byHand("--resume", before.SessionID, "juliett, please [[say juliett done]]")...)
	if out.code != 0 {
		p.Fatalf("%s", out)
	}
	if m := p.mission(name); m.SessionID != before.SessionID || m.Turn != before.Turn+1 || m.Workspace != before.Workspace {
		p.Errorf("after a turn in another directory the mission is %+v, was %+v", m, before)
	}
	if status := p.umbra("status"); !strings.Contains(status, "its agent worked in "+dir) {
		p.Errorf("status says\n%s", status)
	}
	p.umbra("fork", name, "--name", "again", "--no-launch")
	p.env = append(p.env, "CLAUDE_CONFIG_DIR="+dir)
	p.sees(p.turn("again", "kilo, please", "kilo, please [[say kilo done]]"), []string{"charlie, please", "juliett done"})
}
