package daemon

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/watcher/api"
)

// TestStoppedClient stops a client that waits for a sign of life, as Ctrl-Z does,
// for longer than it would wait: the daemon's answer counts, though it comes a
// moment after, as where the whole machine stood still.
func TestStoppedClient(t *testing.T) {
	for play, c := range map[string]struct {
		stop time.Duration
		want string
	}{
		"hook":    {2 * time.Second, "kept"},
		"connect": {6 * time.Second, "connected"},
	} {
		t.Run(play, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			argv := player(play, b.home.Dir)
			cmd := exec.Command(argv[0], argv[1:]...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			var abouts atomic.Int32
			asked, stops, again := make(chan struct{}), make(chan struct{}), make(chan struct{})
			b.impostor(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != api.Prefix+api.MethodAbout {
					select {
					case <-again: // it has not given up
					case <-r.Context().Done():
					}
					fmt.Fprint(w, `{"result":{"mission":"kept"}}`+"\n")
					return
				}
				switch abouts.Add(1) {
				case 1:
					close(asked)
					<-stops
				case 2:
					close(again)
				}
				fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
			})
			must(t, cmd.Start())
			<-asked
			must(t, cmd.Process.Signal(syscall.SIGSTOP))
			b.until("the client is stopped", func() bool { return stopped(cmd.Process.Pid) })
			time.Sleep(c.stop)
			must(t, cmd.Process.Signal(syscall.SIGCONT))
			time.AfterFunc(100*time.Millisecond, func() { close(stops) })
			if err := cmd.Wait(); err != nil || strings.TrimSpace(out.String()) != c.want {
				t.Errorf("it says %s, %v", out.String(), err)
			}
		})
	}
}

// stopped reports whether a process was stopped by a signal.
func stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") T ")
}
