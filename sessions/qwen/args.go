package qwen

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// grammar is the options of version 0.24.4 that take a value, and its short ones. yargs
// reads them.
func grammar() cmdline.Grammar {
	g := cmdline.Grammar{
		Options: map[string]cmdline.Arity{"--resume": cmdline.Optional, worktree: cmdline.Optional},
		Short: map[byte]string{
			'd': "--debug", 'm': "--model", 'p': "--prompt", 'i': "--prompt-interactive", 's': "--sandbox", 'y': "--yolo", 'e': "--extensions",
			'l': "--list-extensions", 'o': "--output-format", 'c': "--continue", 'r': "--resume", 'v': "--version", 'h': "--help",
		},
		Eats: true,
	}
	for _, name := range []string{
		"--telemetry-target", "--telemetry-otlp-endpoint", "--telemetry-otlp-protocol", "--telemetry-outfile", "--proxy", "--model", "--prompt",
		"--prompt-interactive", "--system-prompt", "--append-system-prompt", "--output-style", "--sandbox-image", "--approval-mode", "--channel",
		"--mcp-config", "--openai-logging-dir", "--openai-api-key", "--openai-base-url", "--input-format", "--output-format", "--json-fd",
		"--json-file", "--json-schema", "--input-file", "--session-id", "--max-session-turns", "--max-wall-time", "--max-tool-calls",
		"--max-subagent-depth", "--auth-type",
	} {
		g.Options[name] = cmdline.One
	}
	for _, name := range []string{
		"--fallback-model", "--allowed-mcp-server-names", "--allowed-tools", "--extensions", "--include-directories", "--add-dir", "--core-tools",
		"--exclude-tools", "--disabled-slash-commands",
	} {
		g.Options[name] = cmdline.Many
	}
	return g
}
