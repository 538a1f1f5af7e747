package local

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// TestLaunchIsForOneKeeper: a mission is its keeper's from the launch on, and
// not only when the agent has begun.
func TestLaunchIsForOneKeeper(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	other := exec.Command("sleep", "6000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}
	defer end()
	launch := func(keeper int) error {
		_, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true, KeeperPID: keeper})
		return err
	}
	if err := launch(other.Process.Pid); err != nil {
		t.Fatal(err)
	}
	b.fails("a second keeper", launch(os.Getpid()), missions.KindBusy)
	if err := launch(other.Process.Pid); err != nil {
		t.Errorf("the same keeper again, whose first answer was lost: %v", err)
	}
	end()
	if err := launch(os.Getpid()); err != nil {
		t.Errorf("after the keeper died: %v", err)
	}
	b.healthy()
}

// TestResumeKeepsStore: a session is resumed where it is, whatever the shell's
// environment says; one that is elsewhere is left to that. So it is for all agents.
func TestResumeKeepsStore(t *testing.T) {
	t.Parallel()
	for _, agent := range projects.Agents() {
		a := agent.(interface {
			sessions.Adapter
			sessions.Relocatable
		})
		for _, name := range a.StoreVariables() {
			if !slices.Contains(a.Variables(), name) || !slices.Contains(projects.CallerVariables(), name) {
				t.Errorf("%s: %s is not kept with a mission, or not asked of a caller", a.Name(), name)
			}
		}
		begun := map[string]string{}
		for _, name := range a.StoreVariables()[:1] {
			begun[name] = "/conf"
		}
		for name, c := range map[string]struct {
			begun     map[string]string
			elsewhere bool
		}{"own store": {begun: begun}, "usual store": {}, "elsewhere": {begun: begun, elsewhere: true}} {
			env := sessions.Environ{Home: "/home/u", Vars: map[string]string{"HOME": "/home/u"}}
			maps.Copy(env.Vars, c.begun)
			m := &projects.Mission{Binding: projects.Binding{AgentVars: env.Vars, SessionPath: filepath.Join(a.Root(env), "session")}}
			if c.elsewhere {
				m.Binding.SessionPath = "/elsewhere/session"
			}
			launch := missions.Launch{Env: map[string]string{}}
			agents.KeepSessionStore(m, a, &launch)
			// What the agent gets, in a shell that names another store.
			shell := sessions.Environ{Home: "/home/u", Vars: map[string]string{}}
			for _, name := range a.StoreVariables() {
				shell.Vars[name] = "/shell"
			}
			for _, name := range launch.Unset {
				delete(shell.Vars, name)
			}
			maps.Copy(shell.Vars, launch.Env)
			if kept := a.Root(shell) == a.Root(env); kept == c.elsewhere {
				t.Errorf("%s, %s: it looks in %s, begun in %s", a.Name(), name, a.Root(shell), a.Root(env))
			}
		}
	}
}

// TestPromptThatWasSent: no agent is sent the prompt of its command again when it
// begins anew after a restore to its start; a fresh command's is sent.
func TestPromptThatWasSent(t *testing.T) {
	t.Parallel()
	const prompt = "do it, please"
	for _, a := range projects.Agents() {
		command := []string{a.Name(), prompt}
		if option := map[string]string{"opencode": "--prompt", "copilot": "--interactive"}[a.Name()]; option != "" {
			command = []string{a.Name(), option, prompt}
		}
		for _, fresh := range []bool{false, true} {
			o := sessions.Launch{
				Command: command, SessionID: testSession, Again: true, Fresh: fresh, Dir: t.TempDir(), SettingsDir: t.TempDir(),
				Env:      sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
				ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
			}
			c, err := a.Launch(o)
			if got := strings.Contains(strings.Join(c.Argv, " "), prompt); err != nil || got != fresh {
				t.Errorf("%s, fresh %t: %q %v", a.Name(), fresh, c.Argv, err)
			}
		}
	}
}
