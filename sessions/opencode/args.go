package opencode

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// grammar is the options of version 1.18.33.
func grammar() cmdline.Grammar {
	return cmdline.Grammar{
		Options: map[string]cmdline.Arity{
			"--log-level": cmdline.One, "--port": cmdline.One, "--hostname": cmdline.One, "--mdns-domain": cmdline.One, "--cors": cmdline.Many,
			"--model": cmdline.One, "--session": cmdline.One, "--prompt": cmdline.One, "--agent": cmdline.One, "--replay-limit": cmdline.One,
			"--command": cmdline.One, "--format": cmdline.One, "--file": cmdline.Many, "--title": cmdline.One, "--attach": cmdline.One,
			"--password": cmdline.One, "--username": cmdline.One, "--dir": cmdline.One, "--variant": cmdline.One,
		},
		Short: map[byte]string{
			'm': "--model", 's': "--session", 'c': "--continue", 'f': "--file", 'p': "--password", 'u': "--username", 'i': "--interactive",
			'h': "--help", 'v': "--version",
		},
		Eats: true,
	}
}
