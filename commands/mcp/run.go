package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// A line is a command line of Umbra's, without the program's name, and what it reads on
// stdin.
type line struct {
	words []string
	stdin string
}

func command(words ...string) line { return line{words: words} }

// with adds a flag that has a value, unless that is empty. The value can't be taken for a
// flag.
func (l line) with(flag, value string) line {
	if value != "" {
		l.words = append(slices.Clip(l.words), "--"+flag+"="+value)
	}
	return l
}

// when adds a word if it is asked for.
func (l line) when(asked bool, word string) line {
	if asked {
		l.words = append(slices.Clip(l.words), word)
	}
	return l
}

// then adds arguments that are not empty.
func (l line) then(arguments ...string) line {
	for _, a := range arguments {
		l = l.when(a != "", a)
	}
	return l
}

// after adds what follows "--".
func (l line) after(words []string) line {
	if len(words) > 0 {
		l.words = append(append(slices.Clip(l.words), "--"), words...)
	}
	return l
}

// notFlags refuses names that the command line would take for flags.
func notFlags(names ...string) error {
	for _, n := range names {
		if strings.HasPrefix(n, "-") {
			return missions.Errorf(missions.KindUsage, "missions and timeline list them", "%q names no mission and no moment", n)
		}
	}
	return nil
}

// An outcome is what a command line has printed, and its exit code.
type outcome struct {
	out, notes kept
	code       int
}

// kept is the beginning of what was printed, and how much that was.
type kept struct {
	buffer bytes.Buffer
	most   int // of bytes, 0 for all
	length int
	binary bool // as Git tells
}

func (k *kept) Write(p []byte) (int, error) {
	k.length += len(p)
	k.binary = k.binary || bytes.IndexByte(p, 0) >= 0
	keep := p
	if k.most > 0 {
		keep = p[:min(len(p), max(0, k.most-k.buffer.Len()))]
	}
	_, _ = k.buffer.Write(keep) // a Buffer takes all
	return len(p), nil
}

// text is what was printed, as text, and how much was cut off. What is cut off is no half
// of a character.
func (k *kept) text() string {
	p := k.buffer.Bytes()
	rest := k.length - len(p)
	if rest == 0 {
		return strings.ToValidUTF8(string(p), "\uFFFD")
	}
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if last := p[len(p)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				p = p[:len(p)-back]
			}
			break
		}
	}
	return fmt.Sprintf("%s\n… and %d bytes more: ask for less at once", strings.ToValidUTF8(string(p), "\uFFFD"), rest)
}

// cut is what an agent is given of a text.
func cut(text string) string {
	k := kept{most: mostText}
	_, _ = k.Write([]byte(text)) // it takes all
	return k.text()
}

// run runs a command line in this process, as that of a mission: "" for the one that the
// server's environment names. It keeps as much of what is printed as an agent is given.
func (s *server) run(ctx context.Context, mission string, l line) outcome {
	return s.runKeeping(ctx, mission, l, mostText)
}

// runKeeping is run that keeps so many bytes of what is printed; 0 is all.
func (s *server) runKeeping(ctx context.Context, mission string, l line, most int) outcome {
	o := outcome{out: kept{most: most}, notes: kept{most: most}}
	env := s.call.Within(ctx, l.words, strings.NewReader(l.stdin), &o.out, &o.notes)
	if mission != "" {
		env = named(env, mission)
	}
	o.code = env.Again(env)
	return o
}

// variable names a mission to the commands that its agent runs.
const variable = "UMBRA_MISSION"

// named is the world of a command that the agent of a mission runs.
func named(env call.Env, mission string) call.Env {
	getenv, environ := env.Getenv, env.Environ
	env.Getenv = func(name string) string {
		if name == variable {
			return mission
		}
		return getenv(name)
	}
	env.Environ = func() []string {
		others := slices.DeleteFunc(slices.Clone(environ()), func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
		return append(others, variable+"="+mission)
	}
	return env
}

// mostText is how much of what a command prints an agent is given.
const mostText = 64 << 10

// failed reports whether the command did not do what it was asked to.
func (o *outcome) failed() bool { return o.code != 0 && o.code != int(call.Partly) }

// text is what the agent reads: the result, and what was said beside it.
func (o *outcome) text() string {
	if o.out.binary {
		return fmt.Sprintf("%d bytes that are no text", o.out.length)
	}
	return cmp.Or(paragraphs(o.out.text(), o.said()), "done")
}

// said is what was said beside the result. An error that is JSON, as the command line asked
// for, is put in words.
func (o *outcome) said() string {
	notes := strings.TrimRight(o.notes.text(), "\n")
	start := strings.LastIndex(notes, "\n") + 1
	var printed struct{ Error *missions.Error }
	if !o.failed() || json.Unmarshal([]byte(notes[start:]), &printed) != nil || printed.Error == nil {
		return notes
	}
	return notes[:start] + inWords(printed.Error)
}

// paragraphs puts an empty line between texts that are not empty.
func paragraphs(texts ...string) string {
	for i, t := range texts {
		texts[i] = strings.TrimRight(t, "\n")
	}
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")
}
