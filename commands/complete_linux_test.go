package commands

import (
	"os/exec"
	"testing"
	"time"
)

// TestShells types in the real shells, with the scripts that umbra completion
// prints.
func TestShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []struct {
		argv []string
		load string
		list string // the keys that list what a word may become
		tidy string // ends a line without running it
	}{
		{[]string{"bash", "--norc", "--noprofile", "-i"}, "source <(umbra completion bash)", "\t\t", "\x15"},
		{[]string{"zsh", "-f", "-i"}, "autoload -U compinit; compinit -u -D; source <(umbra completion zsh)", "\t", "\x15"},
		{[]string{"fish", "--no-config"}, "umbra completion fish | source", "\t", "\x15"},
	} {
		t.Run(shell.argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(shell.argv[0]); err != nil {
				t.Fatalf("%v: scripts/check installs it", err)
			}
			p := onTerminal(t, shell.argv...)
			p.typed("stty rows 40 cols 120\n")
			p.typed("mkdir src; echo 'what was in b' >'src/b c.txt'; echo a >src/a.txt\n")
			p.typed("umbra mission new --no-launch --name login -- true >/dev/null 2>&1\n")
			p.typed("umbra snapshot -m 'the first try' --pin fine >/dev/null\n")
			p.typed("rm -r src; " + shell.load + "; echo 're'ady\n")
			p.expect("ready")
			// On a busy machine umbra may not know in time what a word becomes.
			completes := func(keys, what string) {
				t.Helper()
				p.retyped(shell.tidy+keys, what, 5*time.Second)
			}
			completes("umbra mission ren\t", "ame")
			completes("umbra restore --prev\t", "iew")
			completes("umbra show lo\t"+shell.list, "the first try")
			completes("umbra show login@"+shell.list, "mission login begins")
			completes("umbra log --state=wai\t", "ting")
			// What is completed can be run: a path that only the snapshot has.
			completes("umbra cat fin\tsr\tb\t\n", "what was in b")
			completes("umbra show login@sta\t | head -n 2 | tail -n 1\n", `address +login@start`)
		})
	}
}
