package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// quick hands in one event the way an agent's hook does.
func (b *bench) quick(ctx context.Context) (missions.HookResult, error) {
	return client.Hook(ctx, client.Options{Home: b.home, Version: "test", Patience: b.patience}, missions.HookRequest{Caller: b.caller(), Agent: "claude", Payload: []byte(`{}`)})
}

// TestQuickHook takes an event over one connection, which nothing else is asked.
func TestQuickHook(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.impostor(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != api.Prefix+"hook" || r.Header.Get(api.HeaderNamespace) != api.Namespace() || !r.Close {
			t.Errorf("asked %s %v", r.URL.Path, r.Header)
		}
		fmt.Fprint(w, `{"notice":{"text":"wait"}}`+"\n"+`{"result":{"output":"b2sK","mission":"m"}}`+"\n")
	})
	got, err := b.quick(b.ctx())
	must(t, err)
	if string(got.Output) != "ok\n" || got.Mission != "m" || asked != 1 {
		t.Errorf("%+v after %d requests", got, asked)
	}
}

// TestQuickHookIsServed reaches the real Service.
func TestQuickHookIsServed(t *testing.T) {
	b := newBench(t)
	b.start()
	if _, err := b.quick(b.ctx()); missions.AsError(err).Kind != missions.KindUsage || errors.Is(err, client.ErrUndone) {
		t.Errorf("an empty event: %v", err)
	}
}

// TestQuickHookUndone leaves to the long way what nobody has carried out, as far
// as is known.
func TestQuickHookUndone(t *testing.T) {
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", status) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc // nil: nobody listens
		undone bool
	}{
		"no JSON":     {answers(http.StatusBadRequest), false},
		"nobody":      {nil, true},
		"leaving":     {answers(http.StatusServiceUnavailable), true},
		"other files": {answers(http.StatusMisdirectedRequest), true},
		"other user":  {answers(http.StatusForbidden), true},
		"older":       {answers(http.StatusNotImplemented), true},
		"cut off":     {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"notice":{}}`) }, true},
		"dropped":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if c.answer != nil {
				b.impostor(c.answer)
			}
			_, err := b.quick(b.ctx())
			if err == nil || errors.Is(err, client.ErrUndone) != c.undone {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestQuickHookIsBounded lets go of a daemon that works too long, and leaves time
// to do without one that hangs.
func TestQuickHookIsBounded(t *testing.T) {
	for name, hangs := range map[string]bool{"works": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			limit := 4 * time.Second // is waited for to its end by one that works
			if hangs {
				limit = time.Minute
			}
			b := newBench(t)
			if !hangs {
				b.patience = time.Minute // a slow machine is not what is tried
			}
			release := make(chan struct{})
			var asked atomic.Bool
			b.impostor(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == api.Prefix+"hook" || hangs {
					asked.Store(true)
					<-release
				}
				fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
			})
			t.Cleanup(func() { close(release) })
			var ctx context.Context
			var err error
			for !asked.Load() { // a limit may be over before anybody was asked
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(b.ctx(), limit)
				defer cancel()
				_, err = b.quick(ctx)
			}
			if errors.Is(err, client.ErrUndone) != hangs || hangs && ctx.Err() != nil || !hangs && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, %v", err, ctx.Err())
			}
		})
	}
}
