package gemini

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// grammar is the client's options that take a value, and its short ones.
func grammar() cmdline.Grammar {
	return cmdline.Grammar{
		Options: map[string]cmdline.Arity{
			"--model": cmdline.One, "--prompt": cmdline.One, "--prompt-interactive": cmdline.One, "--worktree": cmdline.Optional,
			"--approval-mode": cmdline.One, "--policy": cmdline.One, "--admin-policy": cmdline.One, "--allowed-mcp-server-names": cmdline.One,
			"--allowed-tools": cmdline.One, "--extensions": cmdline.One, "--resume": cmdline.Optional, "--session-file": cmdline.One,
			"--session-id": cmdline.One, "--delete-session": cmdline.Optional, "--include-directories": cmdline.One, "--output-format": cmdline.One,
			"--fake-responses": cmdline.One, "--fake-responses-non-strict": cmdline.One, "--record-responses": cmdline.One,
		},
		Short: map[byte]string{
			'm': "--model", 'p': "--prompt", 'i': "--prompt-interactive", 'w': "--worktree", 'e': "--extensions",
			'r': "--resume", 'o': "--output-format", 'd': "--debug", 's': "--sandbox", 'y': "--yolo",
			'l': "--list-extensions", 'v': "--version", 'h': "--help",
		},
	}
}
