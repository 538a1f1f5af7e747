// Package checks runs a command of the user's that says whether a workspace is good. It
// knows no mission and holds no lock: who runs one says where, and where its output goes.
package checks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// stopPatience is how long a command has to end after it was asked to.
const stopPatience = 5 * time.Second

// Command is a check of one workspace.
type Command struct {
	Line      string        // for the shell
	Workspace string        // where it runs
	Output    string        // the file that gets what it prints
	Environ   []string      // the caller's; what looks like a secret is left out
	More      []string      // variables beside these, as they are
	Limit     time.Duration // after which it is ended; 0 is none
	Running   *Running      // what says that it runs
}

// Limit is how long a check may run, by the configuration that counts.
func Limit(h home.Home, getenv func(string) string) (time.Duration, error) {
	config, err := settings.Load(h.ConfigFile())
	if err == nil {
		config, err = config.OverriddenBy(getenv)
	}
	return time.Duration(config.Check.TimeLimit), err
}

// Run runs the command to its end, and ends all that it has left running. The error says
// why it could not be begun. A command that was ended, by its limit or by ctx, can't tell.
//
// It has a session of its own, so that a command which asks on the terminal fails, and
// does not wait unseen.
func (c Command) Run(ctx context.Context) (check missions.Check, err error) {
	check = missions.NewCheck(-1)
	if ctx.Err() != nil {
		return check, ctx.Err()
	}
	if info, err := os.Stat(c.Workspace); c.Workspace == "" || err != nil || !info.IsDir() {
		return check, errors.New("its workspace is not there")
	}
	if err := os.MkdirAll(filepath.Dir(c.Output), 0o700); err != nil {
		return check, err
	}
	out, err := os.OpenFile(c.Output, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	cmd := exec.Command("/bin/sh", "-c", waitsForGo, "sh", c.Line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Workspace, out, out
	cmd.Env = append(append(withoutSecrets(c.Environ), c.More...), "PWD="+c.Workspace)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.start(cmd); err != nil {
		return check, err
	}
	if why := c.wait(ctx, cmd); why != "" {
		_, err := fmt.Fprintf(out, "\n%s\n", why)
		return check, err
	}
	return missions.NewCheck(cmd.ProcessState.ExitCode()), nil
}

// waitsForGo runs a command line once it may, and ends if whoever was to say so is killed.
const waitsForGo = `read -r umbra_go <&3 || exit; exec 3<&-; exec /bin/sh -c "$1"`

// start starts a command, which does nothing before it is noted what it is: no kill leaves
// one that nobody knows.
func (c Command) start(cmd *exec.Cmd) error {
	mark := rand.Text()
	cmd.Env = append(cmd.Env, markVariable+"="+mark)
	waits, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer waits.Close()
	defer says.Close()
	cmd.ExtraFiles = []*os.File{waits} // 3
	if err := cmd.Start(); err != nil {
		return err
	}
	err = c.Running.note(cmd.Process.Pid, mark)
	if err == nil {
		_, err = says.WriteString("go\n")
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	return err
}

// wait waits for the end of a command, and ends its whole process group then. It says why
// the command was ended, "" if it has ended by itself.
func (c Command) wait(ctx context.Context, cmd *exec.Cmd) (why string) {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its exit code says how it ended
		close(ended)
	}()
	var limit <-chan time.Time
	if c.Limit > 0 {
		timer := time.NewTimer(c.Limit)
		defer timer.Stop()
		limit = timer.C
	}
	group := -cmd.Process.Pid
	defer func() {
		_ = syscall.Kill(group, syscall.SIGKILL) // what it has left running, if anything
		<-ended
	}()
	select {
	case <-ended:
		return ""
	case <-ctx.Done():
		why = "umbra: interrupted"
	case <-limit:
		why = fmt.Sprintf("umbra: ended after %s (check.time_limit)", c.Limit)
	}
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(stopPatience):
	}
	return why
}

// withoutSecrets are the variables whose name says no secret and whose value looks like
// none. Forks are written by agents, and a check runs what they wrote.
func withoutSecrets(environ []string) (kept []string) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if !secrets.MaySaySecret(name) && string(secrets.Redact([]byte(variable))) == variable {
			kept = append(kept, variable)
		}
	}
	return kept
}
