package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/standin"
)

// A dialect is how one agent is spoken to, and how it says to its model what was
// said.
type dialect struct {
	// headless begins the command line of a turn without a terminal.
	headless []string
	// ask runs such a command line with a prompt.
	ask func(k *talk, args []string, prompt string) output
	// terminal is the command line on a terminal, and ready what is to be seen
	// there when the agent waits for its user.
	terminal []string
	ready    string
	// box is what stands in its input on a screen; nil for one that loses no Enter.
	box func(screen string) string
	// again is what it shows where Esc is to be typed twice to stop it.
	again string
	// hasty is what it shows while a turn runs where Esc is to be typed twice within a
	// moment, which a busy machine misses: then once more.
	hasty string
	// turn is what has the model write a file of that name, and what the model is
	// sent of that and of a shell command: calls and results.
	turn func(k *talk, name, written, shell string) (script string, calls []string)
	// plain drops what the client adds to a line.
	plain func(line string) string
	// tool is what the model calls a tool of Umbra's.
	tool func(name string) string
}

// speaks is the dialect of the person's agent.
func (p *person) speaks() dialect {
	d, ok := map[string]func() dialect{"claude": claudeDialect, "codex": codexDialect, "gemini": geminiDialect, "opencode": openCodeDialect, "pi": piDialect, "copilot": copilotDialect, "qwen": qwenDialect}[p.client.Agent]
	if !ok {
		p.Fatalf("nobody speaks to %s", p.client.Agent)
	}
	return d()
}

// plain is what a request carries of the conversation, without the client's own
// words.
func (p *person) plain(r standin.Request) []string {
	lines, d := standin.Lines(standin.History(r)), p.speaks()
	for i, line := range lines {
		lines[i] = d.plain(line)
	}
	return lines
}

// byHand begins the command line of a turn that umbra does not launch.
func (p *person) byHand(more ...string) []string {
	words := p.speaks().headless
	return slices.Concat([]string{p.client.Path}, more, words[1:])
}

// lastWord gives the prompt as the last word of a command line.
func lastWord(k *talk, args []string, prompt string) output {
	return k.p.run(k.p.repo, append(slices.Clone(args), prompt)...)
}

const createdIn = "result: File created successfully at: "

func claudeDialect() dialect {
	return dialect{
		headless: []string{"claude", "--dangerously-skip-permissions", "-p"}, ask: lastWord,
		tool:     func(name string) string { return "mcp__umbra__" + name },
		terminal: []string{"claude", "--dangerously-skip-permissions"}, ready: ready, box: claudeBox,
		turn: func(k *talk, name, written, shell string) (string, []string) {
			return fmt.Sprintf("[[write path=%s content=%q]]", name, written), []string{
				fmt.Sprintf(`call Write {"content":%q,"file_path":%q}`, written, name),
				createdIn + name,
				fmt.Sprintf(`call Bash {"command":%q}`, shell),
				"result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
			}
		},
		plain: func(line string) string {
			// Versions put other words behind a written file's name.
			if rest, ok := strings.CutPrefix(line, createdIn); ok {
				name, _, _ := strings.Cut(rest, " ")
				return createdIn + name
			}
			return line
		},
	}
}

// claudePrompts is the mark before Claude Code's input, which is the last one on a screen,
// and before each prompt above it.
var claudePrompts = regexp.MustCompile(`(?m)^[>❯][ \x{a0}]`)

func claudeBox(screen string) string {
	marks := claudePrompts.FindAllStringIndex(screen, -1)
	if len(marks) == 0 {
		return ""
	}
	return screen[marks[len(marks)-1][1]:]
}

// codexTells is what Codex says of a command, a patch or a tool before its output.
var codexTells = regexp.MustCompile(`(?s)^result: (?:Chunk ID|Exit code|Wall time): .*?\nOutput:\n`)

// codexDialect runs hooks that nobody has looked at: here they are Umbra's alone.
func codexDialect() dialect {
	return dialect{
		headless: []string{"codex", "exec", "--dangerously-bypass-hook-trust"}, ask: lastWord,
		tool:     func(name string) string { return "mcp__umbra." + name },
		terminal: []string{"codex", "--dangerously-bypass-hook-trust"}, ready: "? for shortcuts",
		turn: func(k *talk, name, written, shell string) (string, []string) {
			patch, err := json.Marshal("*** Begin Patch\n*** Add File: " + name + "\n+" + written + "*** End Patch\n")
			if err != nil {
				k.p.Fatal(err)
			}
			return fmt.Sprintf("[[tool name=apply_patch input=%q]]", patch), []string{
				"call apply_patch " + string(patch),
				"result: Success. Updated the following files:\nA " + name + "\n",
				fmt.Sprintf(`call exec_command {"cmd":%q}`, shell),
				"result: " + k.workspace + "\n" + written,
			}
		},
		plain: func(line string) string { return codexTells.ReplaceAllString(line, "result: ") },
	}
}

// geminiWraps is what Gemini CLI puts around a command's output.
var geminiWraps = regexp.MustCompile(`(?s)<untrusted_context>\nOutput: (.*)\nProcess Group PGID: \d+\n</untrusted_context>`)

func geminiDialect() dialect {
	return dialect{
		headless: []string{"gemini", "-y", "-m", "gemini-2.5-flash", "-p"}, ask: lastWord,
		tool:     func(name string) string { return "mcp_umbra_" + name },
		terminal: []string{"gemini", "-y", "-m", "gemini-2.5-flash"}, ready: "Type your message", box: geminiBox,
		turn: func(k *talk, name, written, shell string) (string, []string) {
			return fmt.Sprintf("[[write path=%s content=%q]]", name, written), []string{
				fmt.Sprintf(`call write_file {"content":%q,"file_path":%q}`, written, name),
				"result: Successfully created and wrote to new file: " + filepath.Join(k.workspace, name),
				fmt.Sprintf(`call run_shell_command {"command":%q}`, shell),
				"result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
			}
		},
		plain: func(line string) string {
			line, _, _ = strings.Cut(line, ". Here is the updated code:")
			return geminiWraps.ReplaceAllString(line, "$1")
		},
	}
}

// geminiBox is what stands in the input of Gemini CLI, which takes an Enter that
// comes at once behind other keys, as in a paste, for the end of a line.
func geminiBox(screen string) string {
	box := screen[max(0, strings.LastIndex(screen, "\n * ")):]
	box, _, _ = strings.Cut(box, "\n workspace ")
	return box
}

// openCodeDialect gives a prompt on stdin: OpenCode quotes the words of its
// command line.
func openCodeDialect() dialect {
	return dialect{
		headless: []string{"opencode", "run"},
		tool:     func(name string) string { return "umbra_" + name },
		ask: func(k *talk, args []string, prompt string) output {
			return k.p.runWith(strings.NewReader(prompt), k.workspace, args...)
		},
		terminal: []string{"opencode"}, ready: "ctrl+p", again: "again to interrupt",
		turn: func(k *talk, name, written, shell string) (string, []string) {
			file := filepath.Join(k.workspace, name)
			return fmt.Sprintf("[[write path=%q content=%q]]", file, written), []string{
				fmt.Sprintf(`call write {"content":%q,"filePath":%q}`, written, file), "result: Wrote file successfully.",
				fmt.Sprintf(`call bash {"command":%q}`, shell), "result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
			}
		},
		plain: func(line string) string {
			for _, note := range []string{"\nUmbra has put files", "\nUmbra: you are the agent"} {
				line, _, _ = strings.Cut(line, note)
			}
			if head, _, ok := strings.Cut(line, `,"description":`); ok && strings.HasPrefix(line, "call bash") {
				line = head + "}" // which it wants, and the stand-in fills in
			}
			return strings.TrimSuffix(line, "\n")
		},
	}
}

func piDialect() dialect {
	return dialect{
		headless: []string{"pi", "--print"}, ask: lastWord,
		tool:     func(name string) string { return "mcp__umbra__" + name },
		terminal: []string{"pi"}, ready: "/128k (auto)",
		turn: func(k *talk, name, written, shell string) (string, []string) {
			return fmt.Sprintf("[[write path=%s content=%q]]", name, written), []string{
				fmt.Sprintf(`call write {"content":%q,"path":%q}`, written, name), "result: Successfully wrote to " + name,
				fmt.Sprintf(`call bash {"command":%q}`, shell), "result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
			}
		},
		plain: func(line string) string { return strings.TrimSuffix(line, "\n") },
	}
}

// copilotShell is what Copilot CLI says behind a command's output.
var copilotShell = regexp.MustCompile(`\n<shellId: \d+ completed with exit code 0>$`)

func copilotDialect() dialect {
	return dialect{
		headless: []string{"copilot", "--allow-all", "--silent", "--prompt"}, ask: lastWord,
		tool:     func(name string) string { return "umbra-" + name },
		terminal: []string{"copilot", "--allow-all"}, ready: "/ commands · ? help", box: copilotBox, hasty: "Working",
		turn: func(k *talk, name, written, shell string) (string, []string) {
			return fmt.Sprintf("[[write path=%s content=%q]]", name, written), []string{
				fmt.Sprintf(`call create {"file_text":%q,"path":%q}`, written, name),
				fmt.Sprintf("result: Created file %s with %d characters", filepath.Join(k.workspace, name), len(written)),
				fmt.Sprintf(`call bash {"command":%q,"description":"stand-in"}`, shell),
				"result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
			}
		},
		plain: func(line string) string { return copilotShell.ReplaceAllString(line, "") },
	}
}

// copilotBox is what stands in the input of Copilot CLI, between two lines.
func copilotBox(screen string) string { return screen[max(0, strings.LastIndex(screen, "\n❯")):] }

var (
	// qwenTells is what Qwen Code says of a command about its output.
	qwenTells = regexp.MustCompile(`(?s)^result: Command: .*?\nOutput: (.*)\nError: .*`)
	// qwenHeard is what a hook adds to a prompt, which stays there.
	qwenHeard = regexp.MustCompile(`(?s)\n<qwen:user-prompt-submit-context>.*?</qwen:user-prompt-submit-context>`)
)

func qwenDialect() dialect {
	return dialect{
		headless: []string{"qwen", "-y", "-p"}, ask: lastWord,
		tool:     func(name string) string { return "mcp__umbra__" + name },
		terminal: []string{"qwen", "-y"}, ready: "Type your message",
		turn: func(k *talk, name, written, shell string) (string, []string) {
			file := filepath.Join(k.workspace, name)
			return fmt.Sprintf("[[write path=%s content=%q]]", file, written), []string{
				fmt.Sprintf(`call write_file {"content":%q,"file_path":%q}`, written, file),
				"result: Successfully created and wrote to new file: " + file + ".",
				fmt.Sprintf(`call run_shell_command {"command":%q}`, shell), "result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
			}
		},
		plain: func(line string) string {
			return qwenHeard.ReplaceAllString(qwenTells.ReplaceAllString(line, "result: $1"), "")
		},
	}
}
