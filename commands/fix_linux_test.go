package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
)

// TestFixMenu: where a loop has given up, a person on a terminal looks at what the attempts
// have changed, has one more made, leaves it for later, or puts all back.
func TestFixMenu(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	p.typed("echo ready$((1+1))\n")
	p.expect("ready2")
	bin := filepath.Join(filepath.Dir(p.cmd.Dir), "bin")
	calltest.Must(t, os.Mkdir(bin, 0o755))
	calltest.Must(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho changed >>notes.txt; exit 7\n"), 0o755))
	for i, v := range p.cmd.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			p.cmd.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	p.run("mission", "new", "--no-launch", "--name", "one", "--agent", "claude")
	notes := filepath.Join(p.cmd.Dir, "notes.txt")
	isThere := func() bool {
		_, err := os.Lstat(notes)
		return err == nil
	}

	p.typed("export NO_COLOR=1 PAGER='cat -' PATH=" + bin + ":$PATH; umbra fix one --check 'echo a.go:1:1: wrong; false' --max-total 1; echo code$?\n")
	p.expect(`the agent ended with exit code 7(.|\s)*What is to become of it\?(.|\s)*v  view(.|\s)*\n> `)
	p.typed("v\n")
	p.expect(`\+\+\+ b/notes.txt(.|\s)*What is to become of it\?(.|\s)*\n> `)
	p.typed("o\n")
	p.expect(`attempt 2: (.|\s)*What is to become of it\?(.|\s)*\n> `)
	p.typed("m\n")
	p.expect("code3")
	if !isThere() {
		t.Error("what the attempts have changed is gone")
	}
	p.run("fix", "one", "--status")
	p.typed("umbra fix one --continue; echo code$?\n")
	p.expect(`What is to become of it\?(.|\s)*\n> `)
	p.typed("v\n")
	p.expect(`\+\+\+ b/notes.txt(.|\s)*What is to become of it\?(.|\s)*\n> `)
	p.typed("r\n")
	p.expect("one is as it was before the first attempt")
	p.expect("code0")
	if isThere() {
		t.Error("rejected, and what the attempts have changed is still there")
	}
	p.typed("exit\n")
	p.code()
}
