package copilot

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// grammar is the options of version 1.0.102 that take a value, and its short ones. -C and
// --worktree say where to work; the latter is in no help.
func grammar() cmdline.Grammar {
	g := cmdline.Grammar{Options: map[string]cmdline.Arity{}, Short: map[byte]string{
		'v': "--version", 'i': "--interactive", 'p': "--prompt", 's': "--silent", 'r': "--resume", 'n': "--name", 'C': directory, 'h': "--help",
	}}
	for arity, names := range map[cmdline.Arity][]string{
		cmdline.One: {
			"--interactive", "--prompt", "--model", "--reasoning-effort", "--context", "--auto-tier", "--agent", "--name", "--session-id", directory,
			"--log-dir", "--extension-sdk-path", "--log-level", "--stream", "--output-format", "--add-dir", "--attachment", "--disable-mcp-server",
			"--add-github-mcp-toolset", "--add-github-mcp-tool", "--plugin-dir", "--additional-mcp-config", "--mcp-github-auth",
			"--max-autopilot-continues", "--mode", "--environment-host", "--environment-compute-id", "--dynamic-retrieval", "--enable-mcp-server",
			"--max-ai-credits", "--usage-output-file", "--prefer-version",
		},
		cmdline.Optional: {"--resume", "--connect", "--share", "--bash-env", "--mouse", "--worktree"},
		cmdline.Many: {
			"--allow-tool", "--deny-tool", "--available-tools", "--excluded-tools", "--secret-env-vars", "--allow-url", "--deny-url",
		},
	} {
		for _, name := range names {
			g.Options[name] = arity
		}
	}
	return g
}

// directory stands for -C, which has no long name.
const directory = "-C"
