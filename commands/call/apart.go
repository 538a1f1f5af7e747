package call

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// StartApart starts another command line of umbra's in a session of its own, with input on
// its stdin. It writes nothing that the process which calls it would have to wait for, and
// nobody waits for its end.
func StartApart(env Env, input []byte, args ...string) error {
	self, err := env.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", environApart(env), r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return err
	}
	go func() { _ = cmd.Wait() }() // how it ended is in its log
	_, err = w.Write(input)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}

// environApart is what such a process has of the environment, the same whichever process
// starts it: a daemon has no more.
func environApart(env Env) []string {
	var kept []string
	for _, v := range env.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains([]string{"HOME", "PATH", "LANG", "TMPDIR", "UMBRA_NO_DAEMON"}, name) || strings.HasPrefix(name, "XDG_") {
			kept = append(kept, v)
		}
	}
	return kept
}
