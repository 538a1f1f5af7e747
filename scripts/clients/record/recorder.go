package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

const place = "/tmp/dev"

// A talk is a conversation: the first turn begins it, the others resume it.
type talk struct {
	name  string
	turns []string
}

func talks(a agent) []talk {
	return []talk{
		{"talk", []string{
			`first PLATYPUS [[say hello]] ` + a.write + ` [[bash cmd="pwd; cat ` + place + `/w/notes.txt"]]`,
			`second [[think of ` + place + `/w]] [[bash cmd="echo par"]] [[parallel]] [[bash cmd="exit 3"]] ` + a.fail + ` [[say written]]`,
			`third [[say it is in ` + place + `/w/notes.txt]]`,
		}},
		{"failed", []string{`begin [[say begun]]`, `fail [[bash cmd="echo x"]] [[fail 400 no such model]]`}},
		{"interrupted", []string{`begin [[say begun]]`, `wait [[bash cmd="` + cmp.Or(a.stop, "kill -INT $PPID") + `; sleep 20"]]`}},
	}
}

type recorder struct {
	agent
	client          clients.Client
	env             []string
	home, workspace string
	out             string
}

// record has an agent's talks, and keeps them in a directory.
func record(ctx context.Context, a agent, out string) error {
	client, err := clients.Install(ctx, a.name, a.version)
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
	r := &recorder{agent: a, client: client, home: filepath.Join(place, "h"), workspace: filepath.Join(place, "w"), out: out}
	if err := errors.Join(os.Mkdir(r.home, 0o755), os.Mkdir(r.workspace, 0o755)); err != nil {
		return err
	}
	if err := client.Prepare(r.home, server.URL, r.workspace); err != nil {
		return err
	}
	if err := a.listen(r.home, hear(r.home)); err != nil {
		return err
	}
	r.env = append(client.Env(r.home, server.URL), "PWD="+r.workspace)
	return r.all(ctx)
}

func (r *recorder) all(ctx context.Context) error {
	first := ""
	for _, t := range talks(r.agent) {
		id, err := r.talk(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if first == "" {
			first = id
		}
	}
	if r.fork != nil {
		if err := r.forked(ctx, first); err != nil {
			return fmt.Errorf("forked: %w", err)
		}
	}
	return r.keep(filepath.Join(r.home, "hooks.jsonl"), "hooks")
}

func (r *recorder) talk(ctx context.Context, t talk) (id string, err error) {
	file, err := r.begun(ctx, r.begin, t.turns[0])
	if err != nil {
		return "", err
	}
	id = r.id(file)
	for _, prompt := range t.turns[1:] {
		r.turn(ctx, of(r.resume, id), prompt)
	}
	return id, r.keep(r.newest(id, file), t.name)
}

// forked lets the client itself fork a conversation.
func (r *recorder) forked(ctx context.Context, id string) error {
	file, err := r.begun(ctx, of(r.fork, id), "fourth [[say forked]]")
	if err != nil {
		return err
	}
	return r.keep(file, "forked")
}

// of is the words of a command line for a session.
func of(words []string, id string) []string {
	words = slices.Clone(words)
	words[slices.Index(words, "ID")] = id
	return words
}

// begun has a turn that begins a session, and returns its file.
func (r *recorder) begun(ctx context.Context, words []string, prompt string) (string, error) {
	before := r.files()
	said := r.turn(ctx, words, prompt)
	var added []string
	for _, file := range r.files() {
		if !slices.Contains(before, file) {
			added = append(added, file)
		}
	}
	if len(added) != 1 {
		return "", fmt.Errorf("the turn %q began the sessions %q; the client said\n%s", prompt, added, said)
	}
	return added[0], nil
}

func (r *recorder) files() []string {
	files, _ := filepath.Glob(filepath.Join(r.home, filepath.FromSlash(r.sessions)))
	return files
}

// newest is the file of a session now: Gemini CLI goes on in another.
func (r *recorder) newest(id, file string) string {
	at := time.Time{}
	for _, name := range r.files() {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(at) && r.id(name) == id {
			file, at = name, info.ModTime()
		}
	}
	return file
}

func (r *recorder) turn(ctx context.Context, words []string, prompt string) (said []byte) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(2*time.Minute))
	defer cancel()
	words = slices.Clone(words)
	if !r.stdin {
		words = append(words, prompt)
	}
	cmd := exec.CommandContext(ctx, r.client.Path, words...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.workspace, r.env, 10*time.Second
	if r.stdin {
		cmd.Stdin = strings.NewReader(prompt)
	}
	said, _ = cmd.CombinedOutput() // a turn that is to fail does; what was recorded tells
	return said
}

// keep copies a file of lines without the long texts that are the client's own.
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
