package commands

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPromoteAsks: on a terminal a person is asked what becomes of paths that both sides
// changed, and whether forks may go. --yes answers neither.
func TestPromoteAsks(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	p.typed("echo ready$((1+1))\n")
	p.expect("ready2")
	write := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(p.cmd.Dir, "begun\n")
	p.run("mission", "new", "--no-launch", "--name", "one", "--", "true")
	for _, name := range []string{"good", "bad"} {
		at := filepath.Join(filepath.Dir(p.cmd.Dir), name)
		p.run("fork", "one", "--no-launch", "--name", name, "--workspace", at)
		write(at, name+"\n")
	}
	write(p.cmd.Dir, "mine\n")

	p.typed("umbra promote good; echo code$?\n")
	p.expect(`others\S* +a.txt(.|\s)*What becomes of them\?(.|\s)*take what the fork has(.|\s)*> `)
	p.typed("d\n")
	p.expect(`-mine(.|\s)*\+good`)
	p.expect("> ")
	p.typed("s\n")
	p.expect("nothing was promoted")
	p.expect("code12")
	p.typed("umbra promote good; echo code$?\n")
	p.expect("> ")
	p.typed("p\n")
	p.expect("promote .* to one: 1 changed")
	p.expect(`Remove good, bad, into the trash\? umbra trash empty gives back .* then\.(.|\s)*> `)
	p.typed("n\n")
	p.expect("code0")
	p.run("mission", "show", "bad")

	p.typed("umbra undo one && umbra promote good --all --yes; echo code$?\n")
	p.expect("umbra mission rm --workspace good bad")
	p.expect("code0")
	p.typed("umbra undo one && umbra promote bad --all; echo code$?\n")
	p.expect(`Remove bad, good, into the trash\?(.|\s)*> `)
	p.typed("y\n")
	p.expect("bad.* removed")
	p.expect("code0")
	p.run("trash", "restore", "bad")
	p.typed("exit\n")
	p.code()
}
