package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// agentHooks runs hooks as Claude Code 2.1 does: each command of an event by
// the shell, in the working directory, with the event as JSON on stdin.
type agentHooks struct {
	commands map[string][]string // by event, each once
	of       *transcript
	env      []string
}

// hookSaid is what hooks ask of the agent.
type hookSaid struct {
	blocked string // why the prompt or the tool is not to go on
	context string // more for the model to know
}

// hookPatience is the longest that the agent waits for one hook.
const hookPatience = 60 * time.Second

func readAgentHooks(settings string, of *transcript, env []string) (agentHooks, error) {
	h := agentHooks{commands: map[string][]string{}, of: of, env: append(append([]string{}, env...),
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR="+of.cwd, "CLAUDE_CODE_SESSION_ID="+of.id)}
	p, err := readSettings(settings)
	if err != nil || len(p) == 0 {
		return h, err
	}
	var said struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(p, &said); err != nil {
		return h, fmt.Errorf("read the settings: %w", err)
	}
	for event, groups := range said.Hooks {
		seen := map[string]bool{}
		for _, group := range groups {
			for _, hook := range group.Hooks {
				if hook.Command != "" && !seen[hook.Command] {
					seen[hook.Command] = true
					h.commands[event] = append(h.commands[event], hook.Command)
				}
			}
		}
	}
	return h, nil
}

// run tells the hooks of one event and gathers what they say. A hook that fails
// does not stop the agent.
func (h agentHooks) run(ctx context.Context, event, promptID string, fields map[string]any) (hookSaid, error) {
	payload := map[string]any{
		"session_id": h.of.id, "transcript_path": h.of.path, "cwd": h.of.cwd, "hook_event_name": event,
	}
	if promptID != "" {
		payload["prompt_id"], payload["permission_mode"] = promptID, scriptedMode
	}
	for name, value := range fields {
		payload[name] = value
	}
	input, err := json.Marshal(payload)
	if err != nil {
		return hookSaid{}, err
	}
	var all hookSaid
	for _, command := range h.commands[event] {
		said := h.runOne(ctx, command, input)
		if all.blocked == "" {
			all.blocked = said.blocked
		}
		all.context += said.context
	}
	return all, nil
}

func (h agentHooks) runOne(ctx context.Context, command string, input []byte) hookSaid {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdin = h.of.cwd, h.env, bytes.NewReader(input)
	out, err := cmd.Output()
	var reply struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			Context  string `json:"additionalContext"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err != nil || json.Unmarshal(out, &reply) != nil {
		return hookSaid{} // it said nothing
	}
	said := hookSaid{context: reply.Specific.Context}
	switch {
	case reply.Decision == "block":
		said.blocked = "blocked: " + reply.Reason
	case reply.Specific.Decision == "deny":
		said.blocked = "denied: " + reply.Specific.Reason
	}
	return said
}
