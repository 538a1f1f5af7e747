package commands

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/umbra-vcs/umbra/missions"
)

// Run does what env.Args say and returns the exit code. It prints errors
// itself; nothing is left running when it returns.
func Run(env Env) int {
	globals := Globals{Color: "auto"}
	table := globals.flags()
	verbs := allVerbs()
	in, err := arrange(verbs, table, env.Args)
	switch {
	case err != nil:
		globals.JSON = slices.Contains(env.Args, "--json") // as far as one can tell
	case in.version && !in.help:
		err = printVersion(env, globals.JSON)
	case in.help || in.verb == nil || in.verb.run == nil:
		err = helpFor(env.Stdout, verbs, table, in)
	default:
		err = do(env, &globals, in)
	}
	if err != nil && in.failsOpen(env.Args) {
		noteHook(env, globals, err)
		return 0
	}
	return report(env, globals, err)
}

// do runs one verb with what it needs.
func do(env Env, globals *Globals, in invocation) error {
	if err := globals.settle(env); err != nil {
		return err
	}
	ctx, signals := listen(env)
	defer signals.stop()
	c := &call{
		Env: env, Globals: *globals, ctx: ctx, signals: signals,
		args: in.args, after: in.after, dashed: in.dashed,
	}
	c.out = c.printer(env.Stdout)
	c.err = c.printer(env.Stderr)
	c.progress = c.newProgress()
	err := in.verb.run(c)
	c.progress.end()
	if cerr := c.close(); err == nil {
		err = cerr
	}
	if signals.came() != nil && errors.Is(err, context.Canceled) {
		return missions.Errorf(missions.KindInterrupted, "", "interrupted")
	}
	return err
}

// interrupts are the signals that end a command. The first one cancels its
// context; the second one has its usual effect, in case the first has none.
type interrupts struct {
	env    Env
	ch     chan os.Signal
	done   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	signal os.Signal
}

func listen(env Env) (context.Context, *interrupts) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &interrupts{env: env, ch: make(chan os.Signal, 4), done: make(chan struct{})}
	env.Notify(s.ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer cancel()
		select {
		case sig := <-s.ch:
			s.mu.Lock()
			s.signal = sig
			s.mu.Unlock()
			env.Unnotify(s.ch)
		case <-s.done:
		}
	}()
	return ctx, s
}

// stop ends the listening, and with it the context.
func (s *interrupts) stop() {
	s.once.Do(func() {
		s.env.Unnotify(s.ch)
		close(s.done)
	})
}

func (s *interrupts) came() os.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signal
}

// close closes the Service, if the verb used it.
func (c *call) close() error {
	if c.stops != nil {
		c.stops.end()
		c.stops = nil
	}
	if c.closer == nil {
		return nil
	}
	closer := c.closer
	c.closer, c.svc = nil, nil
	return closer.Close()
}
