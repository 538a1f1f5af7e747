package codex

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// grammar is the options of 0.169.0 that take a value, of all subcommands that run
// a session, and its short ones. Every other option stands alone.
func grammar() cmdline.Grammar {
	return cmdline.Grammar{
		Options: map[string]cmdline.Arity{
			"--config": cmdline.One, "--enable": cmdline.One, "--disable": cmdline.One, "--remote": cmdline.One,
			"--remote-auth-token-env": cmdline.One, image: cmdline.Many, "--model": cmdline.One, "--local-provider": cmdline.One,
			"--profile": cmdline.One, "--sandbox": cmdline.One, "--cd": cmdline.One, "--add-dir": cmdline.One,
			"--ask-for-approval": cmdline.One, "--thread-source": cmdline.One, "--cyber-access-program": cmdline.One,
			"--output-schema": cmdline.One, "--color": cmdline.One, "--output-last-message": cmdline.One,
		},
		Short: map[byte]string{
			'c': "--config", 'i': image, 'm': "--model", 'p': "--profile", 's': "--sandbox", 'C': "--cd",
			'a': "--ask-for-approval", 'o': "--output-last-message", 'h': "--help", 'V': "--version",
		},
	}
}
