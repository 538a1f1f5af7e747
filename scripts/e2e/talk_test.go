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
	return p.talk(name)
}

// talk is the conversation of a mission in the repository in which nothing was
// said yet.
func (p *person) talk(name string) *talk {
	p.Helper()
	return &talk{p: p, mission: name, workspace: p.repo, ends: []moment{{files: files(p.T, p.repo)}}}
}

// forked is the talk of a fork from that turn: what was said up to then, with
// the workspace's path for the source's.
func (k *talk) forked(name string, turn int) *talk {
	k.p.Helper()
	return k.forkedBy(k.p, name, turn)
}

// forkedBy is forked of another person's fork.
func (k *talk) forkedBy(q *person, name string, turn int) *talk {
	k.p.Helper()
	f := &talk{p: q, mission: name, workspace: q.mission(name).Workspace, ends: slices.Clone(k.ends[:turn+1])}
	for _, line := range k.lines[:k.ends[turn].lines] {
		f.lines = append(f.lines, strings.ReplaceAll(line, k.workspace, f.workspace))
	}
	return f
}

// prompt is a turn that writes a new file, changes a tracked one and says where
// it is: the prompt, and what the model is sent of it, but for the answer.
func (k *talk) prompt(word string) (prompt string, lines []string) {
	name, written := word+".txt", word+" in "+k.mission+"\n"
	shell := fmt.Sprintf("echo %s >> state.txt; pwd; cat %s", word, name)
	write, calls := k.p.speaks().turn(k, name, written, shell)
	prompt = fmt.Sprintf("%s, please %s [[bash cmd=%q]] [[say %s done]]", word, write, shell, word)
	return prompt, append([]string{"user: " + prompt}, calls...)
}

// args is the command line of one turn of Claude Code without a terminal.
func args(prompt string) []string {
	return []string{"--", "claude", "-p", prompt, "--dangerously-skip-permissions"}
}

// say has one turn without a terminal, launched by umbra, or by args by hand, and
// checks what it was answered, what the model was sent and what the turn did.
func (k *talk) say(word string, args ...string) {
	k.p.Helper()
	d := k.p.speaks()
	if len(args) == 0 {
		args = slices.Concat([]string{"umbra", "mission", "resume", k.mission, "--"}, d.headless)
	}
	prompt, lines := k.prompt(word)
	out := d.ask(k, args, prompt)
	if out.code != 0 || !strings.HasSuffix(strings.TrimSpace(out.stdout), word+" done") {
		k.p.Fatalf("%s was answered: %s", word, out)
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
	got := k.p.plain(request)
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

// ended checks how the mission's newest snapshots of the ends of turns came, newest
// first: "@2 idle", or "@2 error".
func (k *talk) ended(want ...string) {
	k.p.Helper()
	var got []string
	for _, e := range asked[[]entry](k.p, "log", k.mission) {
		if how := strings.Join(e.Triggers, "+"); how == "idle" || how == "error" {
			got = append(got, strings.TrimPrefix(e.Address, k.mission)+" "+how)
		}
	}
	if !slices.Equal(got, want) {
		k.p.Errorf("the turns of %s ended\n%s\nwant\n%s", k.mission, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// turn has one turn of a mission without a terminal, and returns the last request
// with that prompt; none for a command of Claude Code's own.
func (p *person) turn(name, word, prompt string) standin.Request {
	p.Helper()
	p.umbra(append([]string{"mission", "resume", name}, args(prompt)...)...)
	request, ok := p.server.Last(standin.Prompted(word))
	if !ok && word[0] != '/' {
		p.Fatalf("no request with %s", word)
	}
	return request
}

// goesOn has a turn of a mission without a terminal, and returns what the model was
// sent.
func (p *person) goesOn(name string) standin.Request {
	p.Helper()
	d := p.speaks()
	k := &talk{p: p, mission: name, workspace: p.mission(name).Workspace}
	out := d.ask(k, slices.Concat([]string{"umbra", "mission", "resume", name, "--"}, d.headless), name+" goes on [[say well]]")
	request, ok := p.server.Last(standin.Prompted(name + " goes on"))
	if out.code != 0 || !ok {
		p.Fatalf("the model was asked: %t; %s", ok, out)
	}
	return request
}

// sees checks what a request carries of the conversation.
func (p *person) sees(r standin.Request, has []string, not ...string) {
	p.Helper()
	lines := strings.Join(p.plain(r), "\n")
	for _, text := range has {
		if !strings.Contains(lines, text) {
			p.Errorf("the model was not sent %q, but\n%s", text, lines)
		}
	}
	for _, text := range not {
		if strings.Contains(lines, text) {
			p.Errorf("the model was sent %q\n%s", text, lines)
		}
	}
}
