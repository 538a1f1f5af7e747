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

// again is a request that is sent for the second time: it says so, where that
// makes a difference.
func again[Request any](r Request) Request {
	if marked, ok := any(r).(interface{ Again() Request }); ok {
		return marked.Again()
	}
	return r
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
			_, err := c.about(quick)
			done()
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
func told(ctx context.Context, method string, err error) error {
	if e, ok := errors.AsType[*missions.Error](err); ok && !errors.Is(err, ErrBroken) {
		return e
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrBroken) && api.Repeats(method):
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon logs may say why; umbra --no-daemon works in this process", "the daemon ended before it answered, and asking again was no use: %w", plain(err))
	case errors.Is(err, ErrBroken):
		b := broken[method]
		return missions.Errorf(missions.KindFailed, b.look, "the daemon ended before it said whether %s: %w", b.what, plain(err))
	case unsent(err):
		return missions.Errorf(missions.KindNoDaemon, "try again, or: umbra --no-daemon works in this process", "nothing was done: %w", plain(err))
	}
	return err
}

// broken says of each call that is not made twice what is not known when its
// answer was cut off, and what to type then.
var broken = map[string]struct{ what, look string }{
	api.NewMission:  {"the mission was made", "umbra mission ls shows it if it was"},
	api.Fork:        {"the fork was made", "umbra mission ls shows it if it was; one half made is taken away"},
	api.Launch:      {"the agent may start", "umbra mission resume starts it"},
	api.Rename:      {"the mission was renamed", "umbra mission ls shows its name"},
	api.Remove:      {"the mission was removed", "umbra mission ls shows what is left; nothing is ever deleted"},
	api.Unremove:    {"the mission was taken back", "umbra mission ls shows it if it was"},
	api.Trash:       {"the trash was emptied", "umbra trash ls shows what is left; what is gone was in no mission any more"},
	api.MoveProject: {"the project was moved", "umbra project ls shows where it is"},
	api.Unpin:       {"the pin was taken away", "umbra pins shows what is left"},
	api.Restore:     {"the restore was done", "umbra log --ops shows it if it was, umbra undo takes it back; one half done is finished or taken back"},
	api.Undo:        {"the undo was done", "umbra log --ops shows it if it was, umbra redo takes it back; one half done is finished or taken back"},
	api.Cancel:      {"the restore that waits was canceled", "umbra status shows it if it still waits"},
	api.Redo:        {"the redo was done", "umbra log --ops shows it if it was, umbra undo takes it back; one half done is finished or taken back"},
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
