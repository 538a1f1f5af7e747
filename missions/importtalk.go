package missions

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

	"github.com/umbra-vcs/umbra/sessions"
)

// importPatience bounds what an agent's own import of a conversation may take.
const importPatience = time.Minute

// importTalk lets an agent that keeps conversations in a store of its own take a
// placed one into it. What was not done, because it failed or Umbra was killed,
// is done by the next launch.
func (l *Local) importTalk(ctx context.Context, m *loaded, c Caller) error {
	importer, ok := l.adapter(m.Agent).(sessions.Importer)
	if !ok || m.bind.Session == "" {
		return nil
	}
	s, err := l.adapter(m.Agent).Open(m.bind.Session)
	if errors.Is(err, sessions.ErrNoSession) {
		return nil
	}
	if err != nil {
		return err
	}
	for last := ""; ; {
		list, err := importer.Import(m.adapterEnv(), s, m.Command)
		if err != nil || len(list) == 0 {
			return err
		}
		var words strings.Builder
		for _, i := range list {
			fmt.Fprintln(&words, strings.Join(i.Argv, " "))
		}
		if words.String() == last {
			return beside(list[0], fmt.Errorf("%s: %w, though it says so", strings.Join(list[0].Argv, " "), errNotImported))
		}
		if last == "" || len(list) > 1 {
			Notify(ctx, Notice{Text: givingTalk(m, list)})
		}
		last = words.String()
		if err := importAll(ctx, list, m.adapterEnv().Home, c); err != nil {
			return err
		}
	}
}

func givingTalk(m *loaded, list []sessions.Import) string {
	if n := len(list); n > 1 {
		return fmt.Sprintf("giving %s what %d subagents of %s said", m.Agent, n, m.Name)
	}
	return fmt.Sprintf("giving %s the conversation of %s", m.Agent, m.Name)
}

// mostImports bounds how many of an agent's imports run at once: each is a process
// of the agent's, with hundreds of megabytes.
const mostImports = 3

// importAll does imports side by side. One that fails keeps none of the others
// from being done; the first of their errors is returned.
func importAll(ctx context.Context, list []sessions.Import, home string, c Caller) error {
	errs := make([]error, len(list))
	var group sync.WaitGroup
	places := make(chan struct{}, min(mostImports, runtime.GOMAXPROCS(0)))
	for n, i := range list {
		places <- struct{}{}
		group.Go(func() {
			errs[n] = importOne(ctx, i, home, c)
			<-places
		})
	}
	group.Wait()
	for n, err := range errs {
		if err != nil {
			return beside(list[n], err)
		}
	}
	return nil
}

// importOne does one import, and takes away what was there for it alone.
func importOne(ctx context.Context, i sessions.Import, home string, c Caller) error {
	if i.File.Path != "" {
		if err := placeFile("", i.File); err != nil {
			return err
		}
	}
	err := errors.Join(runImport(ctx, i, home, c), os.RemoveAll(i.Scratch))
	if err == nil && i.Mark != "" {
		err = removed(i.Mark)
	}
	if i.File.Path != "" {
		err = errors.Join(err, removed(i.File.Path))
	}
	return err
}

// errBeside is met where only what subagents said was not imported.
var errBeside = errors.New("what its subagents said")

// beside marks an import's error if the conversation goes on without it.
func beside(i sessions.Import, err error) error {
	if i.Beside {
		return fmt.Errorf("%w: %w", errBeside, err)
	}
	return err
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// runImport runs the command with an environment that holds nothing but what it
// needs: its user's home and path, and what the adapter sets. It runs where agents
// write, so that nothing is looked for there: a relative directory on the path is
// left out.
func runImport(ctx context.Context, i sessions.Import, home string, c Caller) error {
	path := absoluteOnly(c.Env["PATH"])
	program, err := LookPath(i.Argv[0], i.Dir, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importPatience)
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
		return fmt.Errorf("%s was still running after %s", strings.Join(i.Argv, " "), importPatience)
	case err != nil || !bytes.Contains(out, []byte(i.Done)):
		return fmt.Errorf("%s: %w: %s", strings.Join(i.Argv, " "), notTaken(err), beginning(said(out), 500))
	}
	return nil
}

var errNotImported = errors.New("the conversation was not taken")

// notTaken is why an import has failed, which may have ended well.
func notTaken(err error) error {
	if err == nil {
		return errNotImported
	}
	return fmt.Errorf("%w, %w", errNotImported, err)
}

// said is a program's output in one line, without its colours.
func said(out []byte) string {
	var plain strings.Builder
	for i, piece := range strings.Split(string(out), "\x1b[") {
		if _, after, ok := strings.Cut(piece, "m"); ok && i > 0 {
			piece = after
		}
		plain.WriteString(piece)
	}
	return strings.Join(strings.Fields(plain.String()), " ")
}

// notImported says in a result what a later launch will try again.
func notImported(m *loaded, err error) string {
	return fmt.Sprintf("%s has not taken the conversation of %s yet: %v; umbra mission resume %s tries again", m.Agent, m.Name, err, m.Name)
}
