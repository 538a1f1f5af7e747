// Package git runs the git program, where that is the best engine there is. It is
// hermetic: the user's hooks, templates and settings count for nothing. Only where git
// speaks to another machine, their settings and credentials do.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ErrNotInstalled is returned where the git program is needed and not installed.
var ErrNotInstalled = errors.New("the git program is not installed")

// Command is one call of the git program, hermetic: no hooks, templates,
// signing, pager, prompt or file-system monitor, no GIT_* variables, no system
// or global configuration, no credential or askpass program, messages in
// English.
type Command struct {
	// Dir is the working directory; GitDir, if set, the repository.
	Dir    string
	GitDir string
	// Config are extra "key=value" settings, after Umbra's own.
	Config []string
	// Env are extra "KEY=value" variables, such as GIT_INDEX_FILE.
	Env   []string
	Stdin io.Reader
	// Stdout receives the output instead of the result.
	Stdout io.Writer
	Args   []string
	// Group runs git in a process group of its own, which is killed whole if the
	// context ends, and on Linux if this process does. Gentle is that at a low
	// priority. Inherit are files that git and its children keep open.
	Group   bool
	Gentle  bool
	Inherit []*os.File
	// User are the variables of a user who has git speak to another machine: their
	// configuration and credentials count there, their hooks do not, and git asks for
	// nothing at a terminal. Nil is nobody.
	User map[string]string
}

// Error is returned when git could be started and failed.
type Error struct {
	Args     []string
	ExitCode int
	Stderr   string
	Err      error
}

func (e *Error) Error() string {
	msg := strings.TrimSpace(e.Stderr)
	if msg == "" {
		msg = e.Err.Error()
	}
	return fmt.Sprintf("git %s: %s", strings.Join(e.Args, " "), msg)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func (c Command) config() []string {
	config := []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=false",
		"core.attributesFile=/dev/null", "core.excludesFile=/dev/null",
		"init.templateDir=", "commit.gpgSign=false", "tag.gpgSign=false", "gpg.program=false",
		"gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false", "protocol.ext.allow=never",
	}
	if c.User == nil {
		config = append(config, "credential.helper=", "core.askPass=")
	}
	return append(config, c.Config...)
}

// hermeticEnv passes on what a program needs to run, and nothing that steers git.
func hermeticEnv(extra []string) []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_AUTHOR_NAME=Umbra", "GIT_AUTHOR_EMAIL=umbra@localhost",
		"GIT_COMMITTER_NAME=Umbra", "GIT_COMMITTER_EMAIL=umbra@localhost",
		"LC_ALL=C", "LANGUAGE=C",
	}
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+v)
		}
	}
	return append(env, extra...)
}

// env is what git runs with.
func (c Command) env() []string {
	if c.User == nil {
		return hermeticEnv(c.Env)
	}
	env := []string{"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C", "LANGUAGE=C"}
	for _, key := range slices.Sorted(maps.Keys(c.User)) {
		env = append(env, key+"="+c.User[key])
	}
	return append(env, c.Env...)
}

// Run runs git and returns its standard output. The error is git.ErrNotInstalled, a
// *git.Error, or the context's.
func Run(ctx context.Context, c Command) ([]byte, error) {
	var args []string
	if c.GitDir != "" {
		args = append(args, "--git-dir="+c.GitDir)
	}
	for _, kv := range c.config() {
		args = append(args, "-c", kv)
	}
	cmd := exec.CommandContext(ctx, "git", append(args, c.Args...)...)
	cmd.Dir, cmd.Stdin, cmd.Env = c.Dir, c.Stdin, c.env()
	if c.User != nil {
		cmd.WaitDelay = lingering // for the ssh that git has started
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	cmd.ExtraFiles = c.Inherit
	err := run(cmd, c.Group || c.Gentle, c.Gentle)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", strings.Join(c.Args, " "), ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNotInstalled
	case errors.As(err, &exit):
		return stdout.Bytes(), &Error{Args: c.Args, ExitCode: exit.ExitCode(), Stderr: stderr.String(), Err: err}
	}
	return nil, fmt.Errorf("git %s: %w", strings.Join(c.Args, " "), err)
}
