package call

import (
	"context"
	"io"
	"os"
	"slices"
)

// Within is the world of another command line of umbra's that Again runs in this process,
// with this one's home and without a terminal. The end of ctx interrupts it, as its user
// would.
func (c *Call) Within(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) Env {
	env := c.Env
	env.Args = []string{"--color=never"}
	if c.Home != "" {
		env.Args = append(env.Args, "--home", c.Home)
	}
	if c.NoDaemon {
		env.Args = append(env.Args, "--no-daemon")
	}
	env.Args = append(env.Args, args...)
	env.Stdin, env.Stdout, env.Stderr = stdin, stdout, stderr
	env.IsTerminal = func(any) bool { return false }
	env.Notify, env.Unnotify = func(ch chan<- os.Signal, signals ...os.Signal) {
		if slices.Contains(signals, os.Interrupt) {
			context.AfterFunc(ctx, func() {
				select {
				case ch <- os.Interrupt:
				default:
				}
			})
		}
	}, func(chan<- os.Signal) {}
	return env
}
