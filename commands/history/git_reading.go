package history

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// ReadingVerbs are the subcommands of git that only read, given no flag that
// says otherwise.
var ReadingVerbs = []string{
	"annotate", "blame", "branch", "cat-file", "cherry", "count-objects", "describe", "diff", "diff-tree", "for-each-ref",
	"fsck", "grep", "log", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog", "show",
	"show-branch", "show-ref", "verify-commit", "verify-pack", "version", "whatchanged",
}

// listing are the flags of `git branch` that make it list; without one it is
// only let through with no argument at all, since an argument is a new branch.
var listing = []string{"--list", "-l", "-a", "--all", "-r", "-v", "-vv", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--show-current"}

// onlyReads refuses what is not known to leave the repository, and every other
// file, as it is.
func onlyReads(args []string) error {
	verb := args[0]
	refuse := func(what string) error {
		return missions.Errorf(missions.KindUsage, "umbra git --write -- "+home.ShellCommand(args),
			"umbra git only reads, and %s may write", what)
	}
	switch {
	case strings.HasPrefix(verb, "-"):
		return missions.Errorf(missions.KindUsage, "umbra git log -p", "umbra git takes a subcommand first, and got %q", verb)
	case !slices.Contains(ReadingVerbs, verb):
		return refuse("git " + verb)
	}
	for _, arg := range args[1:] {
		if arg == "--" {
			break
		}
		if name, bad := writingFlag(verb, arg); bad {
			return refuse("git " + verb + " " + name)
		}
	}
	if verb == "branch" && !listsBranches(args[1:]) {
		return refuse("git branch with a name")
	}
	if verb == "show-ref" && slices.Contains(args[1:], "--exclude-existing") {
		return nil
	}
	return nil
}

// writingFlag tells flags that write files, run programs or change refs. Git
// takes a long flag by any unambiguous beginning, so that is compared.
func writingFlag(verb, arg string) (string, bool) {
	name, _, _ := strings.Cut(arg, "=")
	long := func(full string, shortest int) bool {
		return strings.HasPrefix(full, name) && len(name) >= shortest
	}
	switch {
	case long("--output", len("--outp")) && name != "--output-indicator", strings.HasPrefix(name, "--output-directory"):
		return name, true
	case long("--ext-diff", len("--ext")), long("--textconv", len("--textc")), long("--open-files-in-pager", len("--op")):
		return name, true
	case long("--filters", len("--fi")) && verb == "cat-file", long("--lost-found", len("--lo")) && verb == "fsck":
		return name, true
	case long("--show-signature", len("--show-s")) && verb != "show-ref":
		return name, true // runs gpg
	case verb == "grep" && strings.HasPrefix(arg, "-O"):
		return "-O", true
	case strings.HasPrefix(arg, "-o") && (verb == "diff" || verb == "show" || verb == "log" || verb == "whatchanged"):
		return "-o", true
	}
	if verb == "branch" && strings.HasPrefix(arg, "-") && !slices.Contains(listing, name) &&
		!slices.Contains([]string{"--sort", "--format", "--column", "--no-column", "--color", "--no-color", "--abbrev", "--no-abbrev", "-i", "--ignore-case"}, name) {
		return name, true
	}
	return "", false
}

func listsBranches(args []string) bool {
	words := 0
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(listing, name) && name != "-v" && name != "-vv" {
			return true
		}
		if !strings.HasPrefix(arg, "-") {
			words++
		}
	}
	return words == 0
}

// bareLog tells a log that names no revision: flags only, and paths after `--`.
func bareLog(args []string) bool {
	if args[0] != "log" && args[0] != "shortlog" && args[0] != "whatchanged" {
		return false
	}
	valued := false // the word before takes this one
	for _, arg := range args[1:] {
		switch {
		case arg == "--":
			return true
		case arg == "--all" || strings.HasPrefix(arg, "--branches") || strings.HasPrefix(arg, "--glob") || strings.HasPrefix(arg, "--remotes") || strings.HasPrefix(arg, "--tags"):
			return false
		case valued:
			valued = false
		case strings.HasPrefix(arg, "-"):
			valued = slices.Contains([]string{"-n", "-S", "-G", "-L", "--author", "--grep", "--since", "--until", "--after", "--before", "--max-count", "--skip", "--format", "--date"}, arg)
		default:
			return false
		}
	}
	return true
}

// withRevision puts the revision before the paths.
func withRevision(args []string, rev string) []string {
	at := slices.Index(args, "--")
	if at < 0 {
		at = len(args)
	}
	return slices.Insert(slices.Clone(args), at, rev)
}
