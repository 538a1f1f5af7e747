package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// ErrUndone is found in the error of a call that nobody has carried out, as far
// as is known.
var ErrUndone = errors.New("nobody took the call")

// Hook makes one call of Service.Hook over a connection of its own and does
// nothing else: an agent waits for this process. It neither looks first who
// serves nor starts a daemon. On an error that wraps ErrUndone the event is
// still to be handed in, by way of Connect, in what is left of the context's
// time: also if a daemon died over it, since events are known by their ids. One
// that wraps ErrHangs too says that Connect would be no use.
func Hook(ctx context.Context, o Options, r missions.HookRequest) (missions.HookResult, error) {
	return alone(o).Hook(ctx, r)
}

// Status makes one call of Service.Status in the way of Hook: a shell's prompt
// waits for this process.
func Status(ctx context.Context, o Options, r missions.StatusRequest) (missions.Status, error) {
	return alone(o).Status(ctx, r)
}

// alone makes each call over a connection of its own.
func alone(o Options) missions.Relay {
	return missions.NewRelay(func(ctx context.Context, m missions.Method, request, result any) error {
		body, err := api.Encode(request)
		if err != nil {
			return missions.Errorf(missions.KindUsage, "", "send %s: %w", m.Name, err)
		}
		if o.Home.Hangs() {
			return fmt.Errorf("%w: %w", ErrUndone, ErrHangs)
		}
		conn, err := dial(ctx, o.Home.Socket())
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUndone, err)
		}
		defer conn.Close()
		c := newClient(o)
		defer c.Close()
		err = c.watched(ctx, func(ctx context.Context) error {
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			return exchange(ctx, conn, m, o, body, result)
		})
		if errors.Is(err, ErrHangs) {
			o.Home.NoteHang()
		}
		broken := errors.Is(err, ErrBroken) && !errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil
		if broken || errors.Is(err, errLeaving) || errors.Is(err, errMisdirected) || errors.Is(err, errOtherHome) || errors.Is(err, errRefused) || errors.Is(err, errOlder) {
			return fmt.Errorf("%w: %w", ErrUndone, err)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = context.DeadlineExceeded // by the connection's clock
		}
		return told(ctx, m, err)
	})
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	if path == "" {
		return nil, errNoSocket
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(deadline)
	}
	return conn, err
}

// exchange asks over a connection that is used once, and reads the answer.
func exchange(ctx context.Context, conn net.Conn, m missions.Method, o Options, body []byte, result any) error {
	call, err := newCall(ctx, m, body, o)
	if err != nil {
		return err
	}
	call.Close = true
	call.Header.Set(api.HeaderNamespace, api.Namespace())
	if err := call.Write(conn); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), call)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return answerTo(ctx, response, result)
}
