// Package settings is what a user can configure: the schema of config.yml and of a
// project's .umbra.yml, how they are read, checked and edited, and which value of a
// key counts. It reads and writes these two files alone, and acts on no setting.
package settings

import (
	"path"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// Config is the user's configuration. Every key has a default; an unknown key
// or a value that makes no sense is an error with its line, so that a typing
// mistake is not ignored in silence. Keys describes the keys.
type Config struct {
	Capture Capture
	Fork    Fork
	Hooks   Hooks
	Adopt   Adopt
	Watch   Watch
	Launch  Launch
	Storage Storage
	// Retention says which snapshots stay when old ones are pruned.
	Retention Retention
	// Import says whether sessions are imported without anybody asking for them one by one.
	Import Import
	// Missions and Automations are the user's own to say, like Launch.
	Missions    Missions
	Automations Automations
	Check       Checking
	Tools       Tools
}

// Capture limits what a snapshot holds. A project's .umbra.yml may make
// each limit smaller and add secrets, never the reverse, for files that no
// snapshot holds yet: see Limits.
type Capture struct {
	MaxFileSize int64    // bytes
	MaxFiles    int      // in a workspace
	MaxBytes    int64    // in a workspace
	Secrets     []string // patterns, beside the built-in ones
}

// SecretPatterns are the user's and the built-in patterns of files that hold credentials.
func (c Capture) SecretPatterns() []string { return append(secretnames.Defaults(), c.Secrets...) }

// Fork says where forks go.
type Fork struct {
	Root      string // default ~/umbra
	CopyLimit int64  // bytes of ignored files copied without asking
	Guard     bool   // keep a fork's file tools out of its source's workspace
}

// Hooks tunes the hooks.
type Hooks struct {
	MaxWait Duration // how long a prompt waits for the first import
	Tools   bool     // snapshot before tools that write
	MCP     bool     // agents are given Umbra's own tools with the hooks
}

// Adopt says which sessions started by hand become missions: globs over
// the session's directory.
type Adopt struct {
	Include []string
	Exclude []string
}

// Watch tunes idle detection.
type Watch struct {
	Settle  Duration
	MaxWait Duration
}

// Launch names commands, so only the user's own file may hold it.
type Launch struct {
	Open string // run for each fork of --count; {id} is the mission
}

// Automations are commands of the user's that are run when a mission
// changes its state. Only the user's own file may hold them.
type Automations struct {
	Ready     []string // an agent has started, or a session was adopted
	Idle      []string // a turn has ended: the agent waits for its user
	Error     []string // a turn has ended in an error
	Close     []string // the agent has ended
	TimeLimit Duration // after which a command is killed, with all it has started
}

// Tools names programs that copy the conversations of tools that Umbra does not know, each
// for one tool: see ParseToolProgram. Only the user's own file may hold them.
type Tools struct {
	Cut     []string // cut a conversation where its tool can go on from
	Rewrite []string // give it another session and workspace
}

// Checking limits the commands that say whether a workspace is good.
type Checking struct {
	TimeLimit Duration // after which one is ended, with all it has started; 0 is no limit
}

// Missions limits missions.
type Missions struct {
	MaxLive int // with an agent at once; 0 is no limit
}

// Storage limits what Umbra takes of the disk. Beyond a limit it writes
// nothing, says so, and goes on when there is room again.
type Storage struct {
	MaxBytes int64 // of Umbra's home; 0 is no limit
	KeepFree int64 // bytes left free on the home's disk
}

// Retention is how much of each mission's history pruning leaves, counted in turns, and of
// what was removed.
type Retention struct {
	KeepLast   int      // so many of the newest turns, at least 1
	KeepWithin Duration // turns that ended no longer ago
	KeepHourly int      // the newest turn of so many hours that have one
	KeepDaily  int      // and of so many days
	Auto       bool     // old snapshots are dropped without anybody asking for it
	Trash      Duration // the trash is emptied of what is there for so long; 0 is never
	Forks      Duration // forks that are over for so long go to the trash; 0 is never
}

// Import is about the sessions that lie in the agents' own stores.
type Import struct {
	Daily bool // what was imported once is imported daily
}

// Duration is a time.Duration written as 5s or 2m.
type Duration time.Duration

// Default is the configuration of a user who has none.
func Default() Config {
	return Config{
		Capture:     Capture{MaxFileSize: 64 << 20, MaxFiles: 1_000_000, MaxBytes: 20 << 30},
		Fork:        Fork{Root: "~/umbra", CopyLimit: 2 << 30, Guard: true},
		Hooks:       Hooks{MaxWait: Duration(5 * time.Second), Tools: true, MCP: true},
		Watch:       Watch{Settle: Duration(2 * time.Second), MaxWait: Duration(30 * time.Second)},
		Retention:   Retention{KeepLast: 5, KeepWithin: Duration(30 * 24 * time.Hour)},
		Import:      Import{Daily: true},
		Storage:     Storage{MaxBytes: 100 << 30, KeepFree: 200 << 20},
		Automations: Automations{TimeLimit: Duration(time.Minute)},
		Check:       Checking{TimeLimit: Duration(30 * time.Minute)},
	}
}

// Load reads the user's configuration; a missing file is the default, and so is
// what comes with an error.
func Load(file string) (Config, error) {
	text, err := Read(file)
	if err != nil {
		return Default(), err
	}
	return Parse(file, text)
}

// Read reads the text of a configuration, none if there is no file.
func Read(file string) ([]byte, error) {
	text, err := userfile.Read(file)
	if err != nil {
		return nil, wrong("mend that, or move the file away", "the configuration: %w", err)
	}
	return text, nil
}

// Parse is Load of a text that was read already; the file is named in the error,
// an *Error.
func Parse(file string, text []byte) (Config, error) {
	c := Default()
	if len(text) == 0 {
		return c, nil
	}
	if _, err := readConfig(text, Keys(), &c); err != nil {
		return Default(), wrong("umbra config edit, or move the file away", "configuration %s: %w", file, err)
	}
	return c, nil
}

// ProjectFile is a project's own configuration, in its workspace.
const ProjectFile = ".umbra.yml"

// Adopts reports whether a session that is started in a directory by hand is to
// become a mission.
func (c Adopt) Adopts(dir string) bool {
	in := func(patterns []string) bool {
		for _, p := range patterns {
			if ok, _ := path.Match(p, dir); ok || dir == p || strings.HasPrefix(dir, strings.TrimSuffix(p, "/")+"/") {
				return true
			}
		}
		return false
	}
	return (len(c.Include) == 0 || in(c.Include)) && !in(c.Exclude)
}
