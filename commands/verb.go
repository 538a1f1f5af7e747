package commands

import "strings"

// verb is one command: what it is called, what it takes and what it does. The
// argument pass, the help texts and the reference are all driven by it.
type verb struct {
	name     string
	alias    string
	args     string // the synopsis of its arguments
	short    string // one line
	long     string // more, if there is more to say
	min, max int    // how many arguments; max < 0 is any number
	// after is the synopsis of what follows `--`, which is then kept apart from
	// the arguments; "" makes it more of them.
	after  string
	hidden bool
	flags  []*flag
	run    func(*call) error
	verbs  []*verb
}

const anyNumber = -1

// allVerbs is the command line. Options live in the verbs, so that each table
// serves one run.
func allVerbs() []*verb {
	return []*verb{
		missionCommand(), forkCommand(), projectCommand(),
		snapshotCommand(), logCommand(), showCommand(), catCommand(), diffCommand(),
		restoreCommand(), undoCommand(), redoCommand(), pinCommand(), unpinCommand(), pinsCommand(), gitCommand(),
		statusCommand(), doctorCommand(), daemonCommand(), hooksCommand(), hookCommand(),
		versionCommand(), docsCommand(),
		demoCommand(), scriptedAgentCommand(),
	}
}

func find(verbs []*verb, name string) *verb {
	for _, v := range verbs {
		if v.name == name || v.alias == name && name != "" {
			return v
		}
	}
	return nil
}

// names lists verbs that are shown.
func names(verbs []*verb) string {
	var list []string
	for _, v := range verbs {
		if !v.hidden {
			list = append(list, v.name)
		}
	}
	return strings.Join(list, ", ")
}
