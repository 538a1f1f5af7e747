package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// The test binary plays the other processes too: its arguments say which.
const playing = "-play="

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], playing) {
		if err := perform(strings.TrimPrefix(os.Args[1], playing), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	os.Setenv("GIT_CONFIG_SYSTEM", "/dev/null")
	os.Exit(m.Run())
}

func perform(play string, args []string) error {
	switch play {
	case "daemon":
		return playDaemon(args[0])
	case "connect":
		return playConnect(args[0])
	case "dial":
		return playDial(args[0])
	case "hook":
		return playHook(args[0])
	}
	return fmt.Errorf("no play %q", play)
}

// playDaemon serves a home until it is told to stop.
func playDaemon(dir string) error {
	DropInherited()
	home, err := home.Open(dir)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// A test that fails must not leave it behind for long.
	return Run(ctx, Options{Home: home, Version: "played", Tick: 50 * time.Millisecond, IdleExit: time.Minute})
}

// playPatience is how long a played client waits for a sign of life. A test that stops it
// for longer has to wait as long.
const playPatience = 5 * time.Second

// playConnect says whether the home's daemon is for this process.
func playConnect(dir string) error {
	home, err := home.Open(dir)
	if err != nil {
		return err
	}
	c, err := client.Connect(context.Background(), client.Options{Home: home, Start: []string{"/bin/false"}, Timeout: playPatience, Patience: playPatience})
	if errors.Is(err, client.ErrElsewhere) {
		fmt.Println("elsewhere")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("connected")
	return c.Close()
}

// playHook hands in an event, and says for which mission it was.
func playHook(dir string) error {
	home, err := home.Open(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	r, err := client.Hook(ctx, client.Options{Home: home, Patience: playPatience}, missions.HookRequest{Agent: "claude"})
	fmt.Println(r.Mission)
	return err
}

// playDial asks over a socket as the user that it runs as.
func playDial(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /v1/about HTTP/1.1\r\nHost: umbra\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	answer := make([]byte, 1<<10)
	n, err := conn.Read(answer)
	fmt.Println(string(answer[:n]))
	return err
}

func player(play string, args ...string) []string {
	return append([]string{os.Args[0], playing + play}, args...)
}

// starting makes a client start a played daemon, which ends with the test.
func (b *bench) starting(o *client.Options) {
	o.Start = player("daemon", b.home.Dir)
	b.Cleanup(func() {
		// One that was started in vain may be late, and serve now that the other
		// has left.
		for again := true; again; again = b.players() > 0 {
			time.Sleep(5 * time.Millisecond)
			if _, err := client.Leave(context.Background(), client.Options{Home: b.home, Patience: patience.Of(time.Minute)}); err != nil {
				b.Errorf("stop the daemon: %v", err)
				return
			}
		}
	})
}

// players counts the processes that were started to serve the home.
func (b *bench) players() int {
	n := 0
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(b, err)
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(b.home.Dir)) {
			n++
		}
	}
	return n
}

func output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}
