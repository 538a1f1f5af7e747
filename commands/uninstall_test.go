package commands

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestUninstallTellsWhatItDid: what was removed is said also where a daemon that
// does not stop ends the rest.
func TestUninstallTellsWhatItDid(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.env.Connect = func(_ context.Context, env call.Env, globals call.Globals) (missions.Service, io.Closer, error) {
		return inProcess(env, globals)
	}
	cwd := t.TempDir()
	b.env.Getwd = func() (string, error) { return cwd, nil }
	home, err := home.Open(b.env.Getenv("UMBRA_HOME"))
	mustDo(t, err)
	held, err := home.Hold("a daemon")
	mustDo(t, err)
	defer held.Release()
	mustDo(t, home.PublishSocket(deaf(t)))
	file := filepath.Join(b.env.Getenv("HOME"), ".local", "share", "bash-completion", "completions", "umbra")
	for _, args := range [][]string{{"uninstall"}, {"uninstall", "--json"}} {
		mustDo(t, os.MkdirAll(filepath.Dir(file), 0o700))
		mustDo(t, os.WriteFile(file, []byte(bashCompletion), 0o600))
		if code := b.run(args...); code == 0 || code == int(call.Partly) {
			t.Errorf("code %d: %s", code, b.stderr.String())
		}
		if !strings.Contains(b.stdout.String(), "completion of bash") || !strings.Contains(b.stderr.String(), "a daemon") {
			t.Errorf("%v said %q and %q", args, b.stdout.String(), b.stderr.String())
		}
	}
}

// TestUninstallBesideALaunch: an agent whose keeper has not told of its start yet is at
// work.
func TestUninstallBesideALaunch(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.env.Connect = func(_ context.Context, env call.Env, globals call.Globals) (missions.Service, io.Closer, error) {
		return inProcess(env, globals)
	}
	cwd := t.TempDir()
	b.env.Getwd = func() (string, error) { return cwd, nil }
	if code := b.run("mission", "new", "--no-launch", "--name", "busy", "--", "true"); code != 0 {
		t.Fatalf("code %d: %s", code, b.stderr.String())
	}
	svc, closer, err := inProcess(b.env, call.Globals{})
	mustDo(t, err)
	defer closer.Close()
	caller, err := b.env.Caller()
	mustDo(t, err)
	_, err = svc.Launch(t.Context(), missions.LaunchRequest{Caller: caller, Mission: "busy", KeeperPID: os.Getpid()})
	mustDo(t, err)
	if code := b.run("uninstall"); code != 11 || !strings.Contains(b.stderr.String(), "agents are at work in busy: nothing was done") {
		t.Errorf("code %d: %s", code, b.stderr.String())
	}
}

// deaf is a socket at which nobody is answered.
func deaf(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "u") // a socket's path is short
	mustDo(t, err)
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	mustDo(t, err)
	t.Cleanup(func() {
		listener.Close()
		os.RemoveAll(dir)
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return filepath.Join(dir, "s")
}
