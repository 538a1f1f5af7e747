package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
)

// TestMergeAsks: on a terminal a person goes through what is open, sees what each side has
// there, goes back, edits, and ends the merge or leaves it open.
func TestMergeAsks(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	p.typed("echo ready$((1+1))\n")
	p.expect("ready2")
	write := func(dir, name, text string) {
		t.Helper()
		calltest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	content := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(p.cmd.Dir, name))
		calltest.Must(t, err)
		return string(text)
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		write(p.cmd.Dir, name, "begun\n")
	}
	p.run("mission", "new", "--no-launch", "--name", "one", "--", "true")
	fork := filepath.Join(filepath.Dir(p.cmd.Dir), "two")
	p.run("fork", "one", "--no-launch", "--name", "two", "--workspace", fork)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		write(p.cmd.Dir, name, "mine\n")
		write(fork, name, "theirs\n")
	}

	// One is chosen, one again after going back, one skipped: it waits.
	p.typed("NO_COLOR=1 PAGER='cat -' umbra merge two; echo code$?\n")
	p.expect(`1 of 3: high +a.txt(.|\s)*<<<<<<< one\s+mine(.|\s)*begun(.|\s)*=======\s+theirs\s+>>>>>>> two(.|\s)*What becomes of a.txt\?(.|\s)*\n> `)
	p.typed("d\n")
	p.expect(`-begun\s+\+mine(.|\s)*-begun\s+\+theirs(.|\s)*\n> `)
	p.typed("o\n")
	p.expect(`2 of 3: (.|\s)*p  previous(.|\s)*\n> `)
	p.typed("p\n")
	p.expect(`1 of 3: (.|\s)*\n> `)
	p.typed("t\n")
	p.expect(`2 of 3: high +b.txt(.|\s)*\n> `)
	p.typed("b\n")
	p.expect(`3 of 3: high +c.txt(.|\s)*\n> `)
	p.typed("s\n")
	p.expect("1 path is open in the merge into one")
	p.expect("code12")
	if got := content("a.txt"); got != "mine\n" {
		t.Errorf("the target was changed before all was settled: %q", got)
	}

	// What is left is edited: leaving it as it was chooses nothing, marks that stay are refused.
	p.typed("EDITOR=true umbra merge --continue; echo code$?\n")
	p.expect(`1 of 1: high +c.txt(.|\s)*\n> `)
	p.typed("e\n")
	p.expect(`c.txt is as open as before: nothing was changed(.|\s)*\n> `)
	p.typed("q\n")
	p.expect("code12")
	p.typed("EDITOR='echo more >>' umbra merge --continue --quiet; echo code$?\n")
	p.expect(`1 of 1: high +c.txt(.|\s)*\n> `)
	p.typed("e\n")
	p.expect(`what you wrote is in (.|\s)*c.txt is as open as before: (.|\s)*marks of conflicts(.|\s)*\n> `)
	p.typed("q\n")
	p.expect("code12")
	p.typed("EDITOR='printf edited >' umbra merge --continue; echo code$?\n")
	p.expect(`1 of 1: high +c.txt(.|\s)*\n> `)
	p.typed("e\n")
	p.expect(`Nothing is open any more(.|\s)*\n> `)
	p.typed("c\n")
	p.expect("merge two into one: 3 changed")
	p.expect("code0")
	for name, want := range map[string]string{"a.txt": "theirs\n", "b.txt": "mine\ntheirs\n", "c.txt": "edited"} {
		if got := content(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	// A check that does not pass asks what is next; nothing of a merge that is dropped stays.
	p.run("undo", "one")
	p.typed("umbra merge two --check false; echo code$?\n")
	for range 3 {
		p.expect(`\d of 3: high (.|\s)*\n> `)
		p.typed("t\n")
	}
	p.expect(`Nothing is open any more(.|\s)*\n> `)
	p.typed("c\n")
	p.expect(`The check does not pass on the whole(.|\s)*\n> `)
	p.typed("x\n")
	p.expect("the merge into one is dropped")
	p.expect("code0")
	if got := content("a.txt"); got != "mine\n" {
		t.Errorf("a merge that was dropped has left %q", got)
	}
	p.typed("exit\n")
	p.code()
}
