package status

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// How long a shell's prompt waits for a daemon, which has answered many times over
// by then, and at most for what is on disk: a dead mount answers never.
const (
	promptBound  = 250 * time.Millisecond
	promptGiveUp = 2 * time.Second
)

// mostInPrompt is how many missions a prompt names.
const mostInPrompt = 2

// QuickPrompt is umbra status --prompt: one question over the socket, before
// anything of a command line is set up, else a look at what is on disk. It starts
// no daemon, makes no home, and never fails: what can't be told is left out. It
// reports false for any other command line.
func QuickPrompt(env call.Env) (done bool) {
	if len(env.Args) != 2 || env.Args[0] != "status" || env.Args[1] != "--prompt" {
		return false
	}
	showPrompt(env, call.Globals{Color: "auto"})
	return true
}

// showPrompt writes the prompt's line if it is there in time.
func showPrompt(env call.Env, globals call.Globals) {
	told := make(chan string, 1)
	go func() {
		if text, err := promptLine(env, globals); err == nil { // a prompt is no place for errors
			told <- text
		}
		close(told)
	}()
	select {
	case text := <-told:
		_, _ = io.WriteString(env.Stdout, text)
	case <-time.After(promptGiveUp):
	}
}

// promptLine is what a prompt shows, with its newline, or "".
func promptLine(env call.Env, globals call.Globals) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), promptBound)
	defer cancel()
	s, err := promptStatus(ctx, env, globals)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	p := globals.Printer(env, env.Stdout).Into(&b)
	if text := promptText(p, s); text != "" {
		p.Line("%s", text)
	}
	err = p.Flush()
	return b.String(), err
}

// promptStatus asks who serves, and looks itself where nobody does.
func promptStatus(ctx context.Context, env call.Env, globals call.Globals) (missions.Status, error) {
	caller, err := env.Caller()
	if err != nil {
		return missions.Status{}, err
	}
	dir, err := globals.HomeDir(env)
	if err != nil {
		return missions.Status{}, err
	}
	home, well := home.Find(dir)
	if !well {
		return missions.Status{}, nil
	}
	r := missions.StatusRequest{Caller: caller, Brief: true}
	if env.Getenv("UMBRA_NO_DAEMON") == "" && !globals.NoDaemon {
		s, err := client.Status(ctx, client.Options{Home: home, Version: version.Current()}, r)
		if err == nil || !errors.Is(err, client.ErrUndone) {
			return s, err
		}
	}
	globals.NoDaemon, globals.Reach, globals.Heeded = true, call.Alone, true
	svc, closer, err := env.Connect(ctx, env, globals)
	if err != nil {
		return missions.Status{}, err
	}
	s, err := svc.Status(ctx, r)
	return s, errors.Join(err, closer.Close())
}

// hasTerminal reports whether a mission has an agent, or a terminal to come back to.
func hasTerminal(m missions.Mission) bool { return m.State != missions.StateClosed || m.SideFork != "" }

// stateWords is the state of a mission.
func stateWords(m missions.Mission) string {
	if m.SideFork != "" {
		return "parked"
	}
	return m.StateWords()
}

// forkWords says of which mission one is a side fork, "" if it is none.
func forkWords(m missions.Mission) string {
	if m.SideForkOf == "" {
		return ""
	}
	return " (side fork of " + print.Clean(m.SideForkOf) + ")"
}

// promptText names the missions here that have an agent or are parked or, if none is,
// the one that was used last; "" where there is none.
func promptText(p *print.Printer, s missions.Status) string {
	list := slices.DeleteFunc(slices.Clone(s.Missions), func(m missions.Mission) bool { return !hasTerminal(m) })
	if len(list) == 0 {
		list = s.Missions[:min(1, len(s.Missions))]
	}
	var parts []string
	for _, m := range list[:min(mostInPrompt, len(list))] {
		parts = append(parts, p.Paint(wording.StateStyle(m.State), print.Clean(m.Name)+"@"+strconv.Itoa(m.Turn)+" "+stateWords(m)+forkWords(m)))
	}
	if more := len(list) - len(parts); more > 0 {
		parts = append(parts, "+"+strconv.Itoa(more))
	}
	if s.StoppedReason != "" && len(parts) > 0 {
		parts = append(parts, notSaving(p, s.StoppedReason))
	}
	if n := len(s.Problems); n > 0 {
		parts = append(parts, p.Paint(print.Red, print.Count(n, "problem")))
	}
	return strings.Join(parts, ", ")
}
