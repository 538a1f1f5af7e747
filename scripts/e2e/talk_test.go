package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/standin"
)

// A talk is a mission's conversation as the model must be sent it.
type talk struct {
	p         *person
	mission   string
	workspace string
	lines     []string
	// ends[n] is the talk as turn n ended: how many lines, and the files.
	ends []moment
}

type moment struct {
	lines int
	files map[string]string
}

// newTalk begins a mission with that name in the repository, not yet launched.
func (p *person) newTalk(name string) *talk {
	p.Helper()
	p.umbra("mission", "new", "--name", name, "--no-launch")
	return &talk{p: p, mission: name, workspace: p.repo, ends: []moment{{files: files(p.T, p.repo)}}}
}

// forked is the talk of a fork from that turn: what was said up to then, with
// the workspace's path for the source's.
func (k *talk) forked(name string, turn int) *talk {
	k.p.Helper()
	f := &talk{p: k.p, mission: name, workspace: k.p.mission(name).Workspace, ends: slices.Clone(k.ends[:turn+1])}
	for _, line := range k.lines[:k.ends[turn].lines] {
		f.lines = append(f.lines, strings.ReplaceAll(line, k.workspace, f.workspace))
	}
	return f
}

// prompt is a turn that writes a new file, changes a tracked one and says where
// it is: the prompt, and what the model is sent of it, but for the answer.
func (k *talk) prompt(word string) (prompt string, lines []string) {
	if k.p.client.Agent == "codex" {
		return k.promptCodex(word)
	}
	name, written := word+".txt", word+" in "+k.mission+"\n"
	shell := fmt.Sprintf("echo %s >> state.txt; pwd; cat %s", word, name)
	prompt = fmt.Sprintf("%s, please [[write path=%s content=%q]] [[bash cmd=%q]] [[say %s done]]", word, name, written, shell, word)
	return prompt, []string{
		"user: " + prompt,
		fmt.Sprintf(`call Write {"content":%q,"file_path":%q}`, written, name),
		createdIn + name,
		fmt.Sprintf(`call Bash {"command":%q}`, shell),
		"result: " + k.workspace + "\n" + strings.TrimSuffix(written, "\n"),
	}
}

const createdIn = "result: File created successfully at: "

// args is the command line of one turn without a terminal.
func args(prompt string) []string {
	return []string{"--", "claude", "-p", prompt, "--dangerously-skip-permissions"}
}

// say has one turn in the mission, launched by umbra, and checks what it was
// answered, what the model was sent and what the turn did.
func (k *talk) say(word string) {
	k.p.Helper()
	prompt, lines := k.prompt(word)
	words := args(prompt)
	if k.p.client.Agent == "codex" {
		words = argsCodex(prompt)
	}
	got := k.p.umbra(append([]string{"mission", "resume", k.mission}, words...)...)
	if want := word + " done\n"; got != want {
		k.p.Fatalf("%s was answered %q, want %q", word, got, want)
	}
	k.heard(word, lines)
}

// heard checks a turn that has ended.
func (k *talk) heard(word string, lines []string) {
	k.p.Helper()
	request, ok := k.p.server.Last(standin.Prompted(word + ", please"))
	if !ok {
		k.p.Fatalf("no request with the prompt %s", word)
	}
	k.lines = append(k.lines, lines...)
	got := plain(standin.Lines(standin.History(request)))
	if !slices.Equal(got, k.lines) {
		k.p.Fatalf("with %s the model was sent\n%s\nwant\n%s", word, strings.Join(got, "\n"), strings.Join(k.lines, "\n"))
	}
	k.lines = append(k.lines, "assistant: "+word+" done")
	data, err := os.ReadFile(filepath.Join(k.workspace, word+".txt"))
	if err != nil || string(data) != word+" in "+k.mission+"\n" {
		k.p.Fatalf("%s.txt of %s holds %q, %v", word, k.mission, data, err)
	}
	k.ends = append(k.ends, moment{lines: len(k.lines), files: files(k.p.T, k.workspace)})
}

// plain drops the words that versions put behind a written file's name, and
// what Codex tells of the command beside its output.
func plain(lines []string) []string {
	for i, line := range lines {
		line = codexTells.ReplaceAllString(line, "result: ")
		lines[i] = line
		if rest, ok := strings.CutPrefix(line, createdIn); ok {
			name, _, _ := strings.Cut(rest, " ")
			lines[i] = createdIn + name
		}
	}
	return lines
}

// history checks the addresses of a mission's snapshots, newest first, and the
// files at the end of each turn.
func (k *talk) history(want ...string) {
	k.p.Helper()
	var got []string
	for _, e := range asked[[]entry](k.p, "log", k.mission) {
		got = append(got, strings.TrimPrefix(e.Address, k.mission)+" "+strings.Join(e.Triggers, "+"))
		if e.Partial {
			k.p.Errorf("snapshot %s is partial", e.Address)
		}
	}
	if !slices.Equal(got, want) {
		k.p.Errorf("the log of %s is\n%s\nwant\n%s", k.mission, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
