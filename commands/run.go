package commands

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// Run does what env.Args say and returns the exit code. It prints errors
// itself; nothing is left running when it returns.
func Run(env Env) int {
	var globals Globals
	table := globals.flags()
	verbs := allVerbs()
	in, err := arrange(verbs, table, env.Args)
	if err != nil {
		globals.JSON = slices.Contains(env.Args, "--json") // as far as one can tell
	} else {
		err = application(env, &globals, table, verbs, in).Run(in.words())
	}
	if err != nil && in.failsOpen(env.Args) {
		noteHook(env, globals, err)
		return 0
	}
	return report(env, globals, err)
}

// application is urfave/cli's view of the command line, without what it would
// print or exit by itself.
func application(env Env, globals *Globals, table []cli.Flag, verbs []*verb, in invocation) *cli.App {
	app := &cli.App{
		Name: "umbra", Flags: table, HideHelp: true, HideHelpCommand: true, HideVersion: true,
		Writer: env.Stdout, ErrWriter: env.Stderr, Reader: env.Stdin,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // errors are printed in Run, once
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return usageError("", err) },
		Action:                    func(*cli.Context) error { return bare(env, verbs, table, in) },
	}
	for _, v := range verbs {
		app.Commands = append(app.Commands, v.command(func(v *verb, args []string) error {
			return do(env, globals, v, in, args)
		}))
	}
	return app
}

// words is the command line as urfave/cli understands it.
func (in invocation) words() []string {
	words := append([]string{"umbra"}, in.globals...)
	if in.verb == nil || in.verb.run == nil || in.help {
		return words // the root's action gives the help
	}
	words = append(append(words, in.path...), in.flags...)
	return append(append(words, "--"), in.args...)
}

// bare is what umbra does without a command to run.
func bare(env Env, verbs []*verb, table []cli.Flag, in invocation) error {
	if in.version && !in.help {
		return printVersion(env, slices.Contains(in.globals, "--json=true"))
	}
	return helpFor(env.Stdout, verbs, table, in)
}

// do runs one verb with what it needs.
func do(env Env, globals *Globals, v *verb, in invocation, args []string) error {
	if err := globals.settle(env); err != nil {
		return err
	}
	ctx, signals := listen(env)
	defer signals.stop()
	c := &call{
		Env: env, Globals: *globals, ctx: ctx, signals: signals,
		args: args, after: in.after, dashed: in.dashed,
	}
	c.out = c.printer(env.Stdout)
	c.err = c.printer(env.Stderr)
	c.progress = c.newProgress()
	err := v.run(c)
	c.progress.end()
	if cerr := c.close(); err == nil {
		err = cerr
	}
	if err == nil && c.unwritten != nil { // else the error says it, or something that counts more
		c.notice("%s; what was written before can be read", missions.AsError(c.unwritten).Message)
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
