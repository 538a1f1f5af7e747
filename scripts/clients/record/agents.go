package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// An agent is one version of a client, and how it is talked to without a terminal.
type agent struct {
	name, version string
	begin         []string // the words of a command line, before the prompt
	resume        []string // and with ID for the id of the session
	fork          []string // by which the client itself makes one; nil: it can't
	stdin         bool     // the prompt is read there
	sessions      string   // where they are, below its home: a pattern
	id            func(file string) string
	write, fail   string // the directives that write notes.txt, and that go wrong on none.txt
	stop          string // the command by which a shell that the client runs stops the client; "" for the usual one
	listen        func(home, command string) error
}

// hear is a shell's command that adds what a hook was told to a file, a line each.
func hear(home string) string {
	return fmt.Sprintf(`said=$(cat); printf '%%s\n' "$said" >> %s/hooks.jsonl`, home)
}

func agents() []agent {
	list := []agent{codex(), gemini(), openCode(), pi(), copilot(), qwen()}
	for _, version := range []string{clients.ClaudeCurrent, clients.ClaudeMiddle, clients.ClaudeOlder} {
		list = append(list, claude(version))
	}
	return list
}

// named are the agents that AGENT or AGENT@VERSION names, all without a word.
func named(words []string) ([]agent, error) {
	all := agents()
	if len(words) == 0 {
		return all, nil
	}
	var list []agent
	for _, word := range words {
		name, version, _ := strings.Cut(word, "@")
		n := len(list)
		for _, a := range all {
			if a.name == name && (version == "" || a.version == version) {
				list = append(list, a)
			}
		}
		if len(list) == n {
			return nil, fmt.Errorf("no client %s: want AGENT or AGENT@VERSION of those that scripts/clients pins", word)
		}
	}
	return list, nil
}

func claude(version string) agent {
	begin := []string{"--dangerously-skip-permissions", "-p"}
	return agent{
		name: "claude", version: version, begin: begin,
		resume: slices.Concat([]string{"--resume", "ID"}, begin), fork: slices.Concat([]string{"--resume", "ID", "--fork-session"}, begin),
		sessions: ".claude/projects/*/*-*-*-*-*.jsonl", id: baseName,
		write: `[[write path=` + place + `/w/notes.txt content="one\n"]]`, fail: `[[read path=` + place + `/w/none.txt]]`,
		listen: func(home, command string) error {
			return addHooks(filepath.Join(home, ".claude", "settings.json"), command,
				"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop", "SessionEnd", "Notification")
		},
	}
}

func codex() agent {
	begin := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"}
	return agent{
		name: "codex", version: clients.CodexCurrent, begin: begin,
		resume: slices.Concat(begin, []string{"resume", "ID"}), fork: slices.Concat(begin, []string{"fork", "ID"}),
		sessions: ".codex/sessions/*/*/*/rollout-*.jsonl",
		id: func(file string) string {
			name := baseName(file)
			return name[len(name)-len("00000000-0000-0000-0000-000000000000"):]
		},
		write: `[[tool name=apply_patch input="\"*** Begin Patch\\n*** Add File: notes.txt\\n+one\\n*** End Patch\\n\""]]`,
		fail:  `[[tool name=apply_patch input="\"*** Begin Patch\\n*** Update File: ` + place + `/w/none.txt\\n@@\\n-x\\n+y\\n*** End Patch\\n\""]]`,
		listen: func(home, command string) error {
			return addHooks(filepath.Join(home, ".codex", "hooks.json"), command,
				"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "Interrupt", "SessionEnd")
		},
	}
}

func gemini() agent {
	begin := []string{"-y", "-m", "gemini-2.5-flash", "-p"}
	return agent{
		name: "gemini", version: clients.GeminiCurrent, begin: begin, resume: slices.Concat([]string{"--resume", "ID"}, begin),
		sessions: ".gemini/tmp/*/chats/session-*.jsonl", id: sessionID,
		write: `[[write path=` + place + `/w/notes.txt content="one\n"]]`, fail: `[[read path=` + place + `/w/none.txt]]`,
		listen: func(home, command string) error {
			return addHooks(filepath.Join(home, ".gemini", "settings.json"), command,
				"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "Notification", "SessionEnd")
		},
	}
}

// openCode is heard by Umbra's plugin, which also writes its sessions.
func openCode() agent {
	return agent{
		name: "opencode", version: clients.OpenCodeCurrent, begin: []string{"run"},
		resume: []string{"run", "--session", "ID"}, fork: []string{"run", "--session", "ID", "--fork"}, stdin: true,
		sessions: ".local/share/opencode/umbra/*.jsonl", id: baseName,
		write: `[[write path=` + place + `/w/notes.txt content="one\n"]]`, fail: `[[read path=` + place + `/w/none.txt]]`,
		listen: func(home, command string) error {
			return placeScript(filepath.Join("sessions", "opencode", "plugin.js"), filepath.Join(home, ".config", "opencode", "plugin"), command)
		},
	}
}

// pi is heard by Umbra's extension.
func pi() agent {
	begin := []string{"--print"}
	return agent{
		name: "pi", version: clients.PiCurrent, begin: begin, resume: slices.Concat([]string{"--session", "ID"}, begin),
		fork: slices.Concat([]string{"--fork", "ID"}, begin), sessions: ".pi/agent/sessions/*/*.jsonl",
		id: func(file string) string {
			_, id, _ := strings.Cut(baseName(file), "_")
			return id
		},
		write: `[[write path=` + place + `/w/notes.txt content="one\n"]]`, fail: `[[read path=` + place + `/w/none.txt]]`,
		listen: func(home, command string) error {
			return placeScript(filepath.Join("sessions", "pi", "extension.js"), filepath.Join(home, ".pi", "agent", "extensions"), command)
		},
	}
}

// copilot is heard by hooks that are called as Claude Code calls them.
func copilot() agent {
	begin := []string{"--allow-all", "--prompt"}
	return agent{
		stop: `C=$PPID python3 -c 'import os; os.kill(int(os.environ[\"C\"]), 2)'`, // it allows no kill but of a number
		name: "copilot", version: clients.CopilotCurrent, begin: begin, resume: slices.Concat([]string{"--resume", "ID"}, begin),
		sessions: ".copilot/session-state/*/events.jsonl", id: func(file string) string { return filepath.Base(filepath.Dir(file)) },
		write: `[[write path=` + place + `/w/notes.txt content="one\n"]]`, fail: `[[read path=` + place + `/w/none.txt]]`,
		listen: func(home, command string) error {
			return addHooks(filepath.Join(home, ".copilot", "hooks", "umbra.json"), command,
				"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "Stop", "SessionEnd")
		},
	}
}

func qwen() agent {
	begin := []string{"-y"}
	return agent{
		name: "qwen", version: clients.QwenCurrent, begin: begin, resume: slices.Concat([]string{"--resume", "ID"}, begin),
		fork: slices.Concat([]string{"--resume", "ID", "--fork-session"}, begin), sessions: ".qwen/projects/*/chats/*.jsonl", id: baseName,
		write: `[[write path=` + place + `/w/notes.txt content="one\n"]]`, fail: `[[read path=` + place + `/w/none.txt]]`,
		listen: func(home, command string) error {
			return addHooks(filepath.Join(home, ".qwen", "settings.json"), command,
				"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Notification", "Stop", "StopFailure", "SessionEnd")
		},
	}
}

// placeScript places a script of Umbra's that calls a command.
func placeScript(script, dir, command string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	word, err := json.Marshal(command)
	if err != nil {
		return err
	}
	text = bytes.Replace(text, []byte(`"@hook@"`), word, 1)
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "umbra.js"), text, 0o600))
}

func baseName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".jsonl") }

// sessionID is what the first line of a session says.
func sessionID(file string) string {
	var line struct{ SessionID string }
	text, _ := os.ReadFile(file)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	_ = json.Unmarshal(first, &line) // what is none has no id
	return line.SessionID
}

// addHooks adds a hook for each event to settings, which may be there or not.
func addHooks(file, command string, events ...string) error {
	settings := map[string]any{}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &settings); err != nil {
			return err
		}
	}
	hooks := map[string]any{}
	for _, event := range events {
		hooks[event] = []any{map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": command}}}}
	}
	settings["hooks"] = hooks
	if text, err = json.Marshal(settings); err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o600))
}
