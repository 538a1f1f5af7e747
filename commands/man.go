package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func manCommand() *verb {
	var dir string
	return &verb{
		name: "man", args: "[COMMAND…]", max: anyNumber, short: "show the manual page of umbra, or of one of its commands",
		long: "On a terminal man shows it; elsewhere it is printed as man reads it.",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write every page into `DIR`, for man to find", Destination: &dir},
		},
		run: func(c *call) error { return runMan(c, dir) },
	}
}

func runMan(c *call, dir string) error {
	switch {
	case c.JSON:
		return missions.Errorf(missions.KindUsage, "leave out --json", "a manual page is no JSON")
	case dir != "" && len(c.args) > 0:
		return missions.Errorf(missions.KindUsage, "umbra man --dir "+dir, "--dir writes every page, and got %q", c.arg(0))
	case dir != "":
		return writeManPages(c, dir)
	}
	name := manName(c.args)
	for _, page := range manPages() {
		if page.name == name {
			return showMan(c, page.text)
		}
	}
	return missions.Errorf(missions.KindNotFound, "umbra --help", "no manual page for umbra %s", strings.Join(c.args, " "))
}

// showMan prints a page, by man on a terminal.
func showMan(c *call, text string) error {
	program, err := missions.LookPath("man", "", c.Getenv("PATH"))
	if err != nil || !c.out.terminal {
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

func writeManPages(c *call, dir string) error {
	if !filepath.IsAbs(dir) {
		cwd, err := c.Getwd()
		if err != nil {
			return noDirectory(err)
		}
		dir = filepath.Join(cwd, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return missions.Errorf(missions.KindFailed, "name a directory that can be written to", "make the directory of manual pages: %w", err)
	}
	pages := manPages()
	for _, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, page.name+".1"), []byte(page.text), 0o644); err != nil {
			return missions.Errorf(missions.KindFailed, "name a directory that can be written to", "write a manual page: %w", err)
		}
	}
	c.notice("%s in %s", count(len(pages), "page"), dir)
	return nil
}

// manPage is one page of section 1, in the man macros.
type manPage struct{ name, text string }

func manName(at []string) string { return strings.Join(append([]string{"umbra"}, at...), "-") }

// manPages are all of them: umbra's own, its words, then a command's each.
func manPages() []manPage {
	verbs := allVerbs()
	pages := []manPage{{"umbra", manOverview(verbs)}, {manName([]string{"concepts"}), manConcepts()}}
	var add func(under []string, verbs []*verb)
	add = func(under []string, verbs []*verb) {
		for _, v := range verbs {
			at := append(under[:len(under):len(under)], v.name)
			if v.hidden {
				continue
			}
			if v.run != nil {
				pages = append(pages, manPage{manName(at), manVerb(at, v)})
			}
			add(at, v.verbs)
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

func (r *roff) flags(flags []cli.Flag) {
	for _, f := range flags {
		typed, meaning := describe(f)
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

func manOverview(verbs []*verb) string {
	r := manStart("umbra", "snapshots, restores and forks the work of AI coding agents")
	r.section("SYNOPSIS")
	r.lines("umbra COMMAND [FLAGS] [ARGUMENTS]")
	r.section("COMMANDS")
	var add func(under string, verbs []*verb)
	add = func(under string, verbs []*verb) {
		for _, v := range verbs {
			if v.run != nil && !v.hidden {
				fmt.Fprintf(r, ".TP\n\\fB%s\\fR\n%s\n", roffText(under+v.name), roffText(sentence(v.short)))
			}
			if !v.hidden {
				add(under+v.name+" ", v.verbs)
			}
		}
	}
	add("", verbs)
	r.section("FLAGS OF EVERY COMMAND")
	r.flags(new(Globals).flags())
	r.section("EXIT STATUS")
	for _, e := range exitCodes() {
		fmt.Fprintf(r, ".TP\n\\fB%s\\fR\n%s\n", e.code, roffText(e.meaning))
	}
	r.section("SEE ALSO")
	r.text("umbra-concepts(1), git(1). Each command has a page of its own: umbra man restore is umbra-restore(1).")
	return r.String()
}

func manConcepts() string {
	r := manStart("umbra-concepts", conceptsAbout)
	r.section("DESCRIPTION")
	r.lines(strings.Split(strings.TrimSpace(concepts), "\n")...)
	return r.String()
}

func manVerb(at []string, v *verb) string {
	r := manStart(manName(at), v.short)
	r.section("SYNOPSIS")
	r.lines(usage(at, v))
	if v.long != "" {
		r.section("DESCRIPTION")
		r.text(v.long)
	}
	if len(v.flags) > 0 {
		r.section("FLAGS")
		r.flags(v.flags)
	}
	l := lessonOf(at)
	if len(l.examples) > 0 {
		r.section("EXAMPLES")
		r.lines(l.examples...)
	}
	r.section("SEE ALSO")
	pages := []string{"umbra(1)"}
	for _, name := range l.related() {
		pages = append(pages, manName(strings.Fields(name))+"(1)")
	}
	r.text(strings.Join(pages, ", "))
	return r.String()
}
