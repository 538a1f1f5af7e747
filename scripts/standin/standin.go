// Package standin is a stand-in for the model services that coding agents talk
// to: a server on loopback that lets the prompt script its own answer (see
// Script) and keeps every request, so that a test can assert which history the
// model was sent. It owns the wire formats of those services; it knows nothing
// of Umbra, reaches nothing beyond loopback, and judges nothing: whatever it
// did not expect it answers harmlessly and logs.
//
// A service is one file that maps its requests to a conversation and a step of
// the script to its wire format, and a line in read: anthropic.go is the
// Messages API, chat.go Chat Completions, responses.go Responses, generate.go the
// Gemini API.
package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options of a server; the zero value listens on a free port of loopback and
// logs to memory alone.
type Options struct {
	Addr string // host:port; empty: 127.0.0.1:0
	Log  string // a file that each request is appended to as a line of JSON
}

// A Server answers until it is closed. All methods may be called by any
// goroutine.
type Server struct {
	URL string // http://127.0.0.1:port, without a slash at the end

	http     *http.Server
	served   chan error
	log      *os.File
	mu       sync.Mutex
	requests []Request
	arrived  chan struct{} // closed and replaced when a request arrives
	gates    map[string]chan struct{}
}

// A Request is one request as it arrived.
type Request struct {
	At      time.Time       `json:"at"`
	Method  string          `json:"method"`
	Path    string          `json:"path"`              // without the query
	Session string          `json:"session,omitempty"` // the client's session id, if it says one
	Prompt  string          `json:"prompt,omitempty"`  // the newest prompt of the conversation
	Tools   []string        `json:"tools,omitempty"`   // the names it offers, in order
	Body    json.RawMessage `json:"body,omitempty"`    // a JSON string if it was not JSON
}

// Start serves; the caller closes.
func Start(opts Options) (*Server, error) {
	addr := opts.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL:     "http://" + listener.Addr().String(),
		served:  make(chan error, 1),
		arrived: make(chan struct{}),
		gates:   map[string]chan struct{}{},
	}
	if opts.Log != "" {
		s.log, err = os.OpenFile(opts.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start(Options{})
	if err != nil {
		t.Fatalf("start the stand-in server: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the stand-in server: %v", err)
		}
	})
	return s
}

// Close cuts off what is still being answered and releases the port.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return err
}

// ServeHTTP logs the request, then lets the service it belongs to answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req := Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Body: body}
	if len(body) == 0 {
		req.Body = nil
	} else if !json.Valid(body) {
		req.Body, _ = json.Marshal(string(body))
	}
	asked, isAsked := read(req)
	if isAsked {
		asked.describe(&req)
	}
	if err := s.record(req); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	switch {
	case isAsked && r.URL.Path == countTokensPath:
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": len(body)/4 + 1})
	case isAsked:
		s.answer(r.Context(), w, asked)
	default:
		writeJSON(w, http.StatusOK, map[string]any{})
	}
}

// A conversation is a request that a service answers with a step of a script.
type conversation interface {
	describe(*Request) // fills in what the request is about
	history() []Message
	step() Step
	write(w http.ResponseWriter, step Step)
	refuse(w http.ResponseWriter, step Step) // the API error of a step that fails
}

// read finds the service that a request is for, if there is one.
func read(req Request) (conversation, bool) {
	if m, ok := readMessages(req); ok {
		return m, true
	}
	if c, ok := readChat(req); ok {
		return c, true
	}
	if r, ok := readResponses(req); ok {
		return r, true
	}
	if g, ok := readGenerate(req); ok {
		return g, true
	}
	return nil, false
}

// answer answers with the step that the newest prompt has come to.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, c conversation) {
	step := c.step()
	switch {
	case s.hold(ctx, step) != nil: // the client is gone
	case step.Fail != 0:
		c.refuse(w, step)
	default:
		c.write(w, step)
	}
}

func (s *Server) record(req Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	close(s.arrived)
	s.arrived = make(chan struct{})
	if s.log == nil {
		return nil
	}
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	_, err = s.log.Write(append(line, '\n'))
	return err
}

// Requests returns all requests so far, in the order they arrived.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Last returns the newest request that matches, and whether there is one.
func (s *Server) Last(match func(Request) bool) (Request, bool) {
	requests := s.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if match(requests[i]) {
			return requests[i], true
		}
	}
	return Request{}, false
}

// Wait returns the first request that matches, whether it has arrived or is
// still to come; the error is ctx's.
func (s *Server) Wait(ctx context.Context, match func(Request) bool) (Request, error) {
	for next := 0; ; {
		s.mu.Lock()
		requests, arrived := s.requests, s.arrived
		s.mu.Unlock()
		for ; next < len(requests); next++ {
			if match(requests[next]) {
				return requests[next], nil
			}
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for a request: %w", ctx.Err())
		}
	}
}

// Release lets every [[wait name]] of that name go on, now and later.
func (s *Server) Release(name string) {
	gate := s.gate(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

func (s *Server) gate(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate, ok := s.gates[name]
	if !ok {
		gate = make(chan struct{})
		s.gates[name] = gate
	}
	return gate
}

// hold waits as the step says; the error is that the client has gone.
func (s *Server) hold(ctx context.Context, st Step) error {
	if st.Sleep > 0 {
		timer := time.NewTimer(st.Sleep)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if st.Wait == "" {
		return nil
	}
	select {
	case <-s.gate(st.Wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Prompted matches the requests of a conversation whose newest prompt contains
// text: not those for a title, which offer no tools.
func Prompted(text string) func(Request) bool {
	return func(r Request) bool {
		return len(r.Tools) > 0 && r.Path != countTokensPath && strings.Contains(r.Prompt, text) && !strings.HasPrefix(r.Prompt, titlePrompt)
	}
}

// titlePrompt is what Codex asks for with the first prompt of each start, in a request that
// quotes it, offers tools and may come after the turn's own.
const titlePrompt = "Generate a concise, single-line task title"

func writeJSON(w http.ResponseWriter, code int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(data) // a client that has gone is its own affair
}
