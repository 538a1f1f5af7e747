// Package flags is what a verb's table of flags is made of: each a name, what it means, and
// where its value goes. It is the one package that imports urfave/cli.
package flags

import (
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// Flag is a flag of a verb's table, and List what one gathers that may be repeated.
type (
	Flag = cli.Flag
	List = cli.StringSlice
)

// Bool is a flag without a value. Its usage, as that of all flags, says what it
// means, with the name of its value in backquotes; what it sets has its default before.
func Bool(name, usage string, to *bool, aliases ...string) Flag {
	return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage, Destination: to}
}

// Optional is a flag that may be given alone or as --name=value. What it sets is "true"
// where it was given alone, and "" where it was not given.
func Optional(name, usage string, to *string) Flag {
	return optional{&cli.StringFlag{Name: name, Usage: usage, Destination: to}}
}

type optional struct{ *cli.StringFlag }

func (optional) TakesValue() bool { return false }

func String(name, usage string, to *string, aliases ...string) Flag {
	return &cli.StringFlag{Name: name, Aliases: aliases, Value: *to, Usage: usage, Destination: to}
}

// Strings is a flag that may be repeated. Its values are kept to the byte, since a path may
// begin or end with a space.
func Strings(name, usage string, to *List) Flag {
	return &cli.StringSliceFlag{Name: name, Usage: usage, Destination: to, KeepSpace: true}
}

func Int(name, usage string, to *int) Flag {
	return &cli.IntFlag{Name: name, Value: *to, Usage: usage, Destination: to}
}

func Duration(name, usage string, to *time.Duration) Flag {
	return &cli.DurationFlag{Name: name, Value: *to, Usage: usage, Destination: to}
}

// Find finds one of a table's flags by a name without dashes.
func Find(table []Flag, name string) Flag {
	for _, f := range table {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

func TakesValue(f Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// Repeats reports whether a flag may be given more than once.
func Repeats(f Flag) bool {
	d, ok := f.(cli.DocGenerationSliceFlag)
	return ok && d.IsSliceFlag()
}

// Dashed is a flag's name as it is typed.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// Describe is a flag as it is typed, and what it means. The value's name is the
// word in backquotes of its usage, as urfave/cli has it.
func Describe(f Flag) (typed, meaning string) {
	var list []string
	for _, n := range f.Names() {
		list = append(list, Dashed(n))
	}
	typed = strings.Join(list, ", ")
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return typed, ""
	}
	meaning = d.GetUsage()
	if before, rest, ok := strings.Cut(meaning, "`"); ok {
		if value, after, ok := strings.Cut(rest, "`"); ok {
			if !d.TakesValue() {
				return typed + "[=" + value + "]", before + value + after
			}
			return typed + " " + value, before + value + after
		}
	}
	return typed, meaning
}

// Apply gives flags the values that stand in words, each of them --name=value.
func Apply(table []Flag, words []string) error {
	app := &cli.App{
		Name: "umbra", Flags: table, HideHelp: true, HideHelpCommand: true, HideVersion: true, DisableSliceFlagSeparator: true,
		Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler: func(*cli.Context, error) {}, // errors are printed once, by whoever ran the command
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return err },
		Action:         func(*cli.Context) error { return nil },
	}
	return app.Run(append([]string{"umbra"}, words...))
}
