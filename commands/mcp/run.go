package mcp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// A line is a command line of Umbra's, without the program's name, and what it reads on
// stdin.
type line struct {
	words []string
	stdin string
}

func command(words ...string) line { return line{words: words} }

// with adds a flag that has a value, unless that is empty. The value can't be taken for a
// flag.
func (l line) with(flag, value string) line {
	if value != "" {
		l.words = append(slices.Clip(l.words), "--"+flag+"="+value)
	}
	return l
}

// when adds a word if it is asked for.
func (l line) when(asked bool, word string) line {
	if asked {
		l.words = append(slices.Clip(l.words), word)
	}
	return l
}

// then adds arguments that are not empty.
func (l line) then(arguments ...string) line {
	for _, a := range arguments {
		l = l.when(a != "", a)
	}
	return l
}

// after adds what follows "--".
func (l line) after(words []string) line {
	if len(words) > 0 {
		l.words = append(append(slices.Clip(l.words), "--"), words...)
	}
	return l
}

// notFlags refuses names that the command line would take for flags.
func notFlags(names ...string) error {
	for _, n := range names {
		if strings.HasPrefix(n, "-") {
			return missions.Errorf(missions.KindUsage, "missions and timeline list them", "%q names no mission and no moment", n)
		}
	}
	return nil
}

// An outcome is what a command line has printed, and its exit code.
type outcome struct {
	out, notes string
	code       int
}

// run runs a command line in this process, as that of a mission: "" for the one that the
// server's environment names.
func (s *server) run(ctx context.Context, mission string, l line) outcome {
	var out, notes bytes.Buffer
	env := s.call.Env
	env.Args = slices.Concat(s.globals(), []string{"--color=never"}, l.words)
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(l.stdin), &out, &notes
	env.IsTerminal = func(any) bool { return false }
	if mission != "" {
		env = named(env, mission)
	}
	// A call that the agent cancels is one that its user interrupts.
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
	code := env.Again(env)
	return outcome{out: out.String(), notes: notes.String(), code: code}
}

// globals are the flags that this server was given.
func (s *server) globals() []string {
	l := line{}.with("home", s.call.Home).when(s.call.NoDaemon, "--no-daemon")
	return l.words
}

// variable names a mission to the commands that its agent runs.
const variable = "UMBRA_MISSION"

// named is the world of a command that the agent of a mission runs.
func named(env call.Env, mission string) call.Env {
	getenv, environ := env.Getenv, env.Environ
	env.Getenv = func(name string) string {
		if name == variable {
			return mission
		}
		return getenv(name)
	}
	env.Environ = func() []string {
		others := slices.DeleteFunc(slices.Clone(environ()), func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
		return append(others, variable+"="+mission)
	}
	return env
}

// mostText is how much of what a command prints an agent is given.
const mostText = 64 << 10

// failed reports whether the command did not do what it was asked to.
func (o outcome) failed() bool { return o.code != 0 && o.code != int(call.Partly) }

// text is what the agent reads: the result, and what was said beside it.
func (o outcome) text() string {
	out := o.out
	if strings.Contains(out, "\x00") { // as Git tells
		return fmt.Sprintf("%d bytes that are no text", len(out))
	}
	out = strings.ToValidUTF8(out, "\uFFFD")
	if len(out) > mostText {
		rest := len(out) - mostText
		out = fmt.Sprintf("%s\n… and %d bytes more: ask for less at once", strings.ToValidUTF8(out[:mostText], ""), rest)
	}
	parts := []string{strings.TrimRight(out, "\n"), strings.TrimRight(strings.ToValidUTF8(o.notes, "?"), "\n")}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return cmp.Or(strings.Join(parts, "\n\n"), "done")
}
