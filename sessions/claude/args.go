package claude

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// grammar is the options of versions 2.0.77 to 2.1.329, hidden ones too, that take a
// value. Every other option stands alone.
func grammar() cmdline.Grammar {
	return cmdline.Grammar{
		Options: map[string]cmdline.Arity{
			"--resume": cmdline.Optional, "--session-id": cmdline.One, "--resume-session-at": cmdline.One, "--rewind-files": cmdline.One,
			"--from-pr": cmdline.Optional, "--teleport": cmdline.Optional, "--cloud": cmdline.Optional, "--remote": cmdline.One, "--name": cmdline.One,
			"--settings": cmdline.One, "--setting-sources": cmdline.One, "--model": cmdline.One, "--fallback-model": cmdline.One, "--effort": cmdline.One,
			"--permission-mode": cmdline.One, "--permission-prompts": cmdline.One, "--permission-prompt-tool": cmdline.One,
			"--output-format": cmdline.One, "--input-format": cmdline.One, "--json-schema": cmdline.One, "--max-turns": cmdline.One,
			"--max-budget-usd": cmdline.One, "--max-thinking-tokens": cmdline.One, "--autocompact": cmdline.One, "--environment": cmdline.One,
			"--system-prompt": cmdline.One, "--system-prompt-file": cmdline.One, "--system-prompt-snapshot": cmdline.One,
			"--append-system-prompt": cmdline.One, "--append-system-prompt-file": cmdline.One,
			"--agent": cmdline.One, "--agents": cmdline.One, "--advisor": cmdline.One, "--prefill": cmdline.One, "--sdk-url": cmdline.One,
			"--debug": cmdline.Optional, "--debug-file": cmdline.One, "--plugin-url": cmdline.One, "--worktree": cmdline.Optional,
			"--remote-control": cmdline.Optional, "--remote-control-session-name-prefix": cmdline.One, "--prompt-suggestions": cmdline.Optional,
			"--add-dir": cmdline.Many, "--allowedTools": cmdline.Many, "--allowed-tools": cmdline.Many, "--disallowedTools": cmdline.Many,
			"--disallowed-tools": cmdline.Many, "--tools": cmdline.Many, "--betas": cmdline.Many, "--mcp-config": cmdline.Many,
			"--plugin-dir": cmdline.Many, "--file": cmdline.Many, "--channels": cmdline.Many,
		},
		Short: map[byte]string{
			'p': "--print", 'c': "--continue", 'r': "--resume", 'd': "--debug", 'n': "--name", 'w': "--worktree",
			'v': "--version", 'h': "--help",
		},
	}
}
