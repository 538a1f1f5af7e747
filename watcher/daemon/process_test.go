package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/api"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// TestStartsRace lets many clients find no daemon at once: one daemon stays,
// and all are served by it.
func TestStartsRace(t *testing.T) {
	b := newBench(t)
	const racers = 5
	pids := make([]int, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			c, err := b.tryConnect(b.starting)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
			if err != nil {
				t.Error(err)
				return
			}
			pids[i] = status.Daemon.PID
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid == 0 || pid != pids[0] {
			t.Fatalf("served by %v", pids)
		}
	}
}

// TestKilledDaemon goes on after the daemon was killed: a call that reads is
// asked again, and the next daemon takes over what is on disk.
func TestKilledDaemon(t *testing.T) {
	b := newBench(t)
	c := b.connect(b.starting)
	b.write("a.txt", "one\n")
	b.mission(c, "work")
	for range 3 {
		status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
		must(t, err)
		must(t, syscall.Kill(status.Daemon.PID, syscall.SIGKILL))
		b.until("the lock is free", func() bool { _, _, held := b.home.LockHolder(); return !held })
		entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()})
		if err != nil || len(entries) == 0 {
			t.Fatalf("log after the kill: %v %v", entries, err)
		}
		b.write("a.txt", time.Now().String())
		_, err = c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
	}
	d, err := c.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) != 0 || d.Snapshots != 4 {
		t.Errorf("doctor: %+v %v", d, err)
	}
}

// TestKilledInACall kills the daemon under a call that waits: the client waits on at
// the next one, which tells it of what it waits for.
func TestKilledInACall(t *testing.T) {
	b := newBench(t)
	c := b.connect(b.starting)
	id := b.mission(c, "work").ID
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	front := b.front() // the daemon would stop if its own socket were not the home's any more
	between, asked := front.between(status.Daemon.Socket, "wait")
	waiting := front.connect()
	waited := make(chan error, 1)
	go func() {
		_, err := waiting.Wait(b.ctx(), missions.WaitRequest{Caller: b.caller(), States: []missions.StateName{missions.StateClosed}})
		waited <- err
	}()
	select {
	case <-asked:
	case err := <-waited:
		t.Fatalf("waited before the daemon was asked: %v", err)
	}
	must(t, syscall.Kill(status.Daemon.PID, syscall.SIGKILL))
	must(t, between.Close())
	_, err = c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()}) // starts the next
	must(t, err)
	must(t, front.home.PublishSocket(b.home.Socket()))
	b.endAgent(c, id)
	must(t, <-waited)
}

// endAgent launches a mission's agent, and reports that it has ended: the mission is closed.
func (b *bench) endAgent(svc missions.Service, id string) {
	b.Helper()
	keeper := missions.KeepRequest{Caller: b.caller(), Mission: id, KeeperPID: os.Getpid(), AgentPID: os.Getpid()}
	launch, err := svc.Launch(b.ctx(), missions.LaunchRequest{Caller: b.caller(), Mission: id, KeeperPID: os.Getpid()})
	must(b, err)
	keeper.Launch = launch.ID
	_, err = svc.Keep(b.ctx(), keeper)
	must(b, err)
	keeper.Ended = true
	_, err = svc.Keep(b.ctx(), keeper)
	must(b, err)
}

// between puts a server between the home's daemon and its clients, that goes when the
// daemon does, and tells when the daemon was asked by a method.
func (b *bench) between(daemon, method string) (*http.Server, <-chan struct{}) {
	asked, once := make(chan struct{}), sync.Once{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "umbra" },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", daemon)
		}},
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // it is dead
	}
	return b.impostor(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix+method {
			r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
				WroteRequest: func(httptrace.WroteRequestInfo) { once.Do(func() { close(asked) }) },
			}))
		}
		proxy.ServeHTTP(w, r)
	}), asked
}

// TestStaleSocket finds what a dead process left where the socket should be.
func TestStaleSocket(t *testing.T) {
	b := newBench(t)
	stale := filepath.Join(b.user, socketName)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
	file := filepath.Join(b.user, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, published := range []string{stale, file, "/nowhere/umbra.sock", "relative", ""} {
		must(t, os.WriteFile(b.home.SocketFile(), []byte(published+"\n"), 0o600))
		_, err := b.tryConnect(func(o *client.Options) { o.Timeout = 200 * time.Millisecond })
		if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || e.Hint == "" {
			t.Errorf("published %q: %v", published, err)
		}
		s, err := Start(b.ctx(), b.options())
		must(t, err)
		must(t, b.connect().Close())
		must(t, s.Close())
		if b.home.Socket() != "" {
			t.Errorf("still published: %s", b.home.Socket())
		}
	}
	if _, err := os.Lstat(file); err != nil {
		t.Errorf("a file that is no socket is gone: %v", err)
	}
}

// impostor serves the home's socket with a handler of the test's.
func (b *bench) impostor(h http.HandlerFunc) *http.Server {
	path := filepath.Join(b.TempDir(), "i.sock")
	l, err := net.Listen("unix", path)
	must(b, err)
	must(b, b.home.PublishSocket(path))
	s := &http.Server{Handler: h, ConnContext: withPeer}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// TestHungDaemon connects to a process that never answers.
func TestHungDaemon(t *testing.T) {
	b := newBench(t)
	lock, err := b.home.Hold("umbra daemon")
	must(t, err)
	defer lock.Release()
	b.impostor(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err = b.tryConnect(impatient, func(o *client.Options) { o.Timeout = patience.Of(1500 * time.Millisecond) })
	e := missions.AsError(err)
	if err == nil || e.Kind != missions.KindNoDaemon || !strings.Contains(e.Message, "does not answer") || !strings.Contains(e.Message, strconv.Itoa(os.Getpid())) {
		t.Errorf("error %v", err)
	}
	_, err = client.Leave(b.ctx(), client.Options{Home: b.home})
	if e := missions.AsError(err); err == nil || e.Hint != fmt.Sprintf("kill -9 %d ends it, and nothing is lost", os.Getpid()) {
		t.Errorf("leave: %v", err)
	}
}

// TestHangIsRemembered: who comes after one that waited for a hung process does not wait as
// long, and is served as soon as it answers.
func TestHangIsRemembered(t *testing.T) {
	b := newBench(t)
	lock, err := b.home.Hold("umbra daemon")
	must(t, err)
	defer lock.Release()
	var answers atomic.Bool
	b.impostor(func(w http.ResponseWriter, r *http.Request) {
		if answers.Load() {
			fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
			return
		}
		<-r.Context().Done()
	})
	connect := func(timeout time.Duration) error {
		ctx, cancel := context.WithCancel(context.Background()) // a person's: without a deadline
		defer cancel()
		defer time.AfterFunc(patience.Of(30*time.Second), cancel).Stop()
		c, err := client.Connect(ctx, client.Options{Home: b.home, Version: "test", Timeout: timeout})
		if err == nil {
			must(t, c.Close())
		}
		return err
	}
	if err := connect(patience.Of(300 * time.Millisecond)); !errors.Is(err, client.ErrHangs) || !b.home.Hangs() {
		t.Fatalf("%v, remembered: %v", err, b.home.Hangs())
	}
	// It would wait for longer than a test may take.
	if err := connect(time.Hour); !errors.Is(err, client.ErrHangs) {
		t.Errorf("the second: %v", err)
	}
	answers.Store(true)
	b.until("it is served", func() bool { return connect(time.Hour) == nil }) // each time it has a moment alone
}

// TestOlderProtocol asks a daemon that is too old to leave, and takes its place.
func TestOlderProtocol(t *testing.T) {
	b := newBench(t)
	var asked sync.Once
	var old *http.Server
	left := make(chan struct{})
	old = b.impostor(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"result":{"protocol":%d,"version":"0.0.1"}}`+"\n", api.Protocol-1)
		if r.URL.Path == api.Prefix+api.MethodLeave {
			asked.Do(func() {
				go func() {
					defer close(left)
					_ = old.Shutdown(b.ctx())
				}()
			})
		}
	})
	c := b.connect(b.starting)
	<-left
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	if status.Daemon.Version != "played" {
		t.Errorf("served by version %s", status.Daemon.Version)
	}
}

// TestOlderBinary asks a daemon that does not know what is asked for, of a new
// method or a new field, to leave, and asks the next one.
func TestOlderBinary(t *testing.T) {
	b := newBench(t)
	var asked sync.Once
	var leaving atomic.Bool
	var old *http.Server
	left := make(chan struct{})
	old = b.impostor(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case api.Prefix + api.MethodLeave:
			asked.Do(func() {
				leaving.Store(true)
				go func() {
					defer close(left)
					_ = old.Shutdown(b.ctx())
				}()
			})
			fallthrough
		case api.Prefix + api.MethodAbout:
			fmt.Fprintf(w, `{"result":{"protocol":%d,"version":"0.0.1","leaving":%t}}`+"\n", api.Protocol, leaving.Load())
		default:
			http.Error(w, "no such method", http.StatusNotImplemented)
		}
	})
	c := b.connect(b.starting)
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	<-left
	if status.Daemon.Version != "played" {
		t.Errorf("served by version %s", status.Daemon.Version)
	}
}

// TestNewerProtocol is served by a daemon that is newer than the client.
func TestNewerProtocol(t *testing.T) {
	b := newBench(t)
	b.impostor(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"result":{"protocol":%d,"some_news":true}}`+"\n", api.Protocol+1)
	})
	b.connect()
}

// TestForeignUser connects as somebody else, for whom every door was opened.
func TestForeignUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	b := newBench(t)
	runtime := filepath.Join(b.user, "run")
	must(t, os.Mkdir(runtime, 0o755))
	s := b.start(func(o *Options) {
		o.Getenv = func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": runtime}[name] }
	})
	for dir := filepath.Dir(s.socket.path); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	must(t, os.Chmod(s.socket.path, 0o666))
	binary := filepath.Join(b.user, "other")
	content, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(binary, content, 0o755))
	cmd := exec.Command(binary, playing+"dial", s.socket.path)
	cmd.Env = []string{"PATH=/bin:/usr/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if got := output(t, cmd); !strings.Contains(got, " 403 ") || !strings.Contains(got, "not user 65534") {
		t.Errorf("answered %s", got)
	}
	own := exec.Command(binary, playing+"dial", s.socket.path)
	if got := output(t, own); !strings.Contains(got, " 200 ") {
		t.Errorf("its own user is answered %s", got)
	}
}

// TestRefusedPeer explains itself at the client.
func TestRefusedPeer(t *testing.T) {
	b := newBench(t)
	b.impostor(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this daemon serves user 1", http.StatusForbidden)
	})
	_, err := b.tryConnect()
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || !strings.Contains(e.Message, "serves user 1") {
		t.Errorf("error %v", err)
	}
}

// TestDaemonThatCannotStart says why it could not.
func TestDaemonThatCannotStart(t *testing.T) {
	b := newBench(t)
	_, err := b.tryConnect(func(o *client.Options) { o.Start = []string{"/bin/false"} })
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || !strings.Contains(e.Message, "ended: exit status 1") {
		t.Errorf("error %v", err)
	}
	_, err = b.tryConnect(func(o *client.Options) { o.Start = []string{"/nowhere/umbra"} })
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestStartsAgain: a daemon that was started while a killed one still had the home leaves
// it to that one. When both are gone, the client that waits starts another.
func TestStartsAgain(t *testing.T) {
	b := newBench(t)
	note := filepath.Join(b.user, "note")
	c := b.connect(b.starting, func(o *client.Options) {
		o.Start = append([]string{"sh", "-c", `[ -e "$0" ] || { : >"$0"; exit; }; exec "$@"`, note}, o.Start...)
	})
	b.mission(c, "work")
}

// TestBeginsSlowly: who has all the time waits longer for a daemon that begins than for one
// that says nothing.
func TestBeginsSlowly(t *testing.T) {
	b := newBench(t)
	o := client.Options{Home: b.home, Version: "test", Environ: os.Environ(), Timeout: time.Millisecond, Patience: patience.Of(time.Minute)}
	b.starting(&o)
	c, err := client.Connect(context.Background(), o)
	must(t, err)
	b.mission(c, "work")
	must(t, c.Close())
}

// at is the bench with another home.
func (b *bench) at(dir string) *bench {
	twin := &bench{TB: b.TB, user: b.user, work: b.work, home: b.home}
	twin.home.Dir = dir
	return twin
}

// serving is what whoever serves the home says of itself.
func (b *bench) serving() api.About {
	b.Helper()
	about, err := client.About(b.ctx(), client.Options{Home: b.home, Patience: time.Minute})
	must(b, err)
	return about
}

// hooked asks in the way of a hook.
func (b *bench) hooked() error {
	_, err := client.Status(b.ctx(), client.Options{Home: b.home, Version: "test", Patience: time.Minute}, missions.StatusRequest{Caller: b.caller()})
	return err
}

// TestCopiedHome: a home that was copied while its daemon ran leads to that daemon,
// which does nothing for it, and goes on; the copy gets one of its own.
func TestCopiedHome(t *testing.T) {
	b := newBench(t)
	b.start()
	twin := b.at(filepath.Join(b.user, "copy"))
	must(t, os.Mkdir(twin.home.Dir, 0o700))
	must(t, twin.home.PublishSocket(b.home.Socket()))
	if err := twin.hooked(); !errors.Is(err, client.ErrUndone) {
		t.Errorf("a hook of the copy: %v", err)
	}
	twin.connect(twin.starting)
	if about := twin.serving(); about.Home != twin.home.Dir || about.PID == os.Getpid() {
		t.Errorf("the copy is served by process %d of %s", about.PID, about.Home)
	}
	if about := b.serving(); about.Home != b.home.Dir || about.PID != os.Getpid() || about.Leaving {
		t.Errorf("the original is served by %+v", about)
	}
}

// TestMovedHome: a daemon whose home was moved away serves nobody any more, whether
// asked or not, makes nothing anew at the old path, and lets another one have the
// home where it is.
func TestMovedHome(t *testing.T) {
	for _, asked := range []bool{false, true} {
		b := newBench(t)
		s := b.start(func(o *Options) {
			if asked {
				o.Tick = time.Hour
			}
		})
		socket := filepath.Join(b.user, "s")
		must(t, os.Link(s.socket.path, socket)) // as in a runtime directory, which stays where it is
		moved := b.at(b.home.Dir + ".moved")
		must(t, os.Rename(b.home.Dir, moved.home.Dir))
		must(t, moved.home.PublishSocket(socket))
		if asked {
			if err := moved.hooked(); !errors.Is(err, client.ErrUndone) {
				t.Errorf("it answers: %v", err)
			}
		}
		<-s.Leaving()
		must(t, s.Close())
		if _, err := os.Lstat(b.home.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there is a home at the old path again: %v", err)
		}
		moved.connect(moved.starting)
		if about := moved.serving(); about.Home != moved.home.Dir || about.PID == os.Getpid() {
			t.Errorf("it is served by %+v", about)
		}
	}
}
