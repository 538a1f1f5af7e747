// Package reference teaches the command line: help, manual pages, examples, words, and
// docs/cli.md. All of it is made of the verbs that it is given.
package reference

import (
	"fmt"
	"io"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
)

// first are the commands that umbra alone shows, by what one wants.
var first = []struct{ want, verbs string }{
	{"Begin", "mission new, status"},
	{"Look back", "timeline, log, show"},
	{"Go back", "restore, undo"},
	{"Try several ways, and keep the good one", "fork, promote, land"},
}

// HelpFirst is what umbra alone says: where to begin.
func HelpFirst(w io.Writer, verbs []*call.Verb) error {
	var b strings.Builder
	b.WriteString("umbra snapshots, restores and forks the work of AI coding agents.\n")
	for _, group := range first {
		fmt.Fprintf(&b, "\n%s\n", group.want)
		for name := range strings.SplitSeq(group.verbs, ", ") {
			list, v := verbs, (*call.Verb)(nil)
			for word := range strings.FieldsSeq(name) {
				v = call.Find(list, word)
				list = v.Verbs
			}
			fmt.Fprintf(&b, "  umbra %-12s %s\n", name, v.Short)
		}
	}
	b.WriteString("\numbra COMMAND --help says more of one, umbra --help lists all of them,\numbra help concepts what the words mean, and umbra demo shows what Umbra does.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func HelpAll(w io.Writer, verbs []*call.Verb, globals []flags.Flag) error {
	var b strings.Builder
	b.WriteString("umbra snapshots, restores and forks the work of AI coding agents.\n\nusage: umbra COMMAND [FLAGS] [ARGUMENTS]\n\ncommands:\n")
	writeVerbs(&b, "", verbs)
	b.WriteString("\nflags of every command, wherever they stand:\n")
	writeFlags(&b, globals)
	b.WriteString("\numbra COMMAND --help says more, umbra help concepts what the words mean. Begin with: umbra mission new\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func HelpVerb(w io.Writer, at []string, v *call.Verb) error {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", call.Usage(at, v), sentence(v.Short))
	if v.Alias != "" {
		fmt.Fprintf(&b, "Also: umbra %s\n", strings.Join(append(at[:len(at)-1:len(at)-1], v.Alias), " "))
	}
	if v.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(v.Long))
	}
	if len(v.Verbs) > 0 {
		b.WriteString("\ncommands:\n")
		writeVerbs(&b, "", v.Verbs)
	}
	if len(v.Flags) > 0 {
		b.WriteString("\nflags:\n")
		writeFlags(&b, v.Flags)
	}
	l := LessonOf(at)
	if len(l.Examples) > 0 {
		b.WriteString("\nexamples:\n  " + strings.Join(l.Examples, "\n  ") + "\n")
	}
	if related := l.Related(); len(related) > 0 {
		b.WriteString("\nsee also: umbra " + strings.Join(related, ", umbra ") + "\n")
	}
	b.WriteString("\numbra --help lists the flags of every command.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeVerbs(b *strings.Builder, under string, verbs []*call.Verb) {
	for _, v := range verbs {
		if v.Hidden {
			continue
		}
		if v.Run == nil {
			writeVerbs(b, under+v.Name+" ", v.Verbs)
			continue
		}
		fmt.Fprintf(b, "  %-20s %s\n", under+v.Name, v.Short)
	}
}

func writeFlags(b *strings.Builder, table []flags.Flag) {
	for _, f := range table {
		typed, meaning := flags.Describe(f)
		fmt.Fprintf(b, "  %-24s %s\n", typed, meaning)
	}
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
