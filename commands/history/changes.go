package history

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// changeOptions say how changes of files are shown.
type changeOptions struct{ stat, nameStatus, patch, words bool }

func (o *changeOptions) flags() []flags.Flag {
	return []flags.Flag{
		flags.Bool("stat", "count the lines of each file", &o.stat),
		flags.Bool("name-status", "names and kinds of change only", &o.nameStatus),
		flags.Bool("patch", "the changed lines", &o.patch, "p"),
		flags.Bool("word-diff", "the changed words, as [-gone-] and {+new+} without colour", &o.words),
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
func (o changeOptions) write(p *print.Printer, from string, files []missions.FileChange, patch string) {
	switch {
	case o.stat:
		writeStat(p, files)
	case o.nameStatus:
		writeNames(p, files)
	}
	if o.stat && o.lines() && patch != "" {
		p.Line("")
	}
	switch {
	case o.words:
		writeWords(p, patch)
	case o.patch:
		print.WritePatch(p, from, files, patch)
	}
}

// sayUnpaired says that renames were not looked for among new files.
func sayUnpaired(c *call.Call, files int) {
	if files > 0 {
		c.Notice("%s may be renamed ones: too many to be compared with those that are gone (umbra git diff -M -l0 does)", print.Count(files, "new file"))
	}
}

// endLost names the changed files whose content is lost, and ends as what is damaged does.
func endLost(c *call.Call, lost []missions.PathReason, err error) error {
	if len(lost) == 0 || err != nil {
		return err
	}
	if !c.JSON && !c.Quiet {
		print.WriteKept(c.Err, "lost, and not shown", lost)
		c.Err.Line("  umbra doctor")
		_ = c.Err.Flush()
	}
	return call.Ended(missions.KindDamaged.ExitCode())
}
