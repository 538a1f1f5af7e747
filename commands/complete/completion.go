package complete

import (
	_ "embed"
	"io"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

var (
	//go:embed shells/umbra.bash
	BashCompletion string
	//go:embed shells/umbra.zsh
	zshCompletion string
	//go:embed shells/umbra.fish
	FishCompletion string
)

func Scripts() *call.Verb {
	return &call.Verb{
		Name: "completion", Args: "bash|zsh|fish", Min: 1, Max: 1, Short: "print what makes a shell complete umbra's command lines",
		Long: `It completes commands, flags and their values, missions, moments with what they
are about, pins, and the paths in a snapshot. To have it in every shell:

    bash: umbra completion bash >~/.local/share/bash-completion/completions/umbra
          for bash 4 or newer (macOS has bash 3.2: install a newer one, or use zsh)
          or, without the package bash-completion, in ~/.bashrc:
          source <(umbra completion bash)
    zsh:  in ~/.zshrc, after compinit: source <(umbra completion zsh)
          or a file _umbra in a directory of $fpath
    fish: umbra completion fish >~/.config/fish/completions/umbra.fish`,
		Run: runCompletion,
	}
}

func runCompletion(c *call.Call) error {
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "what a shell reads is no JSON")
	}
	scripts := map[string]string{"bash": BashCompletion, "zsh": zshCompletion, "fish": FishCompletion}
	script, ok := scripts[c.Arg(0)]
	if !ok {
		return missions.Errorf(missions.KindUsage, "umbra completion bash, zsh or fish", "no completion for the shell %q", c.Arg(0))
	}
	_, err := io.WriteString(c.Stdout, script)
	return err
}
