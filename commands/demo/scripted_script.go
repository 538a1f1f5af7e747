package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions/home"
)

// toolUse is one use of a tool of Claude Code's, which really happens.
type toolUse struct {
	name   string // Write, Edit, Bash
	target string // the file, below the working directory; of Bash the command
	old    string // of Edit
	text   string // what is written
}

// step is what the agent does for one prompt.
type step struct {
	uses   []toolUse
	answer string
}

// The prompts of the demo, in the order they are given. Two follow the second:
// one in the mission, the other in its fork.
const (
	promptWrite    = "write greet.sh, which greets the world"
	promptNames    = "greet people by name, and test it"
	promptSimplify = "tidy up"
	promptFrench   = "say it in French"
	promptShout    = "and shout it"
)

const (
	greetWorld = "#!/bin/sh\necho \"Hello, world\"\n"
	greetNames = "#!/bin/sh\necho \"Hello, ${1:-world}\"\n"
	greetTest  = "#!/bin/sh\n[ \"$(sh greet.sh Ada)\" = \"Hello, Ada\" ] && echo ok\n"
)

// commandMark begins a prompt that is a command for the shell, as in Claude Code.
const commandMark = "! "

// stepFor is what the agent's script has for a prompt. For one it has not, it
// writes the prompt down, so that there is a change to see.
func stepFor(prompt string) step {
	if command, ok := strings.CutPrefix(prompt, commandMark); ok {
		return step{[]toolUse{{name: "Bash", target: command}}, "The command has ended."}
	}
	switch prompt {
	case promptWrite:
		return step{[]toolUse{
			{name: "Write", target: "greet.sh", text: greetWorld},
			{name: "Bash", target: "sh greet.sh"},
		}, "greet.sh says Hello, world."}
	case promptNames:
		return step{[]toolUse{
			{name: "Write", target: "greet.sh", text: greetNames},
			{name: "Write", target: "greet_test.sh", text: greetTest},
			{name: "Bash", target: "sh greet_test.sh"},
		}, "greet.sh takes a name; greet_test.sh passes."}
	case promptSimplify:
		return step{[]toolUse{
			{name: "Bash", target: "rm greet_test.sh"},
			{name: "Write", target: "README.md", text: "# greet\n\nIt greets.\n"},
		}, "I removed the test, and the README is much shorter now!"}
	case promptFrench:
		return step{[]toolUse{
			{name: "Edit", target: "greet.sh", old: "Hello", text: "Bonjour"},
			{name: "Edit", target: "greet_test.sh", old: "Hello", text: "Bonjour"},
			{name: "Bash", target: "sh greet_test.sh"},
		}, "greet.sh says Bonjour; its test passes."}
	case promptShout:
		return step{[]toolUse{
			{name: "Bash", target: "sed -i.bak 's/\"$/!\"/' greet.sh && rm greet.sh.bak"},
		}, "greet.sh shouts."}
	}
	if s, ok := stepOfTill(prompt); ok {
		return s
	}
	return step{[]toolUse{
		{name: "Bash", target: "printf '%s\\n' " + home.ShellQuote(prompt) + " >> notes.txt"},
	}, "My script has nothing for this, so I wrote it into notes.txt."}
}

// input is the tool's input as Claude Code has it.
func (u toolUse) input(cwd string) map[string]any {
	path := filepath.Join(cwd, u.target)
	switch u.name {
	case "Write":
		return map[string]any{"file_path": path, "content": u.text}
	case "Edit":
		return map[string]any{"file_path": path, "old_string": u.old, "new_string": u.text, "replace_all": true}
	}
	return map[string]any{"command": u.target, "description": "run a command"}
}

// run uses the tool and returns its result as the model would get it.
func (u toolUse) run(ctx context.Context, cwd string) (result string, failed bool) {
	path := filepath.Join(cwd, u.target)
	switch u.name {
	case "Write":
		if err := os.WriteFile(path, []byte(u.text), 0o644); err != nil {
			return err.Error(), true
		}
		return "File written successfully at: " + path, false
	case "Edit":
		p, err := os.ReadFile(path)
		if err == nil && !strings.Contains(string(p), u.old) {
			err = fmt.Errorf("string to replace not found in %s", path)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(strings.ReplaceAll(string(p), u.old, u.text)), 0o644)
		}
		if err != nil {
			return err.Error(), true
		}
		return "The file " + path + " has been updated.", false
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", u.target)
	cmd.Dir = cwd
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err != nil
}
