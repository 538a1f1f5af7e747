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
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/complete"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestUninstallTellsWhatItDid: what was removed is said also where a daemon that
// does not stop ends the rest.
func TestUninstallTellsWhatItDid(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.Env.Connect = inThisProcess
	cwd := t.TempDir()
	b.Env.Getwd = func() (string, error) { return cwd, nil }
	home, err := home.Open(b.Env.Getenv("UMBRA_HOME"))
	calltest.Must(t, err)
	held, err := home.Hold("a daemon")
	calltest.Must(t, err)
	defer held.Release()
	calltest.Must(t, home.PublishSocket(deaf(t)))
	file := filepath.Join(b.Env.Getenv("HOME"), ".local", "share", "bash-completion", "completions", "umbra")
	for _, args := range [][]string{{"uninstall"}, {"uninstall", "--json"}} {
		calltest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		calltest.Must(t, os.WriteFile(file, []byte(complete.BashCompletion), 0o600))
		if code := b.run(args...); code == 0 || code == int(call.Partly) {
			t.Errorf("code %d: %s", code, b.Stderr.String())
		}
		if !strings.Contains(b.Stdout.String(), "completion of bash") || !strings.Contains(b.Stderr.String(), "a daemon") {
			t.Errorf("%v said %q and %q", args, b.Stdout.String(), b.Stderr.String())
		}
	}
}

// TestUninstallBesideALaunch: an agent whose keeper has not told of its start yet is at
// work.
func TestUninstallBesideALaunch(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.Env.Connect = inThisProcess
	cwd := t.TempDir()
	b.Env.Getwd = func() (string, error) { return cwd, nil }
	if code := b.run("mission", "new", "--no-launch", "--name", "busy", "--", "true"); code != 0 {
		t.Fatalf("code %d: %s", code, b.Stderr.String())
	}
	svc, closer, err := inThisProcess(t.Context(), b.Env, call.Globals{})
	calltest.Must(t, err)
	defer closer.Close()
	caller, err := b.Env.Caller()
	calltest.Must(t, err)
	_, err = svc.Launch(t.Context(), missions.LaunchRequest{Caller: caller, Mission: "busy", KeeperPID: os.Getpid()})
	calltest.Must(t, err)
	if code := b.run("uninstall"); code != 11 || !strings.Contains(b.Stderr.String(), "agents are at work in busy: nothing was done") {
		t.Errorf("code %d: %s", code, b.Stderr.String())
	}
}

// inThisProcess gives a Service that asks no daemon.
func inThisProcess(ctx context.Context, env call.Env, globals call.Globals) (missions.Service, io.Closer, error) {
	globals.NoDaemon, globals.Reach = true, call.Alone
	return connect.Service(ctx, env, globals)
}

// deaf is a socket at which nobody is answered.
func deaf(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "u") // a socket's path is short
	calltest.Must(t, err)
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	calltest.Must(t, err)
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
