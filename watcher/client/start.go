package client

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// started is a daemon that this process has started. It is not waited for but
// to learn that it has ended.
type started struct {
	ended chan struct{}
	err   error // once it has ended
}

// result reports whether the daemon has ended, and how: well, if another one had the home.
func (s *started) result() (bool, error) {
	select {
	case <-s.ended:
		return true, s.err
	default:
		return false, nil
	}
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
	s := &started{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = cmd.Wait()
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
