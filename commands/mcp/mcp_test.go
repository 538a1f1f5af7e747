package mcp_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umbra-vcs/umbra/commands"
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// world is a workspace with a mission, login, whose file has changed since its beginning.
type world struct {
	t         *testing.T
	env       call.Env
	workspace string
	signals   chan chan<- os.Signal // where umbra mcp hears of signals
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, workspace: filepath.Join(dir, "work"), signals: make(chan chan<- os.Signal, 1)}
	home := filepath.Join(dir, "home")
	for _, d := range []string{w.workspace, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"HOME": home, "UMBRA_HOME": filepath.Join(dir, "umbra"), "UMBRA_NO_DAEMON": "1", "PATH": os.Getenv("PATH")}
	w.env = call.ProcessEnv(time.Now, connect.Service)
	w.env.Getenv = func(name string) string { return vars[name] }
	w.env.Environ = func() (list []string) {
		for name, value := range vars {
			list = append(list, name+"="+value)
		}
		return list
	}
	w.env.Getwd = func() (string, error) { return w.workspace, nil }
	w.env.IsTerminal = func(any) bool { return false }
	w.env.Run = func(cmd *exec.Cmd) error { return fmt.Errorf("%v is not run here", cmd.Args) }
	w.write("one\n")
	w.umbra("mission", "new", "--name", "login", "--no-launch", "--", "sh")
	w.write("two\n")
	return w
}

func (w *world) write(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.workspace, "a.txt"), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// holds tells whether the workspace's file has this text.
func (w *world) holds(text string) bool {
	w.t.Helper()
	p, err := os.ReadFile(filepath.Join(w.workspace, "a.txt"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(p) == text
}

func (w *world) umbra(args ...string) {
	w.t.Helper()
	var out strings.Builder
	env := w.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = args, strings.NewReader(""), &out, &out
	if code := commands.Run(env); code != 0 {
		w.t.Fatalf("umbra %q: exit code %d\n%s", args, code, &out)
	}
}

// log is what umbra log prints of the mission.
func (w *world) log() string {
	w.t.Helper()
	var out strings.Builder
	env := w.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = []string{"log", "login"}, strings.NewReader(""), &out, &out
	if code := commands.Run(env); code != 0 {
		w.t.Fatalf("umbra log: exit code %d\n%s", code, &out)
	}
	return out.String()
}

// serve runs umbra mcp, and gives the agent's ends of its stdin and stdout.
func (w *world) serve() (io.WriteCloser, io.ReadCloser) {
	w.t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	env := w.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = []string{"mcp"}, in, out, io.Discard
	env.Notify = func(ch chan<- os.Signal, signals ...os.Signal) {
		if slices.Contains(signals, os.Signal(syscall.SIGTERM)) {
			w.signals <- ch
		}
	}
	env.Unnotify = func(chan<- os.Signal) {}
	ended := make(chan int, 1)
	go func() { ended <- commands.Run(env); out.Close() }()
	w.t.Cleanup(func() {
		toServer.Close()
		go func() { _, _ = io.Copy(io.Discard, fromServer) }()
		select {
		case code := <-ended:
			if code != 0 {
				w.t.Errorf("umbra mcp: exit code %d", code)
			}
		case <-time.After(patience.Of(time.Minute)):
			w.t.Error("umbra mcp does not end with its stdin")
		}
	})
	return toServer, fromServer
}

// agent connects a client of the newest protocol, whose user answers questions by answer;
// without one it can't ask.
func (w *world) agent(answer func(question string) string) *sdk.ClientSession {
	w.t.Helper()
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: answer(r.Params.Message)}, nil
		}
	}
	in, out := w.serve()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "agent"}, o).Connect(w.t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// use calls a tool, and gives what the model reads.
func (w *world) use(s *sdk.ClientSession, tool string, input map[string]any) (text string, wrong bool) {
	w.t.Helper()
	r, err := s.CallTool(w.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		w.t.Fatalf("%s: %v", tool, err)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

func TestTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.agent(nil)
	type in = map[string]any
	for _, c := range []struct {
		tool  string
		input in
		wrong bool
		want  []string // parts of what the model reads
	}{
		{"missions", nil, false, []string{"login  not launched  sh"}},
		{"missions", in{"all": true}, false, []string{"login"}},
		{"snapshot", in{"message": "--pin=x", "pin": "good"}, false, nil},
		{"timeline", nil, false, []string{"login@start", "--pin=x", "good"}},
		{"timeline", in{"match": "begins"}, false, []string{"mission login begins"}},
		{"timeline", in{"limit": 1}, false, []string{"login@0.1"}},
		{"timeline", in{"mission": "--all"}, true, []string{`"--all" names no mission and no moment`}},
		{"timeline", in{"mission": "logout"}, true, []string{`no mission, pin or snapshot "logout"`, "umbra mission ls"}},
		{"timeline", in{"missions": "login"}, true, []string{"missions"}},
		{"timeline", in{"limit": "many"}, true, []string{"limit"}},
		{"show", in{"moment": "login@start"}, false, []string{"mission login begins", "a.txt"}},
		{"show", nil, true, []string{"moment"}},
		{"cat", in{"moment": "login@start", "path": "a.txt"}, false, []string{"one"}},
		{"cat", in{"moment": "login@start", "path": "--displaced"}, true, []string{"--displaced is not in snapshot"}},
		{"search", in{"query": "a.txt"}, false, []string{"login@start", "paths", "a.txt"}},
		{"search", in{"query": "--json", "in": "files"}, false, []string{"nothing was found"}},
		{"search", in{"query": "x", "in": "dreams"}, true, []string{"prompts, answers"}},
		{"diff", in{"from": "login@start"}, false, []string{"-one", "+two"}},
		{"diff", in{"from": "login@start", "stat": true, "paths": []string{"--patch"}}, false, []string{"0 files"}},
		{"diff", in{"to": "login@start"}, true, []string{"from is missing"}},
		{"updates", nil, false, []string{"no update waits"}},
		{"report_updates", in{"message": "found it"}, true, []string{"login is not a fork", "umbra mission ls --tree"}},
		{"fork", in{"name": "nope", "prompt": "another way"}, true, []string{"Umbra does not know how sh is given a prompt"}},
		{"fork", in{"name": "try"}, false, []string{"forked from login@0.", "umbra mission resume try"}},
		{"compare", in{"forks": []string{"try"}}, false, []string{`"mission": "try"`, `"tokens": null`}},
		{"compare", in{"forks": []string{"try"}, "diff": true}, false, []string{"turns"}},
		{"compare", in{"forks": []string{"login"}}, true, []string{"login is not a fork", "umbra compare try"}},
		{"compare", in{"forks": []string{"--check=true"}}, true, []string{"names no mission"}},
		{"report_updates", in{"fork": "try", "message": "-"}, false, []string{"try reports to login", "  -"}},
		{"report_updates", in{"fork": "try", "message": " "}, true, []string{"message is empty", "say in it what the parent is to know"}},
		{"updates", nil, false, []string{"try  report", "waits"}},
		{"run_fork", in{"prompts": []string{"--count=9"}}, true, []string{"Umbra does not know how sh answers a prompt"}},
		{"run_fork", in{"prompts": []string{"x"}, "agent": "vim"}, true, []string{`agent is "vim"`, "claude or codex or gemini or opencode"}},
		{"fork_output", in{"fork": "try"}, true, []string{"has no output of an agent in the background"}},
		{"wait", in{"forks": []string{"try"}, "seconds": 1}, true, []string{"try is not launched"}},
		{"wait", in{"forks": []string{}}, true, []string{"forks is empty", "missions lists them"}},
		{"wait", in{"forks": []string{"try"}, "seconds": -1}, true, []string{"seconds is -1"}},
		{"restore", in{"moment": "login@start"}, false, []string{"change  a.txt", "Nothing was changed", "umbra restore --mission=login login@start"}},
		{"restore", in{"moment": "login@9"}, true, []string{"login has no turn 9"}},
		{"restore", in{"moment": "login@start", "others": "both"}, true, []string{`others is "both"`, "say keep or replace"}},
		{"restore", in{"moment": "login@start", "others": ""}, false, []string{"change  a.txt"}},
		{"promote", in{"fork": "try", "files_only": true}, false, []string{"promote", "Nothing was changed", "umbra promote --keep --files-only try"}},
		{"promote", nil, true, []string{"login is not a fork"}},
		{"save_context", nil, true, []string{"login is not a fork"}},
		{"enter_fork", in{"topic": "--yes"}, true, []string{"no terminal can be passed on", "umbra fork login makes a fork in this terminal"}},
		{"enter_fork", in{"idle_timeout": -7}, true, []string{"idle_timeout is -7", "-1 for never"}},
		{"enter_fork", in{"idle_timeout": -1}, true, []string{"no terminal can be passed on"}},
		{"enter_fork", in{"moment": "--json"}, true, []string{"names no mission and no moment"}},
		{"exit_fork", nil, true, []string{"login is no side fork", "umbra fork enter makes one"}},
	} {
		got, wrong := w.use(s, c.tool, c.input)
		if wrong != c.wrong {
			t.Errorf("%s %v: error %v\n%s", c.tool, c.input, wrong, got)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s %v: no %q in\n%s", c.tool, c.input, part, got)
			}
		}
	}
	if !w.holds("two\n") {
		t.Error("a plan has changed the workspace")
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "erase"}); err == nil {
		t.Error("a tool that is not there can be called")
	}
}

// TestSchemas: every tool and property says what it is, here and in the docs, and no
// property is of two types.
func TestSchemas(t *testing.T) {
	t.Parallel()
	list, err := newWorld(t).agent(nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if !strings.Contains(string(page), "\n| `"+tool.Name+"` |") {
			t.Errorf("docs/mcp.md does not name %s", tool.Name)
		}
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok || schema["type"] != "object" || tool.Description == "" || tool.Annotations == nil {
			t.Fatalf("%s: %v", tool.Name, schema)
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			p, _ := p.(map[string]any)
			if _, one := p["type"].(string); !one || p["description"] == "" {
				t.Errorf("%s of %s: %v", name, tool.Name, p)
			}
		}
	}
}

// TestUserDecides: a restore is done when the user says yes, and only then.
func TestUserDecides(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct{ said, holds string }{
		"accept":  {"1 changed, 0 created, 0 deleted", "one\n"},
		"decline": {"Your user said no. Nothing was changed.", "two\n"},
		"cancel":  {"Your user could not be asked. Nothing was changed.", "two\n"},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			asked := ""
			s := w.agent(func(question string) string { asked = question; return answer })
			got, wrong := w.use(s, "restore", map[string]any{"moment": "login@start"})
			if wrong || !strings.Contains(got, want.said) || !w.holds(want.holds) {
				t.Errorf("error %v, %s", wrong, got)
			}
			if !strings.Contains(asked, "change  a.txt") {
				t.Errorf("asked %q", asked)
			}
			asked = ""
			if got, wrong := w.use(s, "restore", map[string]any{"moment": "login@9"}); !wrong || asked != "" {
				t.Errorf("asked %q about a plan that can't be made: %s", asked, got)
			}
		})
	}
}

// TestRefusedPlan: the user is not asked about what would be refused, and decides with the
// agent about what both sides have changed.
func TestRefusedPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := 0
	s := w.agent(func(string) string { asked++; return "accept" })
	w.umbra("fork", "login", "--name", "try", "--no-launch")
	m, err := filepath.Glob(filepath.Join(filepath.Dir(w.workspace), "home", "umbra", "*", "try", "a.txt"))
	if err != nil || len(m) != 1 {
		t.Fatalf("the fork is in %v, %v", m, err)
	}
	if err := os.WriteFile(m[0], []byte("three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.write("four\n")
	got, wrong := w.use(s, "promote", map[string]any{"fork": "try"})
	if !wrong || asked != 0 || !strings.Contains(got, "it would be refused: ") || !strings.Contains(got, "say it in others: keep or replace.\nNothing was changed.") {
		t.Errorf("asked %d times, error %v, %s", asked, wrong, got)
	}
	got, wrong = w.use(s, "promote", map[string]any{"fork": "try", "others": "replace"})
	if wrong || asked != 1 || !w.holds("three\n") {
		t.Errorf("asked %d times, error %v, %s", asked, wrong, got)
	}
}

// TestNoForkNoSnapshot: what can't be forked as it was asked for leaves no snapshot.
func TestNoForkNoSnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.agent(nil)
	before := w.log()
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"fork", map[string]any{"name": "A B"}, `umbra: "A B" can't be a name`},
		{"run_fork", map[string]any{"prompts": []string{}}, "prompts is empty"},
		{"run_fork", map[string]any{"prompts": []string{"x"}, "minutes": -1}, "minutes is -1"},
		{"run_fork", map[string]any{"prompts": []string{"x", ""}}, "a prompt of the forks is empty"},
		{"run_fork", map[string]any{"prompts": slices.Repeat([]string{"x"}, 101)}, "101 forks are too many"},
	} {
		if got, wrong := w.use(s, c.tool, c.input); !wrong || !strings.Contains(got, c.want) || strings.Contains(got, "{") {
			t.Errorf("%s: error %v, %s", c.tool, wrong, got)
		}
	}
	if after := w.log(); after != before {
		t.Errorf("the log is\n%s\nand was\n%s", after, before)
	}
}

// TestOtherPlan: a yes to one plan does not carry out another.
func TestOtherPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.agent(func(string) string {
		w.write("three\n")
		w.umbra("snapshot", "login") // so that login~1 is another moment
		return "accept"
	})
	w.umbra("snapshot", "login")
	got, wrong := w.use(s, "restore", map[string]any{"moment": "login~1"})
	if wrong || !strings.Contains(got, "no longer what your user was shown. Nothing was changed.") || !w.holds("three\n") {
		t.Errorf("error %v, %s", wrong, got)
	}
	if got, wrong := w.use(s, "restore", map[string]any{"moment": "login@start", "paths": []string{""}}); !wrong || !strings.Contains(got, "a path is empty") {
		t.Errorf("an empty path: error %v, %s", wrong, got)
	}
}
