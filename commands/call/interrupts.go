package call

import (
	"context"
	"os"
	"sync"
	"syscall"
)

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
	s.hear()
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

func (s *interrupts) hear() {
	s.env.Notify(s.ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// aside runs something that has the terminal for itself, whose Ctrl-C is not this
// command's. There is a handler for it all the time: what has none ends the process.
func (s *interrupts) aside(run func() error) error {
	theirs := make(chan os.Signal, 1)
	s.env.Notify(theirs, os.Interrupt)
	s.env.Unnotify(s.ch)
	s.env.Notify(s.ch, syscall.SIGTERM, syscall.SIGHUP)
	err := run()
	s.env.Unnotify(s.ch) // waits until what was typed meanwhile has gone to theirs
	if s.came() == nil {
		s.hear()
	}
	s.env.Unnotify(theirs)
	return err
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
