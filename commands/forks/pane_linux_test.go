package forks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestPaneBeginsInWorkspace: tmux takes nothing in the name of a workspace for a format, whose
// #(…) it would run. Where there is no room for a second pane, a window is opened.
func TestPaneBeginsInWorkspace(t *testing.T) {
	t.Parallel()
	for columns, panes := range map[string]string{"80": "2", "2": "1"} {
		t.Run(columns+" columns", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			workspace, umbra, began := filepath.Join(dir, "#{pid} ##[x] #(echo ran) #S"), filepath.Join(dir, "umbra"), filepath.Join(dir, "began")
			calltest.Must(t, os.Mkdir(workspace, 0o700))
			script := "#!/bin/sh\n{ tmux display-message -p -t $TMUX_PANE '#{window_panes}'; pwd; } >" + home.ShellQuote(began+".new") +
				"\nexec mv " + home.ShellQuote(began+".new") + " " + home.ShellQuote(began) + "\n"
			calltest.Must(t, os.WriteFile(umbra, []byte(script), 0o700))

			socket := filepath.Join(dir, "tmux")
			tmux := func(args ...string) string {
				cmd := exec.Command("tmux", append([]string{"-S", socket}, args...)...)
				cmd.Env = append(os.Environ(), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %q: %v\n%s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", "24", "/bin/sh")
			t.Cleanup(func() { tmux("kill-server") })

			vars := map[string]string{"TMUX": socket + ",0,0", "TMUX_PANE": tmux("display-message", "-p", "#{pane_id}"), "PATH": os.Getenv("PATH"), "UMBRA_HOME": filepath.Join(dir, "home")}
			b := calltest.New(t, nil)
			b.Env.Getenv = func(name string) string { return vars[name] }
			b.Env.Environ = func() []string {
				return append(os.Environ(), "HOME="+dir, "TMUX="+vars["TMUX"], "TMUX_PANE="+vars["TMUX_PANE"])
			}
			b.Env.Executable = func() (string, error) { return umbra, nil }
			b.Env.Run = func(cmd *exec.Cmd) error { return cmd.Run() }
			c := &call.Call{Env: b.Env}
			calltest.Must(t, c.Do(func(c *call.Call) error {
				opened, err := openPane(c, missions.Mission{ID: "id", Workspace: workspace})
				if !opened {
					t.Errorf("no pane is opened: %v", err)
				}
				return err
			}))
			var said []byte
			if !patience.Until(time.Minute, func() bool {
				said, _ = os.ReadFile(began)
				return len(said) > 0
			}) {
				t.Fatal("nothing begins in the pane")
			}
			if want := panes + "\n" + workspace + "\n"; string(said) != want {
				t.Errorf("a pane begins in %q, want %q", said, want)
			}
		})
	}
}
