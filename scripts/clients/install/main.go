// Command install puts the real agents that the gate runs into the cache and
// prints where they are. It owns nothing: clients does.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	all, err := clients.InstallTested(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
	for _, c := range all {
		fmt.Println(c.Agent, c.Version, c.Path)
	}
}
