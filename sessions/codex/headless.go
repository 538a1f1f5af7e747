package codex

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// anywhere lets codex exec work where no repository of Git's is: else it refuses, since
// nothing could be taken back. Umbra has snapshots.
const anywhere = "--skip-git-repo-check"

// Headless implements sessions.Headless: codex exec answers and ends. It takes the
// options of codex before its name, also those that it does not take itself, shown
// with 0.169.0.
func (Adapter) Headless(command []string) (answering []string, already bool) {
	answering = rebuilt(command, func(l *launch) {
		l.prompt, already = nil, l.exec
		l.drop(image)
		if !l.exec {
			l.exec, l.before = true, slices.Concat(l.before, l.own.Without(pickers...))
			l.own = slices.DeleteFunc(l.own, func(a cmdline.Argument) bool { return !slices.Contains(pickers, a.Name) })
		}
		if !l.has(anywhere) {
			l.after = l.after.First(anywhere)
		}
	})
	return answering, already
}

// WithModel implements sessions.Modelled.
func (Adapter) WithModel(command []string, model string) []string {
	return rebuilt(command, func(l *launch) {
		l.drop("--model")
		l.before = l.before.First("--model", model)
	})
}

// rebuilt is a command that runs a session, taken apart, changed and put together.
func rebuilt(command []string, change func(*launch)) []string {
	at := sessions.ProgramAt(command, "codex", script)
	if at < 0 {
		return command
	}
	var l launch
	l.read(command[at+1:])
	if l.elsewhere != "" {
		return command
	}
	change(&l)
	return append(slices.Clone(command[:at+1]), l.words()...)
}
