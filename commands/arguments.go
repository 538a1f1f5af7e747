package commands

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
)

// invocation is a command line put in order: urfave/cli sees flags only before
// the first argument, drops `--`, and knows no flag that stands before its
// command's name.
type invocation struct {
	verb    *call.Verb
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
	verbs   []*call.Verb
	globals []flags.Flag
	words   []string
	given   map[string]string
	invocation
}

// arrange puts a command line in order.
func arrange(verbs []*call.Verb, globals []flags.Flag, words []string) (invocation, error) {
	p := pass{verbs: verbs, globals: globals, words: words, given: map[string]string{}}
	for len(p.words) > 0 && !p.dashed {
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
	if p.verb != nil && p.verb.After != "" {
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
		if p.verb = call.Find(p.verbs, w); p.verb == nil {
			return unknownVerb("umbra", p.verbs, w)
		}
		p.path = append(p.path, p.verb.Name)
		return nil
	}
	if len(p.verb.Verbs) > 0 && len(p.args) == 0 {
		if sub := call.Find(p.verb.Verbs, w); sub != nil {
			p.verb, p.path = sub, append(p.path, sub.Name)
			return nil
		}
		if p.verb.Run == nil {
			return unknownVerb(p.name(), p.verb.Verbs, w)
		}
	}
	if p.verb.Begins != nil && p.verb.Begins(w) {
		p.dashed, p.words = true, append([]string{w}, p.words...)
		return nil
	}
	p.args = append(p.args, w)
	return nil
}

// flag takes in a word that begins with a dash, and its value.
func (p *pass) flag(w string) error {
	name, value, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
	if !strings.HasPrefix(w, "--") && len(name) > 1 {
		// -n5, as Git has it; a long name with one dash is a mistake.
		if f := p.find(name[:1]); f != nil && flags.TakesValue(f) {
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
	case flags.TakesValue(f) && !valued:
		if len(p.words) == 0 || p.words[0] == "--" {
			return missions.Errorf(missions.KindUsage, p.seeHelp(), "%s needs a value", flags.Dashed(name))
		}
		value, p.words = p.words[0], p.words[1:]
	case !flags.TakesValue(f) && !valued:
		value = "true"
	}
	err := flags.Check(f, flags.Dashed(name), value)
	if err == nil && (p.verb == nil || !p.verb.Hidden) {
		err = flags.CheckEmpty(f, flags.Dashed(name), value)
	}
	if err != nil {
		return err
	}
	return p.set(f, value)
}

func (p *pass) set(f flags.Flag, value string) error {
	name := f.Names()[0]
	if old, twice := p.given[name]; twice && old != value && !flags.Repeats(f) {
		return missions.Errorf(missions.KindUsage, "give it once", "%s is given twice: %q and %q", flags.Dashed(name), old, value)
	} else if twice && !flags.Repeats(f) {
		return nil
	}
	p.given[name] = value
	word := "--" + name + "=" + value
	if flags.Find(p.globals, name) == f {
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

func (p *pass) find(name string) flags.Flag {
	if f := flags.Find(p.globals, name); f != nil {
		return f
	}
	if p.verb == nil {
		return nil
	}
	return flags.Find(p.verb.Flags, name)
}

// complete checks what can only be known at the end.
func (p *pass) complete() error {
	v := p.verb
	switch {
	case v == nil || p.help:
		return nil
	case v.Run == nil:
		return missions.Errorf(missions.KindUsage, p.seeHelp(), "%s needs one of: %s", p.name(), names(v.Verbs))
	case !strings.Contains(v.Args, "VALUE") && slices.Contains(p.args, ""):
		return missions.Errorf(missions.KindUsage, "usage: "+call.Usage(p.path, v), "%s was given an empty argument, which names nothing", p.name())
	case v.Instead != "" && slices.Contains(p.flags, "--"+v.Instead+"=true"):
	case len(p.args) < v.Min:
		return missions.Errorf(missions.KindUsage, "usage: "+call.Usage(p.path, v), "%s needs %s", p.name(), missing(v.Args, len(p.args)))
	case v.Max == 0 && len(p.args) > 0:
		return missions.Errorf(missions.KindUsage, "usage: "+call.Usage(p.path, v), "%s takes no argument, and got %q", p.name(), p.args[0])
	case v.Max > 0 && len(p.args) > v.Max:
		return missions.Errorf(missions.KindUsage, "usage: "+call.Usage(p.path, v), "%s takes no more than %d, and got %q too", p.name(), v.Max, p.args[v.Max])
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
		for _, f := range p.verb.Flags {
			known = append(known, f.Names()...)
		}
	}
	hint := p.seeHelp()
	if near := addresses.NearestWord(strings.TrimLeft(name, "-"), known); near != "" {
		hint = "did you mean " + flags.Dashed(near) + "?"
	}
	if p.verb == nil {
		return missions.Errorf(missions.KindUsage, hint+" (a command's flags come after its name)", "unknown flag %s", name)
	}
	return missions.Errorf(missions.KindUsage, hint, "unknown flag %s of %s", name, p.name())
}

func unknownVerb(of string, verbs []*call.Verb, w string) error {
	var known []string
	for _, v := range verbs {
		if !v.Hidden {
			known = append(known, v.Name)
		}
		if v.Alias != "" {
			known = append(known, v.Alias)
		}
	}
	hint := of + " --help"
	if below := verbsWithin(verbs, w); len(below) > 0 {
		hint = "did you mean " + of + " " + strings.Join(below, ", or "+of+" ") + "?"
	} else if same := call.Find(verbs, sameWords[w]); same != nil {
		hint = "did you mean " + of + " " + same.Name + "?"
	} else if near := addresses.NearestWord(w, known); near != "" {
		hint = "did you mean " + of + " " + near + "?"
	}
	return missions.Errorf(missions.KindUsage, hint, "%s has no command %q", of, w)
}

// sameWords are what people type for names that verbs have.
var sameWords = map[string]string{"list": "ls", "remove": "rm", "delete": "rm"}

// verbsWithin finds the names of verbs of groups that are called so: those of missions alone, if
// there is one.
func verbsWithin(verbs []*call.Verb, w string) []string {
	var names []string
	for _, group := range verbs {
		for _, v := range group.Verbs {
			if v.Hidden || v.Name != w && v.Name != sameWords[w] {
				continue
			}
			names = append(names, group.Name+" "+v.Name)
			if group.Name == "mission" {
				return names
			}
		}
	}
	return names
}

// missing is the part of a synopsis that was not given.
func missing(synopsis string, given int) string {
	fields := strings.Fields(synopsis)
	return strings.Join(fields[min(given, len(fields)):], " ")
}

func usageError(name string, err error) error {
	return missions.Errorf(missions.KindUsage, "umbra "+name+" --help", "%w", err)
}

// names lists verbs that are shown.
func names(verbs []*call.Verb) string {
	var list []string
	for _, v := range verbs {
		if !v.Hidden {
			list = append(list, v.Name)
		}
	}
	return strings.Join(list, ", ")
}
