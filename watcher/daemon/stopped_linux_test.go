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
// for longer than it would wait: the daemon's answer counts that came meanwhile.
func TestStoppedClient(t *testing.T) {
	for play, want := range map[string]string{"hook": "kept", "connect": "connected"} {
		t.Run(play, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			argv := player(play, b.home.Dir)
			cmd := exec.Command(argv[0], argv[1:]...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			var abouts atomic.Int32
			asked, stops, answered, again := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
			b.impostor(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != api.Prefix+api.MethodAbout {
					select {
					case <-again: // it has not given up
					case <-r.Context().Done():
					}
					fmt.Fprint(w, `{"result":{"mission":"kept"}}`+"\n")
					return
				}
				n := abouts.Add(1)
				switch n {
				case 1:
					close(asked)
					<-stops
				case 2:
					close(again)
				}
				fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
				if n == 1 {
					_ = http.NewResponseController(w).Flush()
					close(answered)
				}
			})
			must(t, cmd.Start())
			<-asked
			must(t, cmd.Process.Signal(syscall.SIGSTOP))
			b.until("the client is stopped", func() bool { return stopped(cmd.Process.Pid) })
			time.Sleep(playPatience + time.Second)
			close(stops)
			<-answered
			must(t, cmd.Process.Signal(syscall.SIGCONT))
			if err := cmd.Wait(); err != nil || strings.TrimSpace(out.String()) != want {
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
