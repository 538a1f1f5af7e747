package demo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// demoHome is the one directory in which all of the demo happens.
type demoHome struct {
	dir       string
	umbra     string   // this program, under its own name
	workspace string   // a Git repository
	origin    string   // what the workspace is, in words
	env       []string // for Umbra's commands
}

// demoAgentScript makes the scripted agent a program of its own, named as the agent
// that it stands in for.
const demoAgentScript = `#!/bin/sh
# The demo's agent: no Claude Code, but Umbra's own program with a script.
exec "$(dirname "$0")/umbra" scripted-agent "$@"
`

// path is one of the demo's own files.
func (d demoHome) path(name string) string { return filepath.Join(d.dir, name) }

// makeDemoHome makes the directory. The longer story has a small repository in any case.
func makeDemoHome(c *call.Call, long bool) (demoHome, error) {
	var d demoHome
	if _, err := missions.LookPath("git", "", c.Getenv("PATH")); err != nil {
		return d, missions.Errorf(missions.KindFailed, "install git 2.38 or newer", "the demo needs the git program, which is not installed")
	}
	parent := c.Getenv("TMPDIR")
	if parent == "" {
		parent = os.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "umbra-demo-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return d, fmt.Errorf("make the demo's directory: %w", err)
	}
	d.dir, d.umbra, d.workspace = dir, filepath.Join(dir, "bin", "umbra"), filepath.Join(dir, "repository")
	d.env = demoEnv(c, dir)
	if err = d.furnish(c); err == nil {
		err = d.makeRepository(c, long)
	}
	if err != nil {
		return d, errors.Join(err, os.RemoveAll(dir))
	}
	return d, nil
}

// furnish makes everything but the repository.
func (d demoHome) furnish(c *call.Call) error {
	for _, name := range []string{"bin", "home", "tmp", "umbra-home", "claude", "forks"} {
		if err := os.Mkdir(filepath.Join(d.dir, name), 0o700); err != nil {
			return fmt.Errorf("make the demo's directory: %w", err)
		}
	}
	self, err := c.Executable()
	if err == nil {
		err = copyProgram(self, d.umbra)
	}
	if err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	for _, f := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{"bin/claude", demoAgentScript, 0o700},
		{"env", d.enterScript(), 0o600},
		{"leave", d.leaveScript(), 0o600},
		{"umbra-home/config.yml", fmt.Sprintf("# forks stay in the demo's directory\nfork:\n  root: %q\n", filepath.Join(d.dir, "forks")), 0o600},
	} {
		if err := os.WriteFile(filepath.Join(d.dir, f.name), []byte(f.text), f.mode); err != nil {
			return fmt.Errorf("write the demo's files: %w", err)
		}
	}
	return nil
}

// enterScript is read by a person's shell, in which the demo's commands work from then on.
// PATH is what the person has, so that the shell still finds everything.
func (d demoHome) enterScript() string {
	return fmt.Sprintf(`# What the demo's commands need: . %[1]s/env
# . %[1]s/leave puts back what was there.
if [ -z "${UMBRA_DEMO_PWD+set}" ]; then
	UMBRA_DEMO_PWD=$PWD UMBRA_DEMO_PATH=$PATH
	UMBRA_DEMO_HOME=${UMBRA_HOME-} UMBRA_DEMO_CLAUDE=${CLAUDE_CONFIG_DIR-}
fi
UMBRA_HOME=%[2]s CLAUDE_CONFIG_DIR=%[3]s PATH=%[4]s:$PATH
export UMBRA_HOME CLAUDE_CONFIG_DIR PATH
`, d.dir, home.ShellQuote(d.path("umbra-home")), home.ShellQuote(d.path("claude")), home.ShellQuote(d.path("bin")))
}

// leaveScript is read by the same shell. The demo's directory is gone then, and the shell
// as it was.
func (d demoHome) leaveScript() string {
	return fmt.Sprintf(`# Ends the demo: . %[1]s/leave
UMBRA_HOME=%[3]s %[4]s daemon stop
case "$PWD/" in
%[2]s/*) cd "${UMBRA_DEMO_PWD-/}" 2>/dev/null || cd / || return ;;
esac
rm -rf %[2]s
if [ -n "${UMBRA_DEMO_PWD+set}" ]; then
	PATH=$UMBRA_DEMO_PATH
	UMBRA_HOME=$UMBRA_DEMO_HOME CLAUDE_CONFIG_DIR=$UMBRA_DEMO_CLAUDE
	[ -n "$UMBRA_HOME" ] || unset UMBRA_HOME
	[ -n "$CLAUDE_CONFIG_DIR" ] || unset CLAUDE_CONFIG_DIR
	unset UMBRA_DEMO_PWD UMBRA_DEMO_PATH UMBRA_DEMO_HOME UMBRA_DEMO_CLAUDE
fi
`, d.dir, home.ShellQuote(d.dir), home.ShellQuote(d.path("umbra-home")), home.ShellQuote(d.umbra))
}

// copyProgram copies this program: one that `go run` made goes when it ends.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// demoEnv is the environment of the demo's commands: the terminal's part of the
// user's, and everything else below dir. Neither another mission nor an agent
// that runs the demo is heard there.
func demoEnv(c *call.Call, dir string) []string {
	below := func(name string) string { return filepath.Join(dir, name) }
	env := []string{
		"PATH=" + below("bin") + string(filepath.ListSeparator) + c.Getenv("PATH"),
		"HOME=" + below("home"), "TMPDIR=" + below("tmp"), "UMBRA_HOME=" + below("umbra-home"), "CLAUDE_CONFIG_DIR=" + below("claude"),
		"PAGER=cat", "GIT_CONFIG_NOSYSTEM=1",
	}
	for _, kv := range c.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "TERM", name == "COLORTERM", name == "NO_COLOR", name == "TZ", name == "LANG", strings.HasPrefix(name, "LC_"),
			name == "GORACE": // of a umbra built for the race detector
			env = append(env, kv)
		}
	}
	return env
}
