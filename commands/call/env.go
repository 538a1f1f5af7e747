package call

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"golang.org/x/term"

	"github.com/umbra-vcs/umbra/missions"
)

// Env is everything a command knows of the world outside the Service. Nothing
// here is looked up before it is needed: a hook pays for none of it.
type Env struct {
	Args []string // without the program's own name
	Streams
	Now        func() time.Time
	Getenv     func(string) string
	Environ    func() []string
	Getwd      func() (string, error) // as the shell says it
	Executable func() (string, error)

	// Run runs another program to its end.
	Run func(*exec.Cmd) error
	// Notify and Unnotify are those of package signal.
	Notify   func(chan<- os.Signal, ...os.Signal)
	Unnotify func(chan<- os.Signal)
	Connect  Connector

	// Again runs another command line of umbra's within this process, and gives its exit
	// code.
	Again func(Env) int

	Began time.Time // when a hook began that has tried its usual way already
	Hangs bool      // it found a daemon that does not answer
}

// Streams are the standard streams, and what is known of them.
type Streams struct {
	Stdin      io.Reader
	Stdout     io.Writer
	Stderr     io.Writer
	IsTerminal func(stream any) bool // of one of the three streams
	Width      func() int            // of the terminal, in columns
	Height     func() int            // of the terminal, in lines
}

// A Connector gives the Service, and what is to be closed after it.
type Connector func(context.Context, Env, Globals) (missions.Service, io.Closer, error)

// ProcessEnv is the world of this process.
func ProcessEnv(now func() time.Time, connect Connector) Env {
	return Env{
		Args:    os.Args[min(1, len(os.Args)):],
		Streams: Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, IsTerminal: isTerminal, Width: terminalWidth, Height: terminalHeight},
		Now:     now,
		Getenv:  os.Getenv, Environ: os.Environ, Getwd: os.Getwd, Executable: os.Executable,
		Run: func(cmd *exec.Cmd) error { return cmd.Run() }, Notify: signal.Notify, Unnotify: signal.Stop,
		Connect: connect,
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func terminalWidth() int {
	width, _ := terminalSize()
	return width
}

func terminalHeight() int {
	if _, height := terminalSize(); height > 0 {
		return height
	}
	return 24
}

// terminalSize is the size of whichever standard stream is a terminal. A height of 0 is not
// known.
func terminalSize() (width, height int) {
	for _, f := range []*os.File{os.Stdout, os.Stderr, os.Stdin} {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w, h
		}
	}
	return 80, 0
}
