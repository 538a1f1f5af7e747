package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/api"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// ask makes a plain HTTP request over the socket.
func (b *bench) ask(s *Server, method, path string, header http.Header, body string) (int, string) {
	b.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", s.socket.path)
	}}
	r, err := http.NewRequestWithContext(b.ctx(), method, "http://umbra"+path, strings.NewReader(body))
	must(b, err)
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := transport.RoundTrip(r)
	must(b, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(b, err)
	if answer.Header.Get(api.HeaderProtocol) != "1" || answer.Header.Get(api.HeaderVersion) != "test" {
		b.Errorf("%s %s: headers %v", method, path, answer.Header)
	}
	return answer.StatusCode, string(text)
}

func TestStrangeRequests(t *testing.T) {
	b := newBench(t)
	s := b.start()
	for name, c := range map[string]struct {
		method, path string
		header       http.Header
		body         string
		status       int
		answer       string
	}{
		"of a web page":   {"POST", "/v1/missions", http.Header{"Origin": {"https://example.com"}}, "{}", 403, "web pages"},
		"null origin":     {"POST", "/v1/about", http.Header{"Origin": {"null"}}, "{}", 403, "web pages"},
		"GET":             {"GET", "/v1/missions", nil, "", 405, "POST"},
		"unknown method":  {"POST", "/v1/format_disk", nil, "{}", 501, "no such method"},
		"unknown version": {"POST", "/v2/missions", nil, "{}", 501, "no such method"},
		"no JSON":         {"POST", "/v1/missions", nil, "{", 200, `"kind":"usage"`},
		"empty":           {"POST", "/v1/missions", nil, "", 200, `"kind":"usage"`},
		"other files":     {"POST", "/v1/missions", http.Header{"Umbra-Namespace": {"mnt:[1]"}}, "{}", 421, "other files"},
		"same files":      {"POST", "/v1/missions", http.Header{"Umbra-Namespace": {api.Namespace()}}, "{}", 200, `"result":[]`},
		"of the future":   {"POST", "/v1/missions", nil, `{"news":1}`, 501, "newer"},
		"future inside":   {"POST", "/v1/status", nil, `{"caller":{"cwd":"/","news":1}}`, 501, "newer"},
		"nonsense inside": {"POST", "/v1/status", nil, `{"caller":7}`, 200, `"kind":"usage"`},
	} {
		if status, answer := b.ask(s, c.method, c.path, c.header, c.body); status != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

func TestPanicEndsTheCallOnly(t *testing.T) {
	b := newBench(t)
	s := b.start()
	s.instead("log", func(context.Context, any) error {
		var none map[string]int
		//lint:ignore SA5000 the panic is what is tested
		none["x"] = 1
		return nil
	})
	c := b.connect()
	_, err := c.Log(b.ctx(), missions.LogRequest{})
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindFailed || !strings.Contains(e.Message, "nil map") {
		t.Errorf("error %v", err)
	}
	log, err := os.ReadFile(b.home.LogFile())
	if err != nil || !strings.Contains(string(log), "stack=") {
		t.Errorf("log %v: %s", err, log)
	}
	_, err = c.Missions(b.ctx(), missions.MissionsRequest{Caller: b.caller()})
	must(t, err)
}

// TestClientGoesAway ends the context of a call whose client hangs up.
func TestClientGoesAway(t *testing.T) {
	b := newBench(t)
	s := b.start()
	began, ended := make(chan struct{}), make(chan struct{})
	s.instead("snapshot", func(ctx context.Context, _ any) error {
		close(began)
		<-ctx.Done()
		missions.Notify(ctx, missions.Notice{Text: "to nobody"})
		close(ended)
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(b.ctx())
	failed := make(chan error, 1)
	c := b.connect()
	go func() {
		_, err := c.Snapshot(ctx, missions.SnapshotRequest{})
		failed <- err
	}()
	<-began
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the client says %v", err)
	}
	select {
	case <-ended:
	case <-b.ctx().Done():
		t.Error("the call goes on")
	}
}

// TestUnreadAnswer lets a client leave its answer unread: whoever tells progress
// is not held up for ever.
func TestUnreadAnswer(t *testing.T) {
	b := newBench(t)
	s := b.start()
	done := make(chan struct{})
	s.instead("snapshot", func(ctx context.Context, _ any) error {
		defer close(done)
		for range 20_000 {
			missions.Notify(ctx, missions.Notice{Text: strings.Repeat("x", 1000)})
		}
		return nil
	})
	conn, err := net.Dial("unix", s.socket.path)
	must(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "POST /v1/snapshot HTTP/1.1\r\nHost: umbra\r\nContent-Length: 2\r\n\r\n{}")
	select {
	case <-done:
	case <-time.After(patience.Of(time.Minute)):
		t.Error("held up by a client that does not read")
	}
}

// TestWritingCallIsNotRepeated breaks a call that writes in the middle.
func TestWritingCallIsNotRepeated(t *testing.T) {
	b := newBench(t)
	s := b.start()
	var calls atomic.Int32
	s.instead("undo", func(ctx context.Context, _ any) error {
		calls.Add(1)
		<-ctx.Done()
		return ctx.Err()
	})
	c := b.connect()
	failed := make(chan error, 1)
	go func() {
		_, err := c.Undo(b.ctx(), missions.UndoRequest{})
		failed <- err
	}()
	b.until("the call is made", func() bool { return calls.Load() > 0 })
	must(t, s.http.Close())
	b.impostor(func(w http.ResponseWriter, r *http.Request) { // serves next
		if r.URL.Path == api.Prefix+"undo" {
			calls.Add(1)
		}
		fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
	})
	err := <-failed
	if e := missions.AsError(err); !errors.Is(err, client.ErrBroken) || e.Kind != missions.KindFailed || e.Hint == "" {
		t.Errorf("error %v", err)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("called %d times", n)
	}
}

func TestLeavesWhenIdle(t *testing.T) {
	b := newBench(t)
	o := b.options()
	o.IdleExit, o.Tick = 300*time.Millisecond, 10*time.Millisecond
	began := time.Now()
	must(t, Run(b.ctx(), o))
	if took := time.Since(began); took < o.IdleExit {
		t.Errorf("left after %s", took)
	}
	if b.home.Socket() != "" {
		t.Error("the socket is still published")
	}
	held, err := b.home.Hold("test")
	must(t, err)
	must(t, held.Release())
}

// TestLeaveLetsWritesEnd asks a daemon to leave while one call writes and one
// waits: the first ends well, the second goes on at the next daemon.
func TestLeaveLetsWritesEnd(t *testing.T) {
	b := newBench(t)
	s := b.start()
	writing, waiting := b.connect(), b.connect(b.starting)
	id := b.mission(writing, "work").ID
	began, waits := make(chan struct{}), s.called("wait")
	s.instead("snapshot", func(_ context.Context, result any) error {
		close(began)
		<-s.Leaving()
		result.(*missions.Entry).ID = "written"
		return nil
	})
	wrote, waited := make(chan error, 1), make(chan error, 1)
	go func() {
		e, err := writing.Snapshot(b.ctx(), missions.SnapshotRequest{})
		if err == nil && e.ID != "written" {
			err = fmt.Errorf("entry %+v", e)
		}
		wrote <- err
	}()
	go func() {
		_, err := waiting.Wait(b.ctx(), missions.WaitRequest{Caller: b.caller(), States: []missions.StateName{missions.StateClosed}})
		waited <- err
	}()
	<-began
	<-waits
	go func() { <-s.Leaving(); _ = s.Close() }()
	there, err := client.Leave(b.ctx(), client.Options{Home: b.home, Patience: patience.Of(time.Minute)})
	if err != nil || !there {
		t.Errorf("leave: %v %v", there, err)
	}
	must(t, <-wrote)
	b.endAgent(b.connect(b.starting), id)
	must(t, <-waited)
}

// TestConfigurationChanges works by the user's configuration as it is now.
func TestConfigurationChanges(t *testing.T) {
	b := newBench(t)
	ctx, stop := context.WithCancel(b.ctx())
	ran := make(chan error, 1)
	go func() { ran <- Run(ctx, b.options()) }()
	c := b.connect()
	b.mission(c, "work")
	b.write("big", strings.Repeat("x", 1000))
	skipped := func() int {
		t.Helper()
		e, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
		return e.Skipped
	}
	if n := skipped(); n != 0 {
		t.Fatalf("%d skipped", n)
	}
	must(t, os.WriteFile(b.home.ConfigFile(), []byte("capture: {no such key: 1}\n"), 0o600))
	b.until("a bad one is told", func() bool {
		log, _ := os.ReadFile(b.home.LogFile())
		return strings.Contains(string(log), "the configuration stays as it was")
	})
	if n := skipped(); n != 0 {
		t.Errorf("%d skipped by a bad configuration", n)
	}
	must(t, os.WriteFile(b.home.ConfigFile(), []byte("capture: {max_file_size: 100}\n"), 0o600))
	b.until("a good one is in force", func() bool {
		e, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		return err == nil && e.Skipped == 1
	})
	stop()
	must(t, <-ran)
}

func TestSecondServerIsTold(t *testing.T) {
	b := newBench(t)
	b.start()
	_, err := Start(b.ctx(), b.options())
	if !errors.Is(err, home.ErrHeld) {
		t.Errorf("error %v", err)
	}
	must(t, Run(b.ctx(), b.options()))
}

func TestSocketPlaces(t *testing.T) {
	b := newBench(t)
	long := filepath.Join(b.user, strings.Repeat("long-", 30))
	h, err := home.Open(long)
	must(t, err)
	runtime := filepath.Join(b.user, "r")
	must(t, os.Mkdir(runtime, 0o700))
	temp := filepath.Join(b.user, "t")
	must(t, os.Mkdir(temp, 0o700))
	for name, c := range map[string]struct {
		home    home.Home
		runtime string
		temp    string
		under   string
	}{
		"runtime":         {b.home, runtime, temp, runtime},
		"home":            {b.home, "", temp, b.home.Dir},
		"no such runtime": {b.home, filepath.Join(b.user, "none"), temp, b.home.Dir},
		"relative":        {b.home, "relative", temp, b.home.Dir},
		"long home":       {h, "", temp, temp},
		"both long":       {h, "", long, "/tmp"},
	} {
		o := b.options()
		o.Home = c.home
		o.Getenv = func(name string) string {
			return map[string]string{"XDG_RUNTIME_DIR": c.runtime, "TMPDIR": c.temp}[name]
		}
		s, err := Start(b.ctx(), o)
		must(t, err)
		dir := filepath.Dir(s.socket.path)
		info, err := os.Stat(dir)
		must(t, err)
		socket, err := os.Stat(s.socket.path)
		must(t, err)
		if filepath.Dir(dir) != c.under || info.Mode().Perm() != 0o700 || socket.Mode().Perm() != 0o600 {
			t.Errorf("%s: %s, modes %v and %v", name, s.socket.path, info.Mode(), socket.Mode())
		}
		must(t, s.Close())
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left in the temporary directory: %v", left)
	}
}

// TestKeepsOthersSocket does not take away what has replaced its own.
func TestKeepsOthersSocket(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.Tick = time.Hour })
	must(t, b.home.PublishSocket("/somebody/else"))
	must(t, os.Remove(s.socket.path))
	must(t, os.WriteFile(s.socket.path, []byte("precious"), 0o600))
	must(t, s.Close())
	if b.home.Socket() != "/somebody/else" {
		t.Errorf("published: %q", b.home.Socket())
	}
	if p, err := os.ReadFile(s.socket.path); string(p) != "precious" {
		t.Errorf("%q %v", p, err)
	}
}

func TestIndexDeletedMeanwhile(t *testing.T) {
	b := newBench(t)
	s := b.start()
	c := b.connect()
	b.write("a.txt", "one\n")
	b.mission(c, "work")
	log := func() []missions.Entry {
		t.Helper()
		entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller(), Lines: true})
		must(t, err)
		return entries
	}
	want := log()
	entries := func() int {
		n := 0
		must(t, s.index.Each(func(string, json.RawMessage) bool { n++; return true }))
		return n
	}
	if entries() == 0 {
		t.Error("nothing is cached")
	}
	for _, remove := range []func() error{
		func() error { return os.RemoveAll(b.home.IndexDir()) },
		func() error { return os.Remove(filepath.Join(b.home.IndexDir(), "MANIFEST")) },
	} {
		was := s.index.now()
		must(t, remove())
		b.until("the index is made anew", func() bool { now := s.index.now(); return now != nil && now != was })
		if got := log(); len(got) != len(want) || got[0].ID != want[0].ID {
			t.Errorf("log is %+v", got)
		}
		if entries() == 0 {
			t.Error("nothing is cached again")
		}
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	b := newBench(t)
	cycle := func() {
		s, err := Start(b.ctx(), b.options())
		must(t, err)
		c, err := b.tryConnect()
		must(t, err)
		_, err = c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
		must(t, err)
		must(t, c.Close())
		must(t, s.Close())
	}
	cycle() // what the runtime and libraries start once
	before := runtime.NumGoroutine()
	for range 3 {
		cycle()
	}
	b.until("goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestLogIsRotated(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	f := &rotatingFile{name: name, limit: 100}
	for i := range 30 {
		_, err := fmt.Fprintf(f, "line %02d\n", i)
		must(t, err)
	}
	must(t, f.Close())
	now, err := os.ReadFile(name)
	must(t, err)
	old, err := os.ReadFile(name + ".1")
	must(t, err)
	if len(now) > 100 || len(old) > 100 || !strings.HasSuffix(string(now), "line 29\n") || !strings.HasSuffix(string(old)+string(now), string(now)) {
		t.Errorf("old %q, now %q", old, now)
	}
}

// TestClientHasLeft begins no call of a client that has closed its connection,
// which is told from one that waits, or has more to say.
func TestClientHasLeft(t *testing.T) {
	s := newBench(t).start()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	must(t, err)
	defer listener.Close()
	client, err := net.Dial("unix", path)
	must(t, err)
	server, err := listener.Accept()
	must(t, err)
	defer server.Close()
	ctx := withPeer(context.Background(), server)
	call := func() string {
		answer := httptest.NewRecorder()
		s.serve(answer, httptest.NewRequest(http.MethodPost, "/v1/missions", strings.NewReader("{}")).WithContext(ctx))
		return answer.Body.String()
	}
	if hasLeft(ctx) || hasLeft(context.Background()) || !strings.Contains(call(), `"result"`) {
		t.Error("one that waits has left")
	}
	_, err = client.Write([]byte("x"))
	must(t, err)
	must(t, client.Close())
	if hasLeft(ctx) {
		t.Error("what was said is passed over")
	}
	_, err = server.Read(make([]byte, 2))
	must(t, err)
	if done := call(); !hasLeft(ctx) || done != "" {
		t.Errorf("for one that has left this was done: %s", done)
	}
	must(t, server.Close())
	if !hasLeft(ctx) {
		t.Error("our end is closed")
	}
}
