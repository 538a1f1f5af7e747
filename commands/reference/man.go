package reference

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func Man(all func() []*call.Verb) *call.Verb {
	var dir string
	return &call.Verb{
		Name: "man", Args: "[COMMAND…]", Max: call.AnyNumber, Short: "show the manual page of umbra, or of one of its commands",
		Long: "On a terminal man shows it; elsewhere it is printed as man reads it.",
		Flags: []flags.Flag{
			flags.String("dir", "write every page into `DIR`, for man to find", &dir),
		},
		Run: func(c *call.Call) error { return runMan(c, dir, ManPages(all())) },
	}
}

func runMan(c *call.Call, dir string, pages []ManPage) error {
	switch {
	case c.JSON:
		return missions.Errorf(missions.KindUsage, "leave out --json", "a manual page is no JSON")
	case dir != "" && len(c.Arguments) > 0:
		return missions.Errorf(missions.KindUsage, "umbra man --dir "+dir, "--dir writes every page, and got %q", c.Arg(0))
	case dir != "":
		return writeManPages(c, dir, pages)
	}
	name := manName(c.Arguments)
	for _, page := range pages {
		if page.Name == name {
			return showMan(c, page.Text)
		}
	}
	return missions.Errorf(missions.KindNotFound, "umbra --help", "no manual page for umbra %s", strings.Join(c.Arguments, " "))
}

// showMan prints a page, by man on a terminal.
func showMan(c *call.Call, text string) error {
	program, err := missions.LookPath("man", "", c.Getenv("PATH"))
	if err != nil || !c.Out.Terminal {
		_, err := io.WriteString(c.Stdout, text)
		return err
	}
	cmd := &exec.Cmd{
		Path: program, Args: []string{"man", "-l", "-"}, Env: c.Environ(),
		Stdin: strings.NewReader(text), Stdout: c.Stdout, Stderr: c.Stderr,
	}
	err = c.Run(cmd)
	if _, left := errors.AsType[*exec.ExitError](err); left {
		return nil // man has said why
	}
	return err
}

func writeManPages(c *call.Call, dir string, pages []ManPage) error {
	if !filepath.IsAbs(dir) {
		cwd, err := c.Getwd()
		if err != nil {
			return call.NoDirectory(err)
		}
		dir = filepath.Join(cwd, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return missions.Errorf(missions.KindFailed, "name a directory that can be written to", "make the directory of manual pages: %w", err)
	}
	for _, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, page.Name+".1"), []byte(page.Text), 0o644); err != nil {
			return missions.Errorf(missions.KindFailed, "name a directory that can be written to", "write a manual page: %w", err)
		}
	}
	c.Notice("%s in %s", print.Count(len(pages), "page"), dir)
	return nil
}

// ManPage is one page of section 1, in the man macros.
type ManPage struct{ Name, Text string }

func manName(at []string) string { return strings.Join(append([]string{"umbra"}, at...), "-") }

// ManPages are all of them: umbra's own, its words, then a command's each.
func ManPages(verbs []*call.Verb) []ManPage {
	pages := []ManPage{{"umbra", manOverview(verbs)}, {manName([]string{"concepts"}), manConcepts()}}
	var add func(under []string, verbs []*call.Verb)
	add = func(under []string, verbs []*call.Verb) {
		for _, v := range verbs {
			at := append(under[:len(under):len(under)], v.Name)
			if v.Hidden {
				continue
			}
			if v.Run != nil {
				pages = append(pages, ManPage{manName(at), manVerb(at, v)})
			}
			add(at, v.Verbs)
		}
	}
	add(nil, verbs)
	return pages
}

// roff writes in the man macros.
type roff struct{ bytes.Buffer }

func manStart(name, short string) *roff {
	var r roff
	fmt.Fprintf(&r, ".TH %s 1 \"\" \"umbra\" \"Umbra Manual\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), roffText(name), roffText(short))
	return &r
}

func (r *roff) section(name string) { fmt.Fprintf(r, ".SH %s\n", name) }

// text writes paragraphs. Lines that begin with a space stay as they are.
func (r *roff) text(s string) {
	fixed, open := false, false
	for line := range strings.Lines(strings.TrimSpace(s)) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, " ")
		switch {
		case line == "":
			open = true
			continue
		case indented && !fixed:
			r.WriteString(".PP\n.nf\n")
		case !indented && fixed:
			r.WriteString(".fi\n.PP\n")
		case open && !fixed:
			r.WriteString(".PP\n")
		}
		fixed, open = indented, false
		r.WriteString(roffText(line) + "\n")
	}
	if fixed {
		r.WriteString(".fi\n")
	}
}

// lines writes text that is to stay as it is.
func (r *roff) lines(list ...string) {
	r.WriteString(".nf\n")
	for _, line := range list {
		r.WriteString(roffText(line) + "\n")
	}
	r.WriteString(".fi\n")
}

func (r *roff) flags(table []flags.Flag) {
	for _, f := range table {
		typed, meaning := flags.Describe(f)
		fmt.Fprintf(r, ".TP\n\\fB%s\\fR\n%s\n", roffText(typed), roffText(meaning))
	}
}

// roffText keeps a line from being taken for a request or an escape.
func roffText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "…", "...", "−", "-").Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

func manOverview(verbs []*call.Verb) string {
	r := manStart("umbra", "snapshots, restores and forks the work of AI coding agents")
	r.section("SYNOPSIS")
	r.lines("umbra COMMAND [FLAGS] [ARGUMENTS]")
	r.section("COMMANDS")
	var add func(under string, verbs []*call.Verb)
	add = func(under string, verbs []*call.Verb) {
		for _, v := range verbs {
			if v.Run != nil && !v.Hidden {
				fmt.Fprintf(r, ".TP\n\\fB%s\\fR\n%s\n", roffText(under+v.Name), roffText(sentence(v.Short)))
			}
			if !v.Hidden {
				add(under+v.Name+" ", v.Verbs)
			}
		}
	}
	add("", verbs)
	r.section("FLAGS OF EVERY COMMAND")
	r.flags(new(call.Globals).Flags())
	r.section("EXIT STATUS")
	for _, e := range exitCodes() {
		fmt.Fprintf(r, ".TP\n\\fB%s\\fR\n%s\n", e.code, roffText(e.meaning))
	}
	r.section("SEE ALSO")
	r.text("umbra-concepts(1), git(1). Each command has a page of its own: umbra man restore is umbra-restore(1).")
	return r.String()
}

func manConcepts() string {
	r := manStart("umbra-concepts", ConceptsAbout)
	r.section("DESCRIPTION")
	r.lines(strings.Split(strings.TrimSpace(Concepts), "\n")...)
	return r.String()
}

func manVerb(at []string, v *call.Verb) string {
	r := manStart(manName(at), v.Short)
	r.section("SYNOPSIS")
	r.lines(call.Usage(at, v))
	if v.Long != "" {
		r.section("DESCRIPTION")
		r.text(v.Long)
	}
	if len(v.Flags) > 0 {
		r.section("FLAGS")
		r.flags(v.Flags)
	}
	l := LessonOf(at)
	if len(l.Examples) > 0 {
		r.section("EXAMPLES")
		r.lines(l.Examples...)
	}
	r.section("SEE ALSO")
	pages := []string{"umbra(1)"}
	for _, name := range l.Related() {
		pages = append(pages, manName(strings.Fields(name))+"(1)")
	}
	r.text(strings.Join(pages, ", "))
	return r.String()
}
