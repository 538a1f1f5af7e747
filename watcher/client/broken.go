package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// unsent reports whether a call has failed before it was heard.
func unsent(err error) bool {
	var op *net.OpError
	return errors.Is(err, errNoSocket) || errors.Is(err, errNotBegun) || errors.Is(err, errLeaving) || errors.Is(err, errOtherHome) || errors.Is(err, errOlder) || errors.As(err, &op) && op.Op == "dial"
}

// again is a request as it is sent for the second time: it says so, where that
// makes a difference.
func again(request any) ([]byte, error) {
	if r, ok := request.(interface{ MarkRepeated() }); ok {
		r.MarkRepeated()
	}
	return api.Encode(request)
}

// watched makes a call. One with a deadline is not waited for blindly: when a
// quarter of its time is over, a second at most, and then at growing intervals,
// the daemon must show that it lives, in as much time again or the patience of
// the options; else the call counts as broken, and the rest of the time is for
// doing without.
func (c *Client) watched(ctx context.Context, do func(context.Context) error) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return do(ctx)
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	first := min(time.Until(deadline)/4, aboutPatience)
	patience := cmp.Or(c.options.Patience, first)
	go func() {
		for pause := first; wait(limited, pause) == nil; pause *= 2 {
			quick, done := patient(limited, patience)
			_, err := c.ask(quick, about)
			done()
			if nobody(err) || errors.Is(err, errLeaving) {
				return // it takes no calls any more, and still answers those that it has
			}
			if err != nil && limited.Err() == nil {
				cancel(ErrHangs)
			}
		}
	}()
	err := do(limited)
	if err != nil && ctx.Err() == nil && context.Cause(limited) == ErrHangs {
		return ErrHangs
	}
	return err
}

// ErrHangs ends a call of a daemon that does not answer any more. It is there:
// neither it nor another one will be reached in the time that a hook has.
var ErrHangs = fmt.Errorf("%w: it does not answer", ErrBroken)

// told turns an error of the wire into what the user is told.
func told(ctx context.Context, m missions.Method, err error) error {
	if e, ok := errors.AsType[*missions.Error](err); ok && !errors.Is(err, ErrBroken) {
		return e
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrBroken) && m.Is(missions.Repeats):
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon logs may say why; umbra --no-daemon works in this process", "the daemon ended before it answered, and asking again was no use: %w", plain(err))
	case errors.Is(err, ErrBroken):
		return missions.Errorf(missions.KindFailed, m.Look, "the daemon ended before it said whether %s: %w", m.Unknown, plain(err))
	case unsent(err):
		return missions.Errorf(missions.KindNoDaemon, "try again, or: umbra --no-daemon works in this process", "nothing was done: %w", plain(err))
	}
	return err
}

// reason is an error of the system in words of Umbra's.
type reason struct {
	text  string
	cause error
}

func (r *reason) Error() string { return r.text }

func (r *reason) Unwrap() error { return r.cause }

// plain says what an error of the wire means.
func plain(err error) error {
	text := ""
	switch {
	case errors.Is(err, ErrHangs), errors.Is(err, context.DeadlineExceeded):
		text = "it does not answer"
	case errors.Is(err, errLeaving):
		text = "it is stopping"
	case errors.Is(err, fs.ErrNotExist):
		text = "its socket is gone"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "nobody listens on its socket any more"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		text = "the connection was cut"
	default:
		return err
	}
	return &reason{text, err}
}
