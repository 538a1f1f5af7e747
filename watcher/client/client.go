package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// ErrBroken is found in the error of a call whose answer was cut off, so that
// nobody knows whether it was done.
var ErrBroken = errors.New("the daemon went away")

var (
	errNoSocket = errors.New("no socket is known")
	errRefused  = errors.New("refused")
)

// Client is a missions.Service over the socket. It is safe for concurrent use.
type Client struct {
	missions.Relay
	options Options

	mu        sync.Mutex
	path      string // of the socket that transport dials
	transport *http.Transport
}

var _ missions.Service = (*Client)(nil)

func newClient(o Options) *Client {
	c := &Client{options: o}
	c.Relay = missions.NewRelay(c.call)
	return c
}

// Snapshot implements missions.Service. The request is told by an id when it is made again.
func (c *Client) Snapshot(ctx context.Context, r missions.SnapshotRequest) (missions.Entry, error) {
	if r.ID == "" {
		r.ID = missions.NewRequestID()
	}
	return c.Relay.Snapshot(ctx, r)
}

// Close lets go of the connections. Calls that run end in an error.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport != nil {
		c.transport.CloseIdleConnections()
		c.transport = nil
	}
	return nil
}

// over gives the transport to the socket that is served now.
func (c *Client) over() (*http.Transport, error) {
	path := c.options.Home.Socket()
	if path == "" {
		return nil, errNoSocket
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport == nil || c.path != path {
		if c.transport != nil {
			c.transport.CloseIdleConnections()
		}
		c.path, c.transport = path, &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "unix", path)
			},
			DisableCompression:    true,
			MaxIdleConns:          4,
			ExpectContinueTimeout: math.MaxInt64, // see heldBody
		}
	}
	return c.transport, nil
}

// send begins a call. Until an answer has begun nothing is known of it.
func (c *Client) send(ctx context.Context, m missions.Method, body []byte) (*http.Response, error) {
	transport, err := c.over()
	if err != nil {
		return nil, err
	}
	r, err := newCall(ctx, m, body, c.options)
	if err != nil {
		return nil, err
	}
	if m.Is(missions.Repeats) {
		return transport.RoundTrip(r)
	}
	held := &heldBody{ReadCloser: r.Body}
	r.Body, r.GetBody = held, nil
	r.Header.Set("Expect", "100-continue")
	response, err := transport.RoundTrip(r)
	if err != nil && !held.taken.Load() {
		err = fmt.Errorf("%w: %w", errNotBegun, err)
	}
	return response, err
}

// heldBody is the body of a call that is not made twice. It goes out only when
// whoever serves asks for it (RFC 9110, 10.1.1, "100-continue"), who then begins the
// call: one that was cut off before was not begun, as where a daemon stops in the
// instant in which it is asked.
type heldBody struct {
	io.ReadCloser
	taken atomic.Bool
}

func (b *heldBody) Read(p []byte) (int, error) {
	b.taken.Store(true)
	return b.ReadCloser.Read(p)
}

// errNotBegun is found in the error of a call that was cut off before its request
// was read.
var errNotBegun = errors.New("it was not begun")

// newCall is a call as it goes over the wire.
func newCall(ctx context.Context, m missions.Method, body []byte, o Options) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://umbra"+api.Prefix+m.Name, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(api.HeaderProtocol, strconv.Itoa(api.Protocol))
	r.Header.Set(api.HeaderVersion, o.Version)
	if place, err := o.Home.Identity(); err == nil {
		r.Header.Set(api.HeaderHome, place.String())
	}
	if deadline, ok := ctx.Deadline(); ok {
		r.Header.Set(api.HeaderTimeout, strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()), 10))
	}
	return r, nil
}

// The calls that are not of the Service.
var (
	about = missions.Method{Name: api.MethodAbout, Traits: missions.Reads}
	leave = missions.Method{Name: api.MethodLeave}
)

// ask makes a call that is not of the Service, in bounded time.
func (c *Client) ask(ctx context.Context, m missions.Method) (api.About, error) {
	ctx, cancel := patient(ctx, cmp.Or(c.options.Patience, aboutPatience))
	defer cancel()
	var answer api.About
	err := c.once(ctx, m, []byte("{}"), &answer)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return answer, err
}

// call makes one call of the Service, and makes it again, of whoever serves then, where
// that does no harm.
func (c *Client) call(ctx context.Context, m missions.Method, request, result any) error {
	body, err := api.Encode(request)
	if err != nil {
		return missions.Errorf(missions.KindUsage, "", "send %s: %w", m.Name, err)
	}
	once := func(ctx context.Context) error { return c.once(ctx, m, body, result) }
	err = c.watched(ctx, once)
	if errors.Is(err, errOlder) {
		_, _ = c.ask(ctx, leave)
	}
	if err == nil || ctx.Err() != nil || !unsent(err) && !errors.Is(err, ErrBroken) {
		return told(ctx, m, err)
	}
	if !unsent(err) && !m.Is(missions.Repeats) {
		// Whoever serves next finishes what was begun, or takes it back.
		_ = c.connect(ctx)
		return told(ctx, m, err)
	}
	begun := !unsent(err)
	if begun {
		if body, err = again(request); err != nil {
			return missions.Errorf(missions.KindUsage, "", "send %s again: %w", m.Name, err)
		}
	}
	for range mostHandovers {
		if err = c.connect(ctx); err != nil {
			break
		}
		reflect.ValueOf(result).Elem().SetZero()
		if err = c.watched(ctx, once); !unsent(err) {
			return told(ctx, m, err)
		}
	}
	if begun {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return told(ctx, m, err)
}

// mostHandovers is how often a call that nobody has heard yet is made to whoever serves next:
// commands that serve while they run may end one right after the other.
const mostHandovers = 5

// errLeaving is the answer of a process that has stopped taking calls.
var errLeaving = errors.New("the daemon is stopping")

// errOlder is the answer of a process that does not know what it is asked for.
// It has done nothing.
var errOlder = errors.New("the daemon is older than this umbra")

// errMisdirected is the answer of a process that sees other files than the one
// that asks.
var errMisdirected = errors.New("the daemon sees other files than this process")

// errOtherHome is the answer of a process that serves another home, to which a
// copied or moved file has led.
var errOtherHome = errors.New("the daemon serves another home")

// once makes a call over one connection, and tells the notices on the way on
// this goroutine.
func (c *Client) once(ctx context.Context, m missions.Method, body []byte, result any) error {
	response, err := c.send(ctx, m, body)
	if err != nil {
		if unsent(err) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return answerTo(ctx, response, result)
}

// answerTo reads the answer to a call.
func answerTo(ctx context.Context, response *http.Response, result any) error {
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return readAnswer(ctx, response.Body, result)
	case http.StatusServiceUnavailable:
		return errLeaving
	case http.StatusMisdirectedRequest:
		return errMisdirected
	case http.StatusGone:
		return errOtherHome
	case http.StatusNotImplemented, http.StatusNotFound:
		return fmt.Errorf("%w: version %s", errOlder, response.Header.Get(api.HeaderVersion))
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	text = bytes.TrimSpace(text)
	if response.StatusCode == http.StatusForbidden {
		return fmt.Errorf("%w: %s", errRefused, text)
	}
	return missions.Errorf(missions.KindFailed, "", "the daemon answered %s: %s", response.Status, text)
}

// drainLines reads an answer to its end, so that the connection can be used again.
func drainLines(lines io.Reader) { _, _ = io.Copy(io.Discard, io.LimitReader(lines, 1<<10)) }

// readAnswer reads the lines of an answer up to its last.
func readAnswer(ctx context.Context, body io.Reader, result any) error {
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%w in the middle of its answer: %w", ErrBroken, err)
		}
		if cut, ok := api.CutResult(text); ok && api.Decode(cut, result) == nil {
			drainLines(lines)
			return nil
		}
		var line api.Line
		if err := api.Decode(text, &line); err != nil {
			return missions.Errorf(missions.KindFailed, "umbra daemon stop", "the daemon's answer makes no sense: %w", err)
		}
		if line.Notice != nil {
			var n missions.Notice
			if api.Decode(line.Notice, &n) == nil {
				missions.Notify(ctx, n)
			}
		}
		if !line.Last() {
			continue
		}
		drainLines(lines)
		if line.Result != nil {
			if err := api.Decode(line.Result, result); err != nil {
				return missions.Errorf(missions.KindFailed, "umbra daemon stop", "the daemon's answer makes no sense: %w", err)
			}
		}
		if e := line.Error; e != nil {
			return &missions.Error{Kind: missions.Kind(e.Kind), Message: e.Message, Hint: e.Hint, Details: e.Details}
		}
		return nil
	}
}
