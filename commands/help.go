package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// usage is a verb's command line as one types it.
func usage(at []string, v *verb) string {
	parts := append([]string{"umbra"}, at...)
	if v.run == nil {
		return strings.Join(append(parts, "COMMAND"), " ")
	}
	if len(v.flags) > 0 {
		parts = append(parts, "[FLAGS]")
	}
	if v.args != "" {
		parts = append(parts, v.args)
	}
	if v.after != "" {
		parts = append(parts, v.after)
	}
	return strings.Join(parts, " ")
}

// helpFor prints the help of what was asked for: a verb, or everything.
func helpFor(w io.Writer, verbs []*verb, globals []cli.Flag, in invocation) error {
	if in.concepts {
		_, err := io.WriteString(w, concepts)
		return err
	}
	v, at := in.verb, in.path
	if v != nil && v.run == nil && len(in.args) > 0 {
		return unknownVerb("umbra "+strings.Join(at, " "), v.verbs, in.args[0])
	}
	if v == nil {
		return helpAll(w, verbs, globals)
	}
	return helpVerb(w, at, v)
}

func helpAll(w io.Writer, verbs []*verb, globals []cli.Flag) error {
	var b strings.Builder
	b.WriteString("umbra snapshots, restores and forks the work of AI coding agents.\n\nusage: umbra COMMAND [FLAGS] [ARGUMENTS]\n\ncommands:\n")
	writeVerbs(&b, "", verbs)
	b.WriteString("\nflags of every command, wherever they stand:\n")
	writeFlags(&b, globals)
	b.WriteString("\numbra COMMAND --help says more, umbra help concepts what the words mean. Begin with: umbra mission new\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func helpVerb(w io.Writer, at []string, v *verb) error {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", usage(at, v), sentence(v.short))
	if v.alias != "" {
		fmt.Fprintf(&b, "Also: umbra %s\n", strings.Join(append(at[:len(at)-1:len(at)-1], v.alias), " "))
	}
	if v.long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(v.long))
	}
	if len(v.verbs) > 0 {
		b.WriteString("\ncommands:\n")
		writeVerbs(&b, "", v.verbs)
	}
	if len(v.flags) > 0 {
		b.WriteString("\nflags:\n")
		writeFlags(&b, v.flags)
	}
	l := lessonOf(at)
	if len(l.examples) > 0 {
		b.WriteString("\nexamples:\n  " + strings.Join(l.examples, "\n  ") + "\n")
	}
	if related := l.related(); len(related) > 0 {
		b.WriteString("\nsee also: umbra " + strings.Join(related, ", umbra ") + "\n")
	}
	b.WriteString("\numbra --help lists the flags of every command.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeVerbs(b *strings.Builder, under string, verbs []*verb) {
	for _, v := range verbs {
		if v.hidden {
			continue
		}
		if v.run == nil {
			writeVerbs(b, under+v.name+" ", v.verbs)
			continue
		}
		fmt.Fprintf(b, "  %-20s %s\n", under+v.name, v.short)
	}
}

func writeFlags(b *strings.Builder, flags []cli.Flag) {
	for _, f := range flags {
		typed, meaning := describe(f)
		fmt.Fprintf(b, "  %-24s %s\n", typed, meaning)
	}
}

// describe is a flag as it is typed, and what it means. The value's name is the
// word in backquotes of its usage, as urfave/cli has it.
func describe(f cli.Flag) (typed, meaning string) {
	var list []string
	for _, n := range f.Names() {
		list = append(list, dashed(n))
	}
	typed = strings.Join(list, ", ")
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return typed, ""
	}
	meaning = d.GetUsage()
	if before, rest, ok := strings.Cut(meaning, "`"); ok {
		if value, after, ok := strings.Cut(rest, "`"); ok {
			return typed + " " + value, before + value + after
		}
	}
	return typed, meaning
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
