package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// changeOptions say how changes of files are shown.
type changeOptions struct{ stat, nameStatus, patch, words bool }

func (o *changeOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "stat", Usage: "count the lines of each file", Destination: &o.stat},
		&cli.BoolFlag{Name: "name-status", Usage: "names and kinds of change only", Destination: &o.nameStatus},
		&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "the changed lines", Destination: &o.patch},
		&cli.BoolFlag{Name: "word-diff", Usage: "the changed words, as [-gone-] and {+new+} without colour", Destination: &o.words},
	}
}

// check refuses what contradicts itself.
func (o changeOptions) check() error {
	switch {
	case o.stat && o.nameStatus:
		return missions.Errorf(missions.KindUsage, "choose one", "--stat and --name-status contradict each other")
	case o.nameStatus && (o.patch || o.words):
		return missions.Errorf(missions.KindUsage, "choose one", "--name-status and the changed lines contradict each other")
	}
	return nil
}

// any reports whether something was asked for.
func (o changeOptions) any() bool { return o != changeOptions{} }

// lines reports whether the changed lines are wanted.
func (o changeOptions) lines() bool { return o.patch || o.words }

// orLines is what is shown where the changed lines are what nobody needs to ask
// for.
func (o changeOptions) orLines() changeOptions {
	o.patch = o.patch || !o.any()
	return o
}

// write prints changes since a snapshot as they were asked for.
func (o changeOptions) write(p *printer, from string, files []missions.FileChange, patch string) {
	switch {
	case o.stat:
		writeStat(p, files)
	case o.nameStatus:
		writeNames(p, files)
	}
	if o.stat && o.lines() && patch != "" {
		p.line("")
	}
	switch {
	case o.words:
		writeWords(p, patch)
	case o.patch:
		writePatch(p, from, files, patch)
	}
}

// sayUnpaired says that renames were not looked for among new files.
func (c *call) sayUnpaired(files int) {
	if files > 0 {
		c.notice("%s may be renamed ones: too many to be compared with those that are gone (umbra git -- diff -M -l0 does)", count(files, "new file"))
	}
}
