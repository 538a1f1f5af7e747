package commands

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
)

// invocation is a command line put in order: urfave/cli sees flags only before
// the first argument, drops `--`, and knows no flag that stands before its
// command's name.
type invocation struct {
	verb    *verb
	path    []string // the verb's names from the root
	globals []string // --name=value
	flags   []string // --name=value, of the verb
	args    []string
	after   []string // what followed `--`, if the verb keeps it apart
	dashed  bool     // there was a `--`
	help    bool
	version bool
	// concepts: help was asked for what the words mean.
	concepts bool
}

// pass is the one reading of a command line, driven by the tables of flags.
type pass struct {
	verbs   []*verb
	globals []cli.Flag
	words   []string
	given   map[string]string
	invocation
}

// arrange puts a command line in order.
func arrange(verbs []*verb, globals []cli.Flag, words []string) (invocation, error) {
	p := pass{verbs: verbs, globals: globals, words: words, given: map[string]string{}}
	for len(p.words) > 0 {
		w := p.words[0]
		p.words = p.words[1:]
		if w == "--" {
			p.dashed = true
			break
		}
		var err error
		if len(w) > 1 && w[0] == '-' {
			err = p.flag(w)
		} else {
			err = p.word(w)
		}
		if err != nil {
			return p.invocation, err
		}
	}
	if p.verb != nil && p.verb.after != "" {
		p.after = p.words
	} else {
		p.args = append(p.args, p.words...)
	}
	return p.invocation, p.complete()
}

// word takes in the name of a verb, or an argument.
func (p *pass) word(w string) error {
	if p.verb == nil {
		if w == "help" {
			p.help = true
			return nil
		}
		if w == "concepts" && p.help {
			p.concepts = true
			return nil
		}
		if p.verb = find(p.verbs, w); p.verb == nil {
			return unknownVerb("umbra", p.verbs, w)
		}
		p.path = append(p.path, p.verb.name)
		return nil
	}
	if len(p.verb.verbs) > 0 && len(p.args) == 0 {
		if sub := find(p.verb.verbs, w); sub != nil {
			p.verb, p.path = sub, append(p.path, sub.name)
			return nil
		}
		if p.verb.run == nil {
			return unknownVerb(p.name(), p.verb.verbs, w)
		}
	}
	p.args = append(p.args, w)
	return nil
}

// flag takes in a word that begins with a dash, and its value.
func (p *pass) flag(w string) error {
	name, value, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
	if !strings.HasPrefix(w, "--") && len(name) > 1 {
		// -n5, as Git has it; a long name with one dash is a mistake.
		if f := p.find(name[:1]); f != nil && takesValue(f) {
			name, value, valued = name[:1], strings.TrimPrefix(w, "-"+name[:1]), true
		} else {
			return p.unknownFlag(w)
		}
	}
	if name == "version" && p.verb == nil && !valued {
		p.version = true
		return nil
	}
	f := p.find(name)
	if f == nil {
		return p.unknownFlag(w)
	}
	switch {
	case takesValue(f) && !valued:
		if len(p.words) == 0 || p.words[0] == "--" {
			return missions.Errorf(missions.KindUsage, p.seeHelp(), "%s needs a value", dashed(name))
		}
		value, p.words = p.words[0], p.words[1:]
	case !takesValue(f) && !valued:
		value = "true"
	}
	err := checkValue(f, dashed(name), value)
	if err == nil && (p.verb == nil || !p.verb.hidden) {
		err = checkEmpty(f, dashed(name), value)
	}
	if err != nil {
		return err
	}
	return p.set(f, value)
}

func (p *pass) set(f cli.Flag, value string) error {
	name := f.Names()[0]
	if old, twice := p.given[name]; twice && old != value && !repeats(f) {
		return missions.Errorf(missions.KindUsage, "give it once", "%s is given twice: %q and %q", dashed(name), old, value)
	} else if twice && !repeats(f) {
		return nil
	}
	p.given[name] = value
	word := "--" + name + "=" + value
	if flag(p.globals, name) == f {
		p.globalsGiven(word)
	} else {
		p.flags = append(p.flags, word)
	}
	return nil
}

func (p *pass) globalsGiven(word string) {
	if strings.HasPrefix(word, "--help=") { // urfave/cli has a help of its own for that name
		p.help = word == "--help=true"
		return
	}
	p.invocation.globals = append(p.invocation.globals, word)
}

func (p *pass) find(name string) cli.Flag {
	if f := flag(p.globals, name); f != nil {
		return f
	}
	if p.verb == nil {
		return nil
	}
	return flag(p.verb.flags, name)
}

// complete checks what can only be known at the end.
func (p *pass) complete() error {
	v := p.verb
	switch {
	case v == nil || p.help:
		return nil
	case v.run == nil:
		return missions.Errorf(missions.KindUsage, p.seeHelp(), "%s needs one of: %s", p.name(), names(v.verbs))
	case len(p.args) < v.min:
		return missions.Errorf(missions.KindUsage, "usage: "+usage(p.path, v), "%s needs %s", p.name(), missing(v.args, len(p.args)))
	case v.max == 0 && len(p.args) > 0:
		return missions.Errorf(missions.KindUsage, "usage: "+usage(p.path, v), "%s takes no argument, and got %q", p.name(), p.args[0])
	case v.max > 0 && len(p.args) > v.max:
		return missions.Errorf(missions.KindUsage, "usage: "+usage(p.path, v), "%s takes no more than %d, and got %q too", p.name(), v.max, p.args[v.max])
	case !strings.Contains(v.args, "VALUE") && slices.Contains(p.args, ""):
		return missions.Errorf(missions.KindUsage, "usage: "+usage(p.path, v), "%s was given an empty argument, which names nothing", p.name())
	}
	return nil
}

func (p *pass) name() string { return strings.Join(append([]string{"umbra"}, p.path...), " ") }

func (p *pass) seeHelp() string { return p.name() + " --help" }

func (p *pass) unknownFlag(w string) error {
	name, _, _ := strings.Cut(w, "=")
	var known []string
	for _, f := range p.globals {
		known = append(known, f.Names()...)
	}
	if p.verb != nil {
		for _, f := range p.verb.flags {
			known = append(known, f.Names()...)
		}
	}
	hint := p.seeHelp()
	if near := addresses.NearestWord(strings.TrimLeft(name, "-"), known); near != "" {
		hint = "did you mean " + dashed(near) + "?"
	}
	if p.verb == nil {
		return missions.Errorf(missions.KindUsage, hint+" (a command's flags come after its name)", "unknown flag %s", name)
	}
	return missions.Errorf(missions.KindUsage, hint, "unknown flag %s of %s", name, p.name())
}

func unknownVerb(of string, verbs []*verb, w string) error {
	var known []string
	for _, v := range verbs {
		if !v.hidden {
			known = append(known, v.name)
		}
		if v.alias != "" {
			known = append(known, v.alias)
		}
	}
	hint := of + " --help"
	if near := addresses.NearestWord(w, known); near != "" {
		hint = "did you mean " + of + " " + near + "?"
	}
	return missions.Errorf(missions.KindUsage, hint, "%s has no command %q", of, w)
}

// missing is the part of a synopsis that was not given.
func missing(synopsis string, given int) string {
	fields := strings.Fields(synopsis)
	return strings.Join(fields[min(given, len(fields)):], " ")
}

// checkValue refuses a value that its flag can't hold.
func checkValue(f cli.Flag, name, value string) error {
	switch f.(type) {
	case *cli.BoolFlag:
		if value != "true" && value != "false" {
			return missions.Errorf(missions.KindUsage, "give it without a value", "%s is %q", name, value)
		}
	case *cli.IntFlag:
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return missions.Errorf(missions.KindUsage, "for example "+name+" 3", "%s is %q, which is no number", name, value)
		}
	case *cli.DurationFlag:
		if d, err := time.ParseDuration(value); err != nil || d < 0 {
			return missions.Errorf(missions.KindUsage, "for example "+name+" 90s, 5m or 2h", "%s is %q, which is no duration", name, value)
		}
	}
	return nil
}

// checkEmpty refuses a path, a name or a number that names nothing, such as the value of
// a variable that is not set: without it the command would mean everything. Texts may
// be empty.
func checkEmpty(f cli.Flag, name, value string) error {
	switch known := f.Names()[0]; f.(type) {
	case *cli.StringFlag, *cli.StringSliceFlag:
		if known != "prompt" && known != "m" && strings.TrimSpace(value) == "" {
			return missions.Errorf(missions.KindUsage, "give it a value, or leave it out", "%s is empty", name)
		}
	case *cli.IntFlag:
		if n, _ := strconv.Atoi(value); known != "width" && n == 0 {
			return missions.Errorf(missions.KindUsage, "give a number from 1 on", "%s is 0", name)
		}
	case *cli.DurationFlag:
		if d, _ := time.ParseDuration(value); strings.HasSuffix(known, "timeout") && d == 0 {
			return missions.Errorf(missions.KindUsage, "give it a time, such as 90s, or leave it out", "%s is 0: that is no time to wait", name)
		}
	}
	return nil
}

func usageError(name string, err error) error {
	return missions.Errorf(missions.KindUsage, "umbra "+name+" --help", "%w", err)
}
