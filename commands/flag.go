package commands

import (
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// flag is one flag of a table. It serves one command line: what is given is
// written where its maker said, and stays as it was otherwise.
type flag struct {
	names   []string // without dashes; the first one is its own
	usage   string   // the word in backquotes is its value's name
	bare    bool     // it is given without a value
	repeats bool     // it may be given more than once
	// take takes a value in, or says what is wrong with it; typed is the flag as
	// it was typed.
	take func(typed, value string) error
}

func boolFlag(into *bool, usage string, names ...string) *flag {
	return &flag{names: names, usage: usage, bare: true, take: func(typed, value string) error {
		if value != "true" && value != "false" {
			return missions.Errorf(missions.KindUsage, "give it without a value", "%s is %q", typed, value)
		}
		*into = value == "true"
		return nil
	}}
}

func textFlag(into *string, usage string, names ...string) *flag {
	return &flag{names: names, usage: usage, take: func(_, value string) error {
		*into = value
		return nil
	}}
}

// textsFlag gathers the values of a flag that may be repeated.
func textsFlag(into *[]string, usage string, names ...string) *flag {
	return &flag{names: names, usage: usage, repeats: true, take: func(_, value string) error {
		*into = append(*into, value)
		return nil
	}}
}

func numberFlag(into *int, usage string, names ...string) *flag {
	return &flag{names: names, usage: usage, take: func(typed, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return missions.Errorf(missions.KindUsage, "for example "+typed+" 3", "%s is %q, which is no number", typed, value)
		}
		*into = n
		return nil
	}}
}

func durationFlag(into *time.Duration, usage string, names ...string) *flag {
	return &flag{names: names, usage: usage, take: func(typed, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return missions.Errorf(missions.KindUsage, "for example "+typed+" 90s, 5m or 2h", "%s is %q, which is no duration", typed, value)
		}
		*into = d
		return nil
	}}
}

// flagNamed finds one of a table's flags by a name without dashes.
func flagNamed(table []*flag, name string) *flag {
	for _, f := range table {
		for _, n := range f.names {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// describe is the flag as it is typed, and what it means.
func (f *flag) describe() (typed, meaning string) {
	var list []string
	for _, n := range f.names {
		list = append(list, dashed(n))
	}
	typed = strings.Join(list, ", ")
	if before, rest, ok := strings.Cut(f.usage, "`"); ok {
		if value, after, ok := strings.Cut(rest, "`"); ok {
			return typed + " " + value, before + value + after
		}
	}
	return typed, f.usage
}

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
