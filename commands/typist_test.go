package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
)

// typist is somebody who types what the pages say, on a machine of their own, in a
// repository at ~/code/app. Claude Code is the scripted agent there.
type typist struct {
	t    *testing.T
	home string
	env  []string
}

func newTypist(t *testing.T, env ...string) *typist {
	t.Helper()
	home := t.TempDir()
	p := &typist{t: t, home: home, env: append([]string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=dumb", "EDITOR=true", "TMPDIR=" + t.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1", "UMBRA_NO_DAEMON=1", "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
	}, env...)}
	p.program("claude", `exec umbra scripted-agent "$@"`)
	p.sh(`git config --global user.name a
git config --global user.email a@example.com
mkdir -p ~/code/app
cd ~/code/app
git init -q -b main
echo '# app' >README.md
echo 'echo built >built.txt' >build.sh
git add .
git -c user.name=a -c user.email=a@example.com commit -qm begin`)
	return p
}

// program puts a shell script on the person's PATH.
func (p *typist) program(name, script string) {
	p.t.Helper()
	calltest.Must(p.t, os.MkdirAll(filepath.Join(p.home, "bin"), 0o755))
	calltest.Must(p.t, os.WriteFile(filepath.Join(p.home, "bin", name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

// run runs a command that must succeed, and returns what it says.
func (p *typist) run(argv ...string) string {
	p.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = p.env, p.home
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", argv[len(argv)-1], err, out)
	}
	return string(out)
}

// sh is run of a shell's script, in the repository.
func (p *typist) sh(script string) string {
	p.t.Helper()
	return p.run("/bin/sh", "-c", "set -e\n[ ! -d ~/code/app ] || cd ~/code/app\n"+script)
}
