package missions

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestLaunchIsForOneKeeper: a mission is its keeper's from the launch on, and
// not only when the agent has begun.
func TestLaunchIsForOneKeeper(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}
	defer end()
	launch := func(keeper int) error {
		_, err := b.local.Launch(context.Background(), LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true, KeeperID: keeper})
		return err
	}
	if err := launch(other.Process.Pid); err != nil {
		t.Fatal(err)
	}
	b.fails("a second keeper", launch(os.Getpid()), KindBusy)
	if err := launch(other.Process.Pid); err != nil {
		t.Errorf("the same keeper again, whose first answer was lost: %v", err)
	}
	end()
	if err := launch(os.Getpid()); err != nil {
		t.Errorf("after the keeper died: %v", err)
	}
	b.healthy()
}

// TestPromptThatWasSent: no agent is sent the prompt of its command again when it
// begins anew after a restore to its start; a fresh command's is sent.
func TestPromptThatWasSent(t *testing.T) {
	const prompt = "do it, please"
	for _, a := range Agents() {
		command := []string{a.Name(), prompt}
		if a.Name() == "opencode" {
			command = []string{a.Name(), "--prompt", prompt}
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
