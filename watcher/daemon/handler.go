package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// errNewer is a request that asks for what this binary has never heard of.
var errNewer = errors.New("a newer umbra asks")

// decode reads a request. What it does not know it does not leave out: a
// restriction that is dropped in silence makes another request of it.
func decode(body []byte, r any) error {
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	err := strict.Decode(r)
	if err == nil {
		if _, rest := strict.Token(); rest == io.EOF {
			api.RestoreBytes(body, r)
			return nil
		}
		return missions.Errorf(missions.KindUsage, "", "the request makes no sense: something follows it")
	}
	if json.Unmarshal(body, r) == nil {
		return fmt.Errorf("%w: %w", errNewer, err)
	}
	return missions.Errorf(missions.KindUsage, "", "the request makes no sense: %w", err)
}

func aboutSelf(o Options) api.About {
	return api.About{Protocol: api.Protocol, Version: o.Version, PID: os.Getpid(), Home: o.Home.Dir, Namespace: api.Namespace()}
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	defer s.calls.enter()()
	// The deadline of the answer before, on the same connection.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	w.Header().Set(api.HeaderProtocol, strconv.Itoa(api.Protocol))
	w.Header().Set(api.HeaderVersion, s.options.Version)
	if why := refused(r.Context()); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	// A browser sends one; no client of Umbra's does.
	if r.Header.Get("Origin") != "" {
		http.Error(w, "requests of web pages are not answered", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "a call is a POST", http.StatusMethodNotAllowed)
		return
	}
	if !s.tenure.athome() {
		s.tenure.leave(homeGone)
		http.Error(w, "this daemon is stopping: "+homeGone, http.StatusServiceUnavailable)
		return
	}
	if elsewhere(r.Header.Get(api.HeaderHome), s.tenure.place.String()) {
		http.Error(w, "this daemon serves another home", http.StatusGone)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, api.Prefix)
	m, known := s.table[name]
	switch {
	case ok && (name == api.MethodAbout || name == api.MethodLeave):
		s.serveAbout(w, name)
		return
	case !ok || !known:
		http.Error(w, "no such method", http.StatusNotImplemented)
		return
	case s.tenure.isLeaving():
		http.Error(w, "this daemon is stopping", http.StatusServiceUnavailable)
		return
	case elsewhere(r.Header.Get(api.HeaderNamespace), s.about.Namespace):
		http.Error(w, "this daemon sees other files than who asks", http.StatusMisdirectedRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxRequest))
	if err != nil {
		http.Error(w, "the request can't be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	if hasLeft(r.Context()) {
		s.log.Info("a call was not begun: who made it has left", "call", name)
		return
	}
	s.answer(w, r, m, body)
}

// elsewhere reports whether a caller is known to see another part of the
// machine, or to mean another home.
func elsewhere(caller, own string) bool { return caller != "" && own != "" && caller != own }

// serveAbout says what this process is, and lets it stop if that was asked.
func (s *Server) serveAbout(w http.ResponseWriter, name string) {
	if name == api.MethodLeave {
		s.tenure.leave("a client asked")
	}
	about := s.about
	about.Leaving = s.tenure.isLeaving()
	out := &answer{w: w, control: http.NewResponseController(w)}
	out.end(about, nil)
}

// answer makes the call and writes what comes of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, m missions.Method, body []byte) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if m.Is(missions.Reads) {
		defer context.AfterFunc(s.calls.reading, cancel)()
	}
	if ms, err := strconv.ParseInt(r.Header.Get(api.HeaderTimeout), 10, 64); err == nil && ms > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond+courtesy)
		defer done()
	}
	out := &answer{w: w, control: http.NewResponseController(w)}
	ctx = missions.WithNotify(ctx, out.notice)
	result, err := s.guarded(ctx, m, body)
	if err != nil && m.Is(missions.Reads) && s.calls.reading.Err() != nil && errors.Is(err, context.Canceled) {
		out.cutOff() // the client asks whoever serves next
		return
	}
	if errors.Is(err, errNewer) {
		http.Error(w, err.Error(), http.StatusNotImplemented)
		return
	}
	out.end(result, err)
}

// courtesy is what a call is given beyond the caller's deadline: the caller hangs
// up by its own clock, and knows best why.
const courtesy = time.Second

// guarded makes the call. A panic ends the call only.
func (s *Server) guarded(ctx context.Context, m missions.Method, body []byte) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "method", m.Name, "panic", p, "stack", string(debug.Stack()))
			result, err = nil, missions.Errorf(missions.KindFailed, "umbra daemon logs", "%s went wrong inside Umbra: %v", m.Name, p)
		}
	}()
	if m.Is(missions.Stores) {
		defer s.house.enter()()
	}
	request, result := m.New()
	if err := decode(body, request); err != nil {
		return nil, err
	}
	return result, m.Call(ctx, s.Service(), request, result)
}

// answer writes the lines of one answer. Notices may come from any goroutine,
// also when the answer is over: those of work that goes on are dropped.
type answer struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	over    bool
}

// unreadPatience is how long a client may leave its answer unread: whoever reports
// progress may hold a workspace meanwhile.
const unreadPatience = 2 * time.Second

func (a *answer) notice(n missions.Notice) {
	p, err := api.Encode(n)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if err := errors.Join(a.line(api.Line{Notice: p}), a.control.Flush()); err != nil {
		a.over = true
	}
}

// line writes one line. The caller holds the lock.
func (a *answer) line(l api.Line) error {
	p, err := api.Encode(l)
	if err != nil {
		return err
	}
	return a.write(append(p, '\n'))
}

// write writes one line as it is. The caller holds the lock.
func (a *answer) write(line []byte) error {
	if !a.begun {
		a.begun = true
		a.w.Header().Set("Content-Type", api.ContentType)
	}
	if err := a.control.SetWriteDeadline(time.Now().Add(unreadPatience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := a.w.Write(line)
	return err
}

// end writes the last line. Nobody is left to tell if that fails.
func (a *answer) end(result any, err error) {
	last := api.Line{}
	if err != nil {
		e := missions.AsError(err)
		last.Error = &api.Error{Kind: string(e.Kind), Message: e.Message, Hint: e.Hint, Details: e.Details}
	}
	if result != nil {
		p, failed := api.Encode(result)
		if failed != nil && last.Error == nil {
			last.Error = &api.Error{Kind: string(missions.KindFailed), Message: fmt.Sprintf("write the answer: %v", failed)}
		}
		last.Result = p
	}
	if !last.Last() {
		last.Result = json.RawMessage("null")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
	case last.Error == nil:
		_ = a.write(api.ResultLine(last.Result))
	default:
		_ = a.line(last)
	}
	a.over = true
}

// cutOff ends the connection without a last line.
func (a *answer) cutOff() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if conn, _, err := a.control.Hijack(); err == nil {
		_ = conn.Close() // what it says is of no use to anybody
	}
}
