// Command record makes the fixtures of sessions/codex anew: it talks to the
// pinned Codex, whose model is the stand-in server, and writes its rollouts and
// what its hooks were told to the directory it is given. Long instructions of
// Codex's own are left out. The client runs in directories below /tmp/dev, which
// must not exist, so that fixtures name nobody's.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

const place = "/tmp/dev"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: record DIRECTORY (sessions/codex/testdata/0.169.0)")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// said are the turns of each conversation: the first begins it, the others
// resume it.
var said = []struct {
	name  string
	turns []string
}{
	{"talk", []string{
		`first PLATYPUS [[say hello]] [[tool name=apply_patch input="\"*** Begin Patch\\n*** Add File: notes.txt\\n+one\\n*** End Patch\\n\""]] [[bash cmd="pwd; cat ` + place + `/w/notes.txt"]]`,
		`second [[think of ` + place + `/w]] [[bash cmd="echo par"]] [[parallel]] [[bash cmd="exit 3"]] [[tool name=apply_patch input="\"*** Begin Patch\\n*** Update File: ` + place + `/w/none.txt\\n@@\\n-x\\n+y\\n*** End Patch\\n\""]] [[say written]]`,
		`third [[say it is in ` + place + `/w/notes.txt]]`,
	}},
	{"failed", []string{`begin [[say begun]]`, `fail [[bash cmd="echo x"]] [[fail 400 no such model]]`}},
	{"interrupted", []string{`begin [[say begun]]`, `wait [[bash cmd="kill -INT $PPID; sleep 20"]]`}},
}

func run(ctx context.Context, out string) error {
	client, err := clients.Install(ctx, "codex", clients.CodexCurrent)
	if err != nil {
		return err
	}
	server, err := standin.Start(standin.Options{})
	if err != nil {
		return err
	}
	defer server.Close()
	if err := os.Mkdir(place, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(place)
	home, workspace := filepath.Join(place, "h"), filepath.Join(place, "w")
	if err := errors.Join(os.Mkdir(home, 0o755), os.Mkdir(workspace, 0o755), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	if err := client.Prepare(home, server.URL, workspace); err != nil {
		return err
	}
	if err := listen(home); err != nil {
		return err
	}
	r := &recorder{ctx: ctx, client: client, env: client.Env(home, server.URL), home: home, workspace: workspace, out: out}
	for _, talk := range said {
		if err := r.talk(talk.name, talk.turns); err != nil {
			return fmt.Errorf("%s: %w", talk.name, err)
		}
	}
	if err := r.fork(); err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	hooks, err := os.ReadFile(filepath.Join(home, "hooks.jsonl"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "hooks.jsonl"), hooks, 0o644)
}

// listen installs a hook that keeps what every event says, a line each.
func listen(home string) error {
	var events []string
	for _, name := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "Interrupt", "SessionEnd"} {
		events = append(events, fmt.Sprintf(`"%s":[{"hooks":[{"type":"command","command":"said=$(cat); printf '%%s\\n' \"$said\" >> %s/hooks.jsonl"}]}]`, name, home))
	}
	return os.WriteFile(filepath.Join(home, ".codex", "hooks.json"), []byte(`{"hooks":{`+strings.Join(events, ",")+`}}`), 0o600)
}

type recorder struct {
	ctx                  context.Context
	client               clients.Client
	env                  []string
	home, workspace, out string
	first                string // the id of the first conversation
}

func (r *recorder) codex(args ...string) {
	cmd := exec.CommandContext(r.ctx, r.client.Path, append([]string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"}, args...)...)
	cmd.Dir, cmd.Env = r.workspace, r.env
	_ = cmd.Run() // a turn that is to fail does; what was recorded tells
}

func (r *recorder) talk(name string, turns []string) error {
	before, err := r.rollouts()
	if err != nil {
		return err
	}
	r.codex(turns[0])
	file, err := r.added(before)
	if err != nil {
		return err
	}
	id := file[len(file)-len("00000000-0000-0000-0000-000000000000.jsonl") : len(file)-len(".jsonl")]
	if r.first == "" {
		r.first = id
	}
	for _, turn := range turns[1:] {
		r.codex("resume", id, turn)
	}
	return r.keep(file, name)
}

// fork lets Codex itself fork the first conversation.
func (r *recorder) fork() error {
	before, err := r.rollouts()
	if err != nil {
		return err
	}
	r.codex("fork", r.first, "fourth [[say forked]]")
	file, err := r.added(before)
	if err != nil {
		return err
	}
	return r.keep(file, "thin")
}

func (r *recorder) rollouts() ([]string, error) {
	return filepath.Glob(filepath.Join(r.home, ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
}

func (r *recorder) added(before []string) (string, error) {
	after, err := r.rollouts()
	if err != nil {
		return "", err
	}
	if len(after) != len(before)+1 {
		return "", fmt.Errorf("%d rollouts became %d", len(before), len(after))
	}
	for i := range before {
		if before[i] != after[i] {
			return after[i], nil
		}
	}
	return after[len(before)], nil
}

// keep copies a rollout without the long texts that are Codex's own.
func (r *recorder) keep(file, name string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		out.Write(elide(line))
	}
	return os.WriteFile(filepath.Join(r.out, name+".jsonl"), out.Bytes(), 0o644)
}

// elide cuts every string of a line that is longer than any the talk makes.
func elide(line []byte) []byte {
	const most = 700
	var out []byte
	for i := 0; i < len(line); {
		if line[i] != '"' {
			out = append(out, line[i])
			i++
			continue
		}
		end := i + 1
		for line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if word := line[i : end+1]; len(word) <= most {
			out = append(out, word...)
		} else {
			out = append(out, `"(left out)"`...)
		}
		i = end + 1
	}
	return out
}
