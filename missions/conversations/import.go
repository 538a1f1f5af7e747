package conversations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// importTimeout bounds what an agent's own import of a conversation may take.
const importTimeout = time.Minute

// ImportConversation lets an agent that keeps conversations in a store of its own take a
// placed one into it. What was not done, because it failed or Umbra was killed,
// is done by the next launch.
func (l *Library) ImportConversation(ctx context.Context, m *projects.Mission, c missions.Caller) error {
	importer, ok := l.Adapter(m.Agent).(sessions.Importer)
	if !ok || m.Binding.SessionPath == "" {
		return nil
	}
	s, err := l.Adapter(m.Agent).Open(m.Binding.SessionPath)
	if errors.Is(err, sessions.ErrNoSession) {
		return nil
	}
	if err != nil {
		return err
	}
	for last := ""; ; {
		list, err := importer.Import(m.AdapterEnv(), s, m.Command)
		if err != nil || len(list) == 0 {
			return err
		}
		var words strings.Builder
		for _, i := range list {
			fmt.Fprintln(&words, strings.Join(i.Argv, " "))
		}
		if words.String() == last {
			return importError(list[0], fmt.Errorf("%s: %w, though it says so", strings.Join(list[0].Argv, " "), errNotImported))
		}
		if last == "" || len(list) > 1 {
			missions.Notify(ctx, missions.Notice{Text: importNotice(m, list)})
		}
		last = words.String()
		if err := runImports(ctx, list, m.AdapterEnv().Home, c); err != nil {
			return err
		}
	}
}

func importNotice(m *projects.Mission, list []sessions.Import) string {
	if n := len(list); n > 1 {
		return fmt.Sprintf("giving %s what %d subagents of %s said", m.Agent, n, m.Name)
	}
	return fmt.Sprintf("giving %s the conversation of %s", m.Agent, m.Name)
}

// maxImports bounds how many of an agent's imports run at once: each is a process
// of the agent's, with hundreds of megabytes.
const maxImports = 3

// runImports does imports side by side. One that fails keeps none of the others
// from being done; the first of their errors is returned.
func runImports(ctx context.Context, list []sessions.Import, home string, c missions.Caller) error {
	errs := make([]error, len(list))
	var group sync.WaitGroup
	places := make(chan struct{}, min(maxImports, runtime.GOMAXPROCS(0)))
	for n, i := range list {
		places <- struct{}{}
		group.Go(func() {
			errs[n] = importAndClean(ctx, i, home, c)
			<-places
		})
	}
	group.Wait()
	for n, err := range errs {
		if err != nil {
			return importError(list[n], err)
		}
	}
	return nil
}

// importAndClean does one import, and takes away what was there for it alone.
func importAndClean(ctx context.Context, i sessions.Import, home string, c missions.Caller) error {
	if i.File.Path != "" {
		if err := PlaceFile("", i.File); err != nil {
			return err
		}
	}
	err := errors.Join(runImportCommand(ctx, i, home, c), os.RemoveAll(i.Scratch))
	if err == nil && i.Mark != "" {
		err = removeIfThere(i.Mark)
	}
	if i.File.Path != "" {
		err = errors.Join(err, removeIfThere(i.File.Path))
	}
	return err
}

// ErrSubagentsNotImported is met where only what subagents said was not imported.
var ErrSubagentsNotImported = errors.New("what its subagents said")

// importError marks an import's error if the conversation goes on without it.
func importError(i sessions.Import, err error) error {
	if i.Beside {
		return fmt.Errorf("%w: %w", ErrSubagentsNotImported, err)
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// runImportCommand runs the command with an environment that holds nothing but what it
// needs: its user's home and path, and what the adapter sets. It runs where agents
// write, so that nothing is looked for there: a relative directory on the path is
// left out.
func runImportCommand(ctx context.Context, i sessions.Import, home string, c missions.Caller) error {
	path := missions.AbsolutePathList(c.Env["PATH"])
	program, err := missions.LookPath(i.Argv[0], i.Dir, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, i.Argv[1:]...)
	cmd.Dir, cmd.WaitDelay = i.Dir, time.Second
	cmd.Env = []string{"HOME=" + home, "PATH=" + path, "USER=" + c.Env["USER"], "LANG=C.UTF-8"}
	for name, value := range i.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s was still running after %s", strings.Join(i.Argv, " "), importTimeout)
	case err != nil || !bytes.Contains(out, []byte(i.Done)):
		return fmt.Errorf("%s: %w: %s", strings.Join(i.Argv, " "), notImportedError(err), missions.TruncateText(plainOutput(out), 500))
	}
	return nil
}

var errNotImported = errors.New("the conversation was not taken")

// notImportedError is why an import has failed, which may have ended well.
func notImportedError(err error) error {
	if err == nil {
		return errNotImported
	}
	return fmt.Errorf("%w, %w", errNotImported, err)
}

// plainOutput is a program's output in one line, without its colours.
func plainOutput(out []byte) string {
	return strings.Join(strings.Fields(sessions.StripEscapes(string(out))), " ")
}

// NotImportedNote says in a result what a later launch will try again.
func NotImportedNote(m *projects.Mission, err error) string {
	return fmt.Sprintf("%s has not taken the conversation of %s yet: %v; umbra mission resume %s tries again", m.Agent, m.Name, err, m.Name)
}
