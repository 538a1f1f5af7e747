package sessionstest

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// HeadlessCommands are what becomes of commands of an agent's. "|" parts words.
type HeadlessCommands struct {
	ID string // of a session
	// Resumed are commands as they are launched without a terminal, on the session, which
	// they call ID, with the prompt "-v is wrong".
	Resumed map[string]string
	// Modelled are commands with the model "new".
	Modelled map[string]string
}

// TestHeadless checks an adapter whose agent answers a prompt without a terminal, with the
// model that it is told.
func TestHeadless(t *testing.T, a sessions.Adapter, want HeadlessCommands) {
	headless, modelled := a.(sessions.Headless), a.(sessions.Modelled)
	for given, argv := range want.Resumed {
		command := strings.Split(given, "|")
		answering, _ := headless.Headless(command)
		if _, already := headless.Headless(answering); !already {
			t.Errorf("%q is said to need a terminal", answering)
		}
		cmd, err := a.Launch(sessions.Launch{Command: answering, SessionID: want.ID, Resume: true, Prompt: "-v is wrong"})
		if got := strings.Join(cmd.Argv, "|"); err != nil || got != strings.ReplaceAll(argv, "ID", want.ID) {
			t.Errorf("%s becomes %s, %v; want %s", given, got, err, argv)
		}
		if !slices.Equal(command, strings.Split(given, "|")) {
			t.Errorf("the given command became %q", command)
		}
	}
	for _, fresh := range []bool{false, true} { // a session is begun: the command's own prompt gives way
		answering, already := headless.Headless([]string{a.Name(), "first"})
		if already {
			t.Errorf("%s is said to need no terminal", a.Name())
		}
		cmd, err := a.Launch(sessions.Launch{Command: answering, Fresh: fresh, Prompt: "second"})
		if words := strings.Join(cmd.Argv, " "); err != nil || strings.Contains(words, "first") || !strings.Contains(words, "second") {
			t.Errorf("fresh %t: %q, %v", fresh, cmd.Argv, err)
		}
	}
	for given, argv := range want.Modelled {
		if got := strings.Join(modelled.WithModel(strings.Split(given, "|"), "new"), "|"); got != argv {
			t.Errorf("%s becomes %s; want %s", given, got, argv)
		}
	}
	others := []string{"vim", "a.txt"}
	if answering, already := headless.Headless(others); already || !slices.Equal(answering, others) || !slices.Equal(modelled.WithModel(others, "new"), others) {
		t.Error("the command of another program is changed")
	}
}
