package client

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// started is a daemon that this process has started. It is not waited for but
// to learn that it has ended.
type started struct {
	mu    sync.Mutex
	ended error
}

// failed says how the daemon ended, nil if it has not, or ended well because
// another one serves.
func (s *started) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// launch starts a daemon apart from this process: in a session of its own, in
// the root directory, with nothing of this process's environment that is not
// needed, since what is in it would outlive it.
func launch(o Options) (*started, error) {
	log, err := os.OpenFile(o.Home.LogFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(o.Start[0], o.Start[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", environment(o), log, log
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &started{}
	go func() {
		err := cmd.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = err
	}()
	return s, nil
}

// environment is what a daemon is given.
func environment(o Options) []string {
	kept := []string{"UMBRA_HOME=" + o.Home.Dir}
	for _, v := range o.Environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains([]string{"HOME", "PATH", "LANG", "TMPDIR"}, name) || strings.HasPrefix(name, "XDG_") {
			kept = append(kept, v)
		}
	}
	return kept
}
