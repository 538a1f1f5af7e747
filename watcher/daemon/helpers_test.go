package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// bench is a home, a workspace, and the environment that belongs to them.
type bench struct {
	testing.TB
	home home.Home
	work string
	user string
	// patience is the quick hook's; 0 is the client's own.
	patience time.Duration
}

func newBench(t testing.TB) *bench {
	t.Helper()
	user := t.TempDir()
	b := &bench{TB: t, user: user, work: filepath.Join(user, "work")}
	must(t, os.Mkdir(b.work, 0o755))
	home, err := home.Open(filepath.Join(user, "home"))
	must(t, err)
	b.home = home
	b.configure("")
	return b
}

// configure writes the home's configuration: what every bench has, so that a slow machine
// is not what is tried, and more.
func (b *bench) configure(more string) {
	b.Helper()
	config := fmt.Sprintf("watch: {settle: 200ms, max_wait: 2s}\nhooks: {max_wait: %s}\n%s", patience.Of(time.Minute), more)
	must(b, os.WriteFile(b.home.ConfigFile(), []byte(config), 0o600))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// getenv is the environment of a test's daemon: short enough for a socket.
func (b *bench) getenv(string) string { return "" }

func (b *bench) options() Options {
	return Options{Home: b.home, Version: "test", Getenv: b.getenv, Tick: 50 * time.Millisecond}
}

func (b *bench) start(change ...func(*Options)) *Server {
	b.Helper()
	o := b.options()
	for _, c := range change {
		c(&o)
	}
	s, err := Start(b.ctx(), o)
	must(b, err)
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	return s
}

func (b *bench) connect(change ...func(*client.Options)) *client.Client {
	b.Helper()
	c, err := b.tryConnect(change...)
	must(b, err)
	b.Cleanup(func() { must(b, c.Close()) })
	return c
}

func (b *bench) tryConnect(change ...func(*client.Options)) (*client.Client, error) {
	// A slow machine is not what is tried, but where a test says so.
	o := client.Options{Home: b.home, Version: "test", Environ: os.Environ(), Timeout: patience.Of(time.Minute), Patience: patience.Of(time.Minute)}
	for _, c := range change {
		c(&o)
	}
	return client.Connect(b.ctx(), o)
}

// impatient has a client's own patience count, where it is what is tried.
func impatient(o *client.Options) { o.Patience = 0 }

// ctx ends before the test's own time does.
func (b *bench) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	b.Cleanup(cancel)
	return ctx
}

func (b *bench) caller() missions.Caller {
	return missions.Caller{Cwd: b.work, Env: map[string]string{"HOME": b.user, "PATH": os.Getenv("PATH"), "SHELL": "/bin/sh"}}
}

func (b *bench) mission(svc missions.Service, name string) missions.Mission {
	b.Helper()
	m, err := svc.NewMission(b.ctx(), missions.NewMissionRequest{Caller: b.caller(), Name: name, Command: []string{"sh"}})
	must(b, err)
	return m
}

// hook has an agent tell of an event in its one session.
func (b *bench) hook(svc missions.Service, event string, fields map[string]any) (missions.HookResult, error) {
	b.Helper()
	const session = "11111111-1111-4111-8111-111111111111"
	all := map[string]any{"session_id": session, "cwd": b.work, "hook_event_name": event, "transcript_path": filepath.Join(b.user, session+".jsonl")}
	maps.Copy(all, fields)
	payload, err := json.Marshal(all)
	must(b, err)
	return svc.Hook(b.ctx(), missions.HookRequest{Caller: b.caller(), Agent: "claude", Payload: payload})
}

func (b *bench) write(name, content string) {
	b.Helper()
	must(b, os.MkdirAll(filepath.Dir(filepath.Join(b.work, name)), 0o755))
	must(b, os.WriteFile(filepath.Join(b.work, name), []byte(content), 0o644))
}

// until waits for a condition, and fails the test if it does not come.
func (b *bench) until(what string, there func() bool) {
	b.Helper()
	if !patience.Until(5*time.Minute, there) { // what has a low priority waits on a busy machine
		log, _ := os.ReadFile(b.home.LogFile())
		b.Fatalf("waited in vain: %s\n%s", what, log)
	}
}

// instead has a method do something else, which may fill in its result.
func (s *Server) instead(name string, do func(ctx context.Context, result any) error) {
	m := s.table[name]
	m.Call = func(ctx context.Context, _ missions.Service, _, result any) error { return do(ctx, result) }
	s.table[name] = m
}

// called is closed when a method is called.
func (s *Server) called(name string) <-chan struct{} {
	m, began, once := s.table[name], make(chan struct{}), sync.Once{}
	call := m.Call
	m.Call = func(ctx context.Context, svc missions.Service, request, result any) error {
		once.Do(func() { close(began) })
		return call(ctx, svc, request, result)
	}
	s.table[name] = m
	return began
}
