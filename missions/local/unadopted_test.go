package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/sessions"
)

// bystander is the agent of a session that Umbra does not adopt.
type bystander struct {
	*talker
	now   time.Time
	tools int
}

func newBystander(t *testing.T) *bystander {
	b := &bystander{talker: startTalker(t), now: time.Now()}
	b.local.Clock = func() time.Time { return b.now }
	return b
}

// tool tells of a tool in cwd, and returns whose it is.
func (b *bystander) tool(cwd string) string {
	b.Helper()
	b.tools++
	return b.hook("PreToolUse", map[string]any{"cwd": cwd, "tool_name": "Bash", "tool_use_id": fmt.Sprint("t", b.tools), "tool_input": map[string]any{"command": "true"}}).Mission
}

// prompt tells of a prompt, and returns whose it is.
func (b *bystander) prompt() string {
	b.Helper()
	b.tools++
	return b.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": fmt.Sprint("p", b.tools)}).Mission
}

// said are the problems that status has of the directory.
func (b *bystander) said() string {
	b.Helper()
	s, err := b.local.Status(b.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	var list []string
	for _, p := range s.Problems {
		list = append(list, p.Message)
	}
	return strings.Join(list, "\n")
}

// TestNobodysSession: tools of a session that is not adopted are not looked up one by
// one. Its prompt is, what it does in another directory, and once a minute the rest.
func TestNobodysSession(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]func(b *bystander) string{
		"a prompt":          (*bystander).prompt,
		"another directory": func(b *bystander) string { b.write("sub/a.txt", "one\n"); return b.tool(filepath.Join(b.dir, "sub")) },
		"a minute later": func(b *bystander) string {
			b.now = b.now.Add(agents.UnadoptedPeriod)
			return b.tool(b.dir)
		},
		"a clock that was set back": func(b *bystander) string {
			b.now = b.now.Add(-time.Hour)
			return b.tool(b.dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBystander(t)
			b.local.Config.Adopt.Exclude = []string{b.dir}
			if got := b.tool(b.dir) + b.prompt() + b.tool(b.dir); got != "" {
				t.Fatalf("an excluded session is of %s", got)
			}
			b.local.Config.Adopt.Exclude = nil
			if got := b.tool(b.dir); got != "" {
				t.Errorf("the tool was looked up again: %s", got)
			}
			if got := asks(b); got == "" {
				t.Error("it was not looked up again")
			}
			if b.tool(b.dir) == "" {
				t.Error("a session that was adopted is nobody's")
			}
			asks(b) // from its workspace again
			b.healthy()
		})
	}
}

// TestExcludedLater: a session that is a mission's stays so where its directory is
// not to be adopted any more.
func TestExcludedLater(t *testing.T) {
	t.Parallel()
	b := newBystander(t)
	m := b.prompt()
	b.local.Config.Adopt.Exclude = []string{b.dir}
	if m == "" || b.tool(b.dir) != m {
		t.Error("it is nobody's")
	}
	b.healthy()
}

// TestNobodysAreBounded, and so are refused directories.
func TestNobodysAreBounded(t *testing.T) {
	t.Parallel()
	n, now := agents.NewUnadopted(), time.Now()
	for i := range 3 * agents.MaxUnadopted {
		n.NoteSession(events.SessionKey("claude", fmt.Sprint(i)), sessions.Event{Cwd: "/"}, true, now)
		n.NoteRefusal(fmt.Sprint("/none/", i), os.ErrInvalid, now)
	}
	last := events.SessionKey("claude", fmt.Sprint(3*agents.MaxUnadopted-1))
	if len(n.Sessions) > agents.MaxUnadopted || len(n.Refusals) > agents.MaxUnadopted || !n.HasSession(last, sessions.Event{Kind: sessions.KindStop, Cwd: "/"}, now) {
		t.Errorf("%d sessions, %d directories", len(n.Sessions), len(n.Refusals))
	}
}

// TestHookOverBudget: a tree that is over the budget is refused in silence, as any
// other that Umbra does not take, status says why, and no hook walks it again in a
// while: only where it was told to leave something out, or another session starts.
func TestHookOverBudget(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(b *bystander){
		"something is ignored": func(b *bystander) { b.write(".umbraignore", "*.o\n") },
		"a while later":        func(b *bystander) { b.now = b.now.Add(agents.RefusalPeriod) },
		"the session starts":   func(b *bystander) { b.hook("SessionStart", map[string]any{"source": "startup"}) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBystander(t)
			b.local.Config.Capture.MaxFiles = 3
			for i := range 5 {
				b.write(fmt.Sprintf("%d.o", i), "x")
			}
			if said := b.said(); said != "" {
				t.Fatalf("before: %s", said)
			}
			b.hook("SessionStart", map[string]any{"source": "startup"})
			if got := b.prompt() + b.tool(b.dir); got != "" {
				t.Errorf("it is of %s", got)
			}
			if said := b.said(); !strings.Contains(said, "are not kept: ") || !strings.Contains(said, "the budget is 3 files") {
				t.Errorf("status says %q", said)
			}
			for i := range 5 {
				if err := os.Remove(filepath.Join(b.dir, fmt.Sprintf("%d.o", i))); err != nil {
					t.Fatal(err)
				}
			}
			if b.prompt() != "" {
				t.Error("it was walked again")
			}
			again(b)
			if b.prompt() == "" {
				t.Error("it was not looked at again")
			}
			if said := b.said(); said != "" {
				t.Errorf("after that status says %q", said)
			}
			b.healthy()
		})
	}
}

// TestStatusOverBudget: status says that a tree is over the budget until it was told to
// leave something out: then nobody knows before a hook has looked again.
func TestStatusOverBudget(t *testing.T) {
	t.Parallel()
	b := newBystander(t)
	b.local.Config.Capture.MaxFiles = 1
	b.write("b.o", "x")
	b.hook("SessionStart", map[string]any{"source": "startup"})
	b.now = b.now.Add(2 * agents.RefusalPeriod)
	if said := b.said(); !strings.Contains(said, "are not kept: ") {
		t.Errorf("while nobody looks, status says %q", said)
	}
	b.write(".gitignore", "*.tmp\n")
	if said := b.said(); said != "" {
		t.Errorf("with another rule status says %q", said)
	}
	if b.prompt() != "" {
		t.Error("it is somebody's")
	}
	if said := b.said(); !strings.Contains(said, "are not kept: ") {
		t.Errorf("looked at again, status says %q", said)
	}
}

// TestHooksWhileItIsCounted: hooks that come while a tree is found to be over the
// budget are silent too.
func TestHooksWhileItIsCounted(t *testing.T) {
	t.Parallel()
	b := newBystander(t)
	b.local.Watching = servedBlind{}
	b.local.Config.Capture.MaxFiles = 1
	b.write("b.txt", "x")
	held, err := lock.WaitTree(t.Context(), b.home, b.dir, lock.Self("a slow disk"))
	if err != nil {
		t.Fatal(err)
	}
	b.vars = map[string]string{"UMBRA_HOOKS_MAX_WAIT": "20ms"}
	b.hook("SessionStart", map[string]any{"source": "startup"})
	b.vars = map[string]string{"UMBRA_HOOKS_MAX_WAIT": "1m"}
	released := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { released <- held.Release() })
	got := b.prompt()
	if err := <-released; err != nil || got != "" || !strings.Contains(b.said(), "are not kept: ") {
		t.Errorf("it is of %q, status says %q: %v", got, b.said(), err)
	}
}

// TestCommandOverBudget: who types a command of Umbra's is told why it keeps nothing.
func TestCommandOverBudget(t *testing.T) {
	t.Parallel()
	b := newBystander(t)
	b.local.Config.Capture.MaxFiles = 1
	b.write("b.txt", "x")
	caller := b.caller()
	caller.Binary = "/usr/bin/umbra"
	if _, err := b.local.InstallHooks(b.Context(), missions.HooksRequest{Caller: caller, Name: "claude"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b.tools++
		r := b.hook("UserPromptSubmit", map[string]any{"prompt": "/checkpoint", "prompt_id": fmt.Sprint("p", b.tools)})
		var said struct{ Reason string }
		if err := json.Unmarshal(r.Output, &said); err != nil || !strings.Contains(said.Reason, "the budget is 1 files") {
			t.Errorf("it says %q: %v", said.Reason, err)
		}
	}
}

// TestCommandOfAnUnchangedSession: a session without a terminal is a mission once it changes
// something; until then a command of Umbra's is told so.
func TestCommandOfAnUnchangedSession(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
	caller := c.caller()
	caller.Binary = "/usr/bin/umbra"
	if _, err := c.local.InstallHooks(t.Context(), missions.HooksRequest{Caller: caller, Name: "claude"}); err != nil {
		t.Fatal(err)
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	r := c.hook("UserPromptSubmit", map[string]any{"prompt": "/checkpoint", "prompt_id": "p"})
	if r.Asked != nil || !strings.Contains(string(r.Output), "this one has changed none") {
		t.Errorf("it says %s, and asks for %+v", r.Output, r.Asked)
	}
}
