// Command serve runs the stand-in model server by hand: it prints its address
// and then serves until it is interrupted. It owns nothing but its flags; what
// it answers is standin's.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/umbra-vcs/umbra/scripts/standin"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	log := flag.String("log", "", "file that requests are appended to as lines of JSON")
	flag.Parse()
	if err := run(standin.Options{Addr: *addr, Log: *log}); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(opts standin.Options) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	server, err := standin.Start(opts)
	if err != nil {
		return err
	}
	fmt.Printf("ANTHROPIC_BASE_URL=%[1]s ANTHROPIC_API_KEY=dummy\nGOOGLE_GEMINI_BASE_URL=%[1]s GEMINI_API_KEY=dummy\nChat Completions, Responses: %[1]s/v1\n", server.URL)
	<-stop
	return server.Close()
}
