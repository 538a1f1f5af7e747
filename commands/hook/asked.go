package hook

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
)

// askedVerbs are the commands that can be typed in an agent, and the verbs that
// carry them out.
var askedVerbs = map[string][]string{
	"list": {"log"}, "log": {"log"}, "show": {"show"}, "diff": {"diff"}, "restore": {"restore"},
	"undo": {"undo"}, "redo": {"redo"}, "pins": {"pins"}, "status": {"status"},
}

const askedHelp = `/checkpoint                       take a snapshot now
/checkpoint NAME                  take one and name it
/checkpoint list [-n N]           the snapshots, newest first
/checkpoint show MOMENT           one of them
/checkpoint diff [FROM] [TO]      what changed
/checkpoint restore MOMENT        put files and conversation back
/checkpoint undo · redo           take a restore back, do it again
/checkpoint pins · status
A MOMENT is what the list begins with, such as 2 or 2.0, or a name.
Each takes the flags of its command in a shell: umbra help restore.`

// How much of an answer an agent is given to show, and how long it may take: the
// agent ends a hook after 15 seconds.
const (
	mostAskedLines = 100
	mostAskedBytes = 8000
	askedPatience  = 12 * time.Second
	askedList      = "15" // snapshots in a list
)

// answerAsked carries out what was typed in an agent, as in a shell where the
// mission's agent runs, and prints the answer for the agent.
func answerAsked(env call.Env, agent string, r missions.HookResult) error {
	answer := cutAnswer(carryOut(env, r))
	_, err := env.Stdout.Write(events.CommandReply(agent, answer))
	return err
}

// carryOut runs the verb that was asked for, and gives what it says.
func carryOut(env call.Env, r missions.HookResult) string {
	words := askedWords(r.Asked.Words)
	if len(words) > 0 && words[0] == "help" {
		return askedHelp
	}
	if isAboutSideForks(words) {
		args := sideArgs(words, r.Mission)
		if args == nil {
			return sideHelp
		}
		_, said := runAsked(env, r.Mission, args, time.Now().Add(askedPatience))
		return sideHints(said)
	}
	args, done := askedArgs(words)
	until := time.Now().Add(askedPatience)
	if args[0] == "log" {
		if said, ok := askedLog(env, r.Mission, args, until); ok {
			return said
		}
	}
	code, said := runAsked(env, r.Mission, args, until)
	if code != 0 || changing(args[0]) {
		said = askedHints().ReplaceAllString(said, "/checkpoint $1")
	}
	switch {
	case code == 0 && done != "":
		return done + " " + said
	case said == "":
		return "nothing to show"
	}
	return said
}

// askedHints are the commands that an answer says are to be typed, and that can be
// typed in the agent.
var askedHints = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bumbra (` + strings.Join(slices.Sorted(maps.Keys(askedVerbs)), "|") + `)\b`)
})

// changing reports whether a verb's answer is Umbra's own words, and not also what an
// agent or its user has written.
func changing(verb string) bool { return verb == "restore" || verb == "undo" || verb == "redo" }

// askedWords splits what was typed at spaces that are in no quotes.
func askedWords(typed string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	within := false
	for _, c := range typed {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && !within:
			quote, within = c, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if within {
				words = append(words, word.String())
				word.Reset()
			}
			within = false
		default:
			word.WriteRune(c)
			within = true
		}
	}
	if within {
		words = append(words, word.String())
	}
	return words
}

var pinName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

// askedArgs is the command line for what was typed. What is no command is the
// name of a snapshot, or what it is if it is more than a name; then done says
// what was done, before the id that is printed.
func askedArgs(words []string) (args []string, done string) {
	if len(words) > 0 {
		if verb, ok := askedVerbs[words[0]]; ok {
			args = append(slices.Clone(verb), askedMoments(verb[0], words[1:])...)
			if verb[0] == "log" && !slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-n") }) {
				args = append(args, "-n", askedList)
			}
			return args, ""
		}
	}
	switch name := strings.Join(words, " "); {
	case name == "":
		return []string{"snapshot"}, "snapshot"
	case pinName().MatchString(name):
		return []string{"snapshot", "--pin", name}, "snapshot " + name
	default:
		return []string{"snapshot", "-m", name}, "snapshot"
	}
}

// askedMoment is an address of the agent's mission without its @, at which agents
// offer files to complete. Four digits may be the beginning of an id.
var askedMoment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?[0-9]{1,3}(\.[0-9]+)?|start|fork)$`) })

// askedMoments gives back the @ to the moments that a verb takes.
func askedMoments(verb string, words []string) []string {
	out := slices.Clone(words)
	if verb != "show" && verb != "diff" && verb != "restore" {
		return out
	}
	for i, word := range out {
		switch {
		case word == "--":
			return out
		case i > 0 && slices.Contains([]string{"--path", "--mission", "--turn"}, out[i-1]):
		case askedMoment().MatchString(word):
			out[i] = "@" + word
		}
	}
	return out
}

// runAsked runs umbra within this process, with the agent's mission for the
// default one, nothing on stdin and no terminal.
func runAsked(env call.Env, mission string, args []string, until time.Time) (code int, said string) {
	var out bytes.Buffer
	getenv, notify := env.Getenv, env.Notify
	in := env
	in.Args, in.Stdin, in.Stdout, in.Stderr = args, strings.NewReader(""), &out, &out
	in.IsTerminal = func(any) bool { return false }
	in.Began, in.Hangs = time.Time{}, false
	in.Getenv = func(name string) string {
		if name == "UMBRA_MISSION" {
			return mission
		}
		return getenv(name)
	}
	// An agent that is ended by what it asked for may take its hook along: what has
	// begun is finished. Time alone interrupts it.
	var timer *time.Timer
	in.Notify = func(ch chan<- os.Signal, signals ...os.Signal) {
		notify(make(chan os.Signal, 1), signals...)
		if timer == nil {
			timer = time.AfterFunc(time.Until(until), func() { ch <- os.Interrupt })
		}
	}
	code = env.Again(in)
	if timer != nil && !timer.Stop() {
		out.WriteString("It took longer than an agent waits for an answer: type it in a shell.\n")
	}
	return code, strings.TrimRight(out.String(), "\n")
}

// mostAskedMessage is how much of a snapshot's message a list has, in columns:
// an agent breaks long lines.
const mostAskedMessage = 56

// askedLog is the log in lines that an agent's screen has room for, with
// addresses as askedMoments takes them. It is false if there is no log.
func askedLog(env call.Env, mission string, args []string, until time.Time) (said string, ok bool) {
	var list []missions.Entry
	code, out := runAsked(env, mission, append(slices.Clone(args), "--json"), until)
	if code != 0 || json.Unmarshal([]byte(out), &list) != nil {
		return "", false
	}
	var b strings.Builder
	p := print.To(&b)
	p.Now = env.Now()
	var t print.Table
	for _, e := range list {
		message := print.Clean(e.Message)
		for _, pin := range e.Pins {
			message = "[" + pin + "] " + message
		}
		t.Row(print.Cyan.Cell(strings.TrimPrefix(print.Clean(e.Address), e.MissionName+"@")), print.Dim.Cell(print.Age(p.Now.Sub(e.At))),
			wording.ChangesStyle(e).Cell(wording.Changes(e)), print.Plain.Cell(print.Cut(message, mostAskedMessage)))
	}
	t.Print(p, "")
	ok = p.Flush() == nil && len(list) > 0
	return strings.TrimRight(b.String(), "\n"), ok
}

// cutAnswer is as much of an answer as an agent is given.
func cutAnswer(said string) string {
	cut := said
	if lines := strings.SplitAfterN(cut, "\n", mostAskedLines+1); len(lines) > mostAskedLines {
		cut = strings.Join(lines[:mostAskedLines], "")
	}
	if len(cut) > mostAskedBytes {
		cut = cut[:strings.LastIndexByte(cut[:mostAskedBytes], '\n')+1]
	}
	if cut == said {
		return said
	}
	return cut + "… and more: the same command in a shell shows it all"
}
