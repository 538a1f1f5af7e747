package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// unkept expects that status says of so many directories that what is written there is
// not kept.
func (b *testBench) unkept(what string, want int) {
	b.Helper()
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	said := 0
	for _, problem := range s.Problems {
		if strings.Contains(problem.Message, "not kept") {
			said++
		}
	}
	if err != nil || said != want {
		b.Errorf("%s: status says %+v (%v), want %d directories", what, s.Problems, err, want)
	}
}

// TestAgentInUnkeptDirectory: an agent that goes to work where no snapshot holds what it
// writes is followed there: its user is told once, status and doctor as long as it is so.
func TestAgentInUnkeptDirectory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dir, rules string
		bad        bool
		copied     bool // a fork has a copy of it
	}{
		"a worktree outside":            {"../feat", "", true, false},
		"an ignored worktree":           {"trees/feat", "trees/\n", false, false},
		"a worktree":                    {"trees/feat", "", false, false},
		"below a worktree":              {"trees/feat/sub", "", false, false},
		"an ignored directory":          {"build/sub", "build/\n", true, true},
		"one that is taken in":          {"build", "*\n!/build/\n", false, true},
		"a directory":                   {"src", "", false, true},
		"a repository of another's own": {"other", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.local.Adapters = projects.Agents()
			w := newTalker(b)
			b.git("init", "-q", "-b", "main")
			b.write(".gitignore", c.rules)
			b.git("add", "-f", ".gitignore")
			b.git("commit", "-qm", "first")
			b.git("worktree", "add", "-q", "-b", "feat", filepath.Join(b.dir, "trees", "feat"))
			b.git("worktree", "add", "-q", "-b", "outside", filepath.Join(b.dir, "..", "feat"))
			b.git("init", "-q", filepath.Join(b.dir, "other"))
			dir := filepath.Join(b.dir, c.dir)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			w.hook("SessionStart", map[string]any{"source": "startup"})
			w.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "1"})
			b.unkept("before", 0)
			told := 0
			hook := func(event string, fields map[string]any) {
				fields["cwd"] = dir
				if strings.Contains(string(w.hook(event, fields).Output), "is not kept") {
					told++
				}
			}
			tool := map[string]any{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": "make"}}
			hook("PostToolUse", tool)
			want := 0
			if c.bad {
				want = 1
			}
			b.unkept("at once", want)
			hook("Stop", map[string]any{})
			hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "2"})
			hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "3"})
			if told != want {
				t.Errorf("its user was told %d times, want %d", told, want)
			}
			checked, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
			if err != nil || len(checked.Problems) != want {
				t.Errorf("doctor says %+v, %v", checked.Problems, err)
			}
			w.hook("Stop", map[string]any{"cwd": dir})
			for ignored, absent := range map[string]bool{"copy": c.bad && !c.copied, "skip": c.bad} {
				forked, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), NoWait: true, Ignored: ignored})
				said := slices.ContainsFunc(forked.Notes, func(note string) bool { return strings.Contains(note, "not in the fork") })
				if err != nil || said != absent {
					t.Errorf("--ignored %s: the fork says %q, %v", ignored, forked.Notes, err)
				}
			}
			w.hook("UserPromptSubmit", map[string]any{"prompt": "back", "prompt_id": "4"})
			b.unkept("afterwards", 0)
			b.healthy()
		})
	}
}

// TestSubagentInUnkeptDirectory: the directories of subagents are told of once, and
// status names the last one when its agent is back.
func TestSubagentInUnkeptDirectory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	w := newTalker(b)
	b.git("init", "-q", "-b", "main")
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	w.hook("SessionStart", map[string]any{"source": "startup"})
	w.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "1"})
	told := 0
	for _, agent := range []string{"a1", "a2"} {
		dir := filepath.Join(b.user, "trees", agent)
		b.git("worktree", "add", "-q", "-b", agent, dir)
		r := w.hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": agent, "agent_id": agent, "cwd": dir})
		if strings.Contains(string(r.Output), "a subagent works in "+dir) {
			told++
		}
	}
	w.hook("Stop", map[string]any{})
	b.unkept("afterwards", 1)
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	w.hook("SessionStart", map[string]any{"source": "compact"})
	b.unkept("when its conversation was summed up", 1)
	w.hook("SessionStart", map[string]any{"source": "resume"})
	b.unkept("when its agent was started again", 0)
}

// TestUnkeptDirectoriesOfOneAgent: its user is told of each directory once, however often
// the agent goes from one to another; and a directory is looked at once in a turn.
func TestUnkeptDirectoriesOfOneAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	w := newTalker(b)
	b.git("init", "-q", "-b", "main")
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	w.hook("SessionStart", map[string]any{"source": "startup"})
	told := map[string]int{}
	for turn := range 2 {
		w.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": turn})
		for range 2 {
			for _, name := range []string{"one", "two"} {
				dir := filepath.Join(b.user, "trees", name)
				if turn == 0 && told[name] == 0 {
					b.git("worktree", "add", "-q", "-b", name, dir)
				}
				r := w.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": dir})
				told[name] += strings.Count(string(r.Output), "the agent works in "+dir)
			}
			w.hook("PostToolUse", map[string]any{"tool_name": "Bash", "agent_id": "a1", "cwd": filepath.Join(b.dir, "src")})
		}
	}
	if told["one"] != 1 || told["two"] != 1 {
		t.Errorf("told %v", told)
	}
	m, err := b.local.MissionByID(w.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	var looked []string
	for _, place := range m.Live.Places.InTurn {
		looked = append(looked, place.Dir)
	}
	if slices.Sort(looked); len(looked) != 3 || len(slices.Compact(looked)) != 3 {
		t.Errorf("looked at %q", looked)
	}
}

// TestIgnoredDirectoryTakenIn: once the rule is there that was asked for, nothing asks for it.
func TestIgnoredDirectoryTakenIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	w := newTalker(b)
	b.git("init", "-q", "-b", "main")
	b.write(".gitignore", "build/\n")
	b.write("build/[a] b/made", "by the agent\n")
	w.hook("SessionStart", map[string]any{"source": "startup"})
	r := w.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "1", "cwd": filepath.Join(b.dir, "build", "[a] b")})
	w.hook("Stop", map[string]any{"cwd": filepath.Join(b.dir, "build", "[a] b")})
	b.unkept("before", 1)
	_, hint, _ := strings.Cut(string(r.Output), "a line ")
	rule, _, _ := strings.Cut(hint, " in .umbraignore")
	b.write(".umbraignore", strings.ReplaceAll(rule, `\\`, `\`)+"\n")
	b.snapshot("")
	b.unkept("with "+rule, 0)
	b.healthy()
}

// TestIgnoredWorkspace: a mission for a directory that its repository ignores keeps
// nothing of it, and says so until a rule takes it in.
func TestIgnoredWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write(".gitignore", "out/\n")
	b.write("out/x/a.txt", "one\n")
	top := b.dir
	b.dir = filepath.Join(top, "out", "x")
	m, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "work", Workspace: b.dir, Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	said := "ignores the mission's workspace: what is in it is not kept"
	if len(m.Problems) != 1 || !strings.Contains(m.Problems[0], said) {
		t.Errorf("mission new says %q", m.Problems)
	}
	b.unkept("at once", 1)
	if r := b.doctor(missions.DoctorRequest{}); len(r.Problems) != 1 || r.Problems[0].Fix != "a line !/out/x/ in "+filepath.Join(top, ".umbraignore")+" has it kept from now on" {
		t.Errorf("doctor says %+v", r.Problems)
	}
	if err := os.WriteFile(filepath.Join(top, ".umbraignore"), []byte("!/out/x/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.snapshot("")
	if !b.has("work", "a.txt", "one\n") {
		t.Error("the line that is named does not have it kept")
	}
	b.unkept("afterwards", 0)
}
