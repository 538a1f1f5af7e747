package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// scriptedOptions are those of Claude Code's that its launch by Umbra uses.
type scriptedOptions struct {
	session, resume, settings, model, servers string
	print                                     bool
}

// ScriptedAgent is the agent of the demo. To Umbra it is Claude Code: it
// has its options, keeps its sessions where and as Claude Code does and runs
// its hooks. Instead of a model it has a script.
func ScriptedAgent() *call.Verb {
	var o scriptedOptions
	return &call.Verb{
		Name: "scripted-agent", Hidden: true, After: "[-- PROMPT]", Short: "the demo's agent, which stands in for Claude Code",
		Long: `Reads prompts on stdin, a line each, and does what its script has for them.
Its sessions are below $CLAUDE_CONFIG_DIR, which must be set.`,
		Flags: []flags.Flag{
			flags.String("session-id", "begin a session with the id `UUID`", &o.session),
			flags.String("resume", "go on with the session `UUID`", &o.resume),
			flags.String("settings", "take hooks from `JSON|FILE`", &o.settings),
			flags.String("mcp-config", "take no tools from the servers in `JSON|FILE`: the script uses none", &o.servers),
			flags.String("model", "the script is that of any `MODEL`", &o.model),
			flags.Bool("print", "answer PROMPT, and end", &o.print, "p"),
		},
		Run: func(c *call.Call) error { return runScriptedAgent(c, o) },
	}
}

// scriptedAgent is one run of it.
type scriptedAgent struct {
	ctx        context.Context
	cwd        string // resolved, as Claude Code names it
	out        *print.Printer
	transcript *transcript
	hooks      agentHooks
}

// ready is what the agent prints when it waits for its user.
const ready = "> "

func runScriptedAgent(c *call.Call, o scriptedOptions) error {
	a, err := newScriptedAgent(c, o)
	if err != nil {
		return err
	}
	c.ReleaseSignals() // a signal ends it, as it ends the real one
	a.ctx = context.Background()
	source := "startup"
	if o.resume != "" {
		source = "resume"
		a.out.Line("resumed: I remember %s", print.Count(len(a.transcript.prompts), "prompt"))
	}
	if _, err := a.hooks.run(a.ctx, "SessionStart", "", map[string]any{"source": source}); err != nil {
		return err
	}
	if len(c.After) > 0 {
		prompt := strings.Join(c.After, " ")
		a.out.Line("%s%s", ready, print.Clean(prompt))
		if err := a.turn(prompt); err != nil {
			return err
		}
	}
	going := a.converse
	if o.print {
		going = func(io.Reader) error { return a.out.Flush() }
	}
	if err := going(c.Stdin); err != nil {
		return err
	}
	_, err = a.hooks.run(a.ctx, "SessionEnd", "", map[string]any{"reason": "prompt_input_exit"})
	return err
}

func newScriptedAgent(c *call.Call, o scriptedOptions) (*scriptedAgent, error) {
	usage := func(format string, args ...any) error {
		return missions.Errorf(missions.KindUsage, "umbra demo", format, args...)
	}
	id := o.session
	if o.resume != "" {
		id = o.resume
	}
	root := c.Getenv("CLAUDE_CONFIG_DIR")
	switch {
	case id == "":
		return nil, usage("the scripted agent needs --session-id or --resume")
	case strings.ContainsAny(id, "/\\"):
		return nil, usage("%q is no session id", id)
	case root == "":
		return nil, usage("the scripted agent writes no sessions but those of CLAUDE_CONFIG_DIR, which is not set")
	}
	cwd, err := c.Getwd()
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd)
	}
	if err != nil {
		return nil, call.NoDirectory(err)
	}
	t, err := openTranscript(filepath.Join(root, "projects", projectDirOf(cwd), id+".jsonl"), id, cwd, c.Now, o.resume != "")
	if err != nil {
		return nil, err
	}
	a := &scriptedAgent{cwd: cwd, out: c.Out, transcript: t}
	a.hooks, err = readAgentHooks(o.settings, t, c.Environ())
	return a, err
}

// converse takes prompts until there are no more.
func (a *scriptedAgent) converse(stdin io.Reader) error {
	lines := bufio.NewReader(stdin)
	for {
		a.out.Write(ready)
		if err := a.out.Flush(); err != nil {
			return err
		}
		prompt, err := lines.ReadString('\n')
		if prompt = strings.TrimSpace(prompt); prompt == "exit" || prompt == "/exit" {
			return nil
		}
		if prompt != "" {
			if terr := a.turn(prompt); terr != nil {
				return terr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			a.out.Line("")
			return a.out.Flush()
		case err != nil:
			return fmt.Errorf("read the prompt: %w", err)
		}
	}
}

// turn answers one prompt as Claude Code does: the hooks and the lines of the
// transcript come in its order.
func (a *scriptedAgent) turn(prompt string) error {
	promptID, err := newScriptedID()
	if err != nil {
		return err
	}
	said, err := a.hooks.run(a.ctx, "UserPromptSubmit", promptID, map[string]any{"prompt": prompt})
	if err != nil {
		return err
	}
	if said.blocked != "" {
		a.out.Line("%s", print.CleanLines(said.blocked))
		return a.out.Flush()
	}
	if said.context != "" {
		a.out.Line("  (told by a hook) %s", print.Clean(said.context))
	}
	if err := a.transcript.prompt(prompt, promptID); err != nil {
		return err
	}
	if said.context != "" {
		if err := a.transcript.told(said.context); err != nil {
			return err
		}
	}
	step := stepFor(prompt)
	for _, use := range step.uses {
		if err := a.use(use, promptID); err != nil {
			return err
		}
	}
	answer := fmt.Sprintf("%s (I remember %s.)", step.answer, print.Count(len(a.transcript.prompts), "prompt"))
	a.out.Line("  %s", answer)
	if err := a.transcript.answer(answer); err != nil {
		return err
	}
	_, err = a.hooks.run(a.ctx, "Stop", promptID, map[string]any{
		"stop_hook_active": false, "last_assistant_message": answer, "background_tasks": []any{}, "session_crons": []any{},
	})
	return err
}

// use runs one tool, with its hooks around it.
func (a *scriptedAgent) use(use toolUse, promptID string) error {
	id, err := newScriptedID()
	if err != nil {
		return err
	}
	id = "toolu_" + strings.ReplaceAll(id, "-", "")[:20]
	input := use.input(a.cwd)
	if err := a.transcript.toolUse(id, use.name, input); err != nil {
		return err
	}
	payload := map[string]any{"tool_name": use.name, "tool_input": input, "tool_use_id": id}
	said, err := a.hooks.run(a.ctx, "PreToolUse", promptID, payload)
	if err != nil {
		return err
	}
	began := time.Now()
	result, failed := said.blocked, said.blocked != ""
	if !failed {
		result, failed = use.run(a.ctx, a.cwd)
	}
	mark := "·"
	if failed {
		mark = "✗"
	}
	a.out.Line("  %s %s %s", mark, use.name, print.Clean(use.target))
	if err := a.out.Flush(); err != nil {
		return err
	}
	event := "PostToolUse"
	if failed {
		event = "PostToolUseFailure"
	}
	payload["tool_response"], payload["duration_ms"] = result, time.Since(began).Milliseconds()
	if _, err := a.hooks.run(a.ctx, event, promptID, payload); err != nil {
		return err
	}
	return a.transcript.toolResult(id, result, failed, promptID)
}

// readSettings reads the value of --settings, which is JSON or a file of it.
func readSettings(value string) ([]byte, error) {
	if value == "" || strings.HasPrefix(strings.TrimSpace(value), "{") {
		return []byte(value), nil
	}
	p, err := os.ReadFile(value)
	if err == nil && !json.Valid(p) {
		err = errors.New("it is no JSON")
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings %s: %w", value, err)
	}
	return p, nil
}
