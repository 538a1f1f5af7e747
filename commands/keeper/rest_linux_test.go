package keeper

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestRestOfKilledAgent: of an agent that a script starts, and of which the script alone is
// killed, nothing lives on, however it takes SIGTERM. What an agent has left running that ended
// by itself or by another signal does, and so does what has left its process group.
func TestRestOfKilledAgent(t *testing.T) {
	t.Parallel()
	if !leadsSession() || hasTerminal() {
		again := exec.Command(os.Args[0], "-test.run=^TestRestOfKilledAgent$")
		again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("in a session of its own: %v\n%s", err, out)
		}
		return
	}
	for name, test := range map[string]struct {
		agent   string // writes its pid to $OUT
		ends    string // what the script does then
		livesOn bool
	}{
		"killed":                 {agent: `sh -c 'echo $$ >"$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 6000'`, ends: "kill -9 $$"},
		"deaf":                   {agent: `sh -c 'trap "" TERM; echo $$ >"$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 6000'`, ends: "kill -9 $$"},
		"ended by itself":        {agent: `sh -c 'echo $$ >"$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 6000'`, ends: "exit 3", livesOn: true},
		"left behind at SIGINT":  {agent: `sh -c 'echo $$ >"$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 6000'`, ends: "kill -INT $$; sleep 60", livesOn: true},
		"left behind at SIGTERM": {agent: `nohup sh -c 'echo $$ >"$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 6000'`, ends: "kill -TERM $$", livesOn: true},
		"in another's session":   {agent: `setsid sh -c 'echo $$ >"$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 6000'`, ends: "kill -9 $$", livesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "pid")
			script := "export OUT=" + out + "; " + test.agent + ` & until [ -s "$OUT" ]; do sleep 0.01; done; ` + test.ends
			svc := reporting{keep: func(missions.KeepRequest) {}}
			b := calltest.New(t, svc)
			b.Env.Stdin = nil
			c := &call.Call{Env: b.Env}
			_ = c.Do(func(c *call.Call) error { // the agent's end is what it ends with
				launch := missions.Launch{Argv: []string{"/bin/sh", "-c", script}, Dir: os.TempDir(), Output: filepath.Join(t.TempDir(), "output")}
				return keepAgent(c, svc, launch, Variables{}, &timeLimit{})
			})
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
			if test.livesOn {
				if !isRunning(pid) {
					t.Error("it was ended")
				}
			} else if !patience.Until(time.Minute, func() bool { return !isRunning(pid) }) { // killed, it is there for a moment
				t.Error("it lives on")
			}
		})
	}
}

// isRunning reports whether a process is there and has not ended.
func isRunning(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, ok := strings.Cut(string(stat), ") ")
	return ok && !strings.HasPrefix(state, "Z")
}
