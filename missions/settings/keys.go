package settings

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Key is one thing that can be configured: the schema of config.yml, of a
// project's .umbra.yml, of `umbra config` and of docs/configuration.md.
type Key struct {
	Name string // section.key
	Help string // one phrase, for people
	// Project says that a project's own file may say it too, to narrow it.
	Project bool

	counts   scope             // where its variable does
	commands bool              // a list that names commands
	least    int64             // the smallest value of a number, in its unit
	never    bool              // a duration that may be never, which is 0
	example  string            // of a value, for people
	field    func(*Config) any // a pointer into a Config
	check    func(any) error   // nil: every value of the type will do
}

// Keys are all keys, in the order in which they are shown.
func Keys() []Key {
	return []Key{
		{Name: "capture.max_file_size", counts: working, example: "128MiB", Project: true, least: 1, field: func(c *Config) any { return &c.Capture.MaxFileSize },
			Help: "larger files are left out of snapshots, and listed"},
		{Name: "capture.max_files", counts: working, example: "2000000", Project: true, least: 1, field: func(c *Config) any { return &c.Capture.MaxFiles },
			Help: "of a workspace; one with more is refused"},
		{Name: "capture.max_bytes", counts: working, example: "40GiB", Project: true, least: 1, field: func(c *Config) any { return &c.Capture.MaxBytes },
			Help: "of a workspace; a larger one is refused"},
		{Name: "capture.secrets", example: "*.p12", Project: true, field: func(c *Config) any { return &c.Capture.Secrets }, check: checkPatterns,
			Help: "patterns of files that are left out, beside the built-in ones; a leading ! takes one of those out"},
		{Name: "fork.root", example: "~/forks", field: func(c *Config) any { return &c.Fork.Root }, check: checkRootText,
			Help: "where forks' workspaces are made: ROOT/PROJECT-NUMBER/NAME"},
		{Name: "fork.copy_limit", example: "4GiB", field: func(c *Config) any { return &c.Fork.CopyLimit },
			Help: "ignored files copied into a fork without a question"},
		{Name: "fork.guard", example: "false", field: func(c *Config) any { return &c.Fork.Guard },
			Help: "a fork's file tools are kept out of its source's workspace"},
		{Name: "hooks.max_wait", example: "10s", field: func(c *Config) any { return &c.Hooks.MaxWait },
			Help: "how long a prompt waits for the first snapshot, and a fork for the agent in the terminal of launch.open"},
		{Name: "hooks.tools", example: "false", field: func(c *Config) any { return &c.Hooks.Tools },
			Help: "snapshots before tools that write"},
		{Name: "hooks.mcp", example: "false", field: func(c *Config) any { return &c.Hooks.MCP },
			Help: "agents that get hooks get Umbra's own tools with them (umbra mcp)"},
		{Name: "adopt.include", example: "/home/ada/code", field: func(c *Config) any { return &c.Adopt.Include }, check: checkPatterns,
			Help: "directories whose sessions, started by hand, become missions; none: all of them"},
		{Name: "adopt.exclude", example: "/home/ada/scratch", field: func(c *Config) any { return &c.Adopt.Exclude }, check: checkPatterns,
			Help: "directories whose sessions do not"},
		{Name: "watch.settle", counts: serving, example: "5s", least: 1, field: func(c *Config) any { return &c.Watch.Settle },
			Help: "quiet for this long is an idle point, for agents without hooks"},
		{Name: "watch.max_wait", counts: serving, example: "1m", least: 1, field: func(c *Config) any { return &c.Watch.MaxWait },
			Help: "a writer that never pauses is at an idle point after this long"},
		{Name: "launch.open", example: "tmux split-window -h 'umbra mission resume {id}'", field: func(c *Config) any { return &c.Launch.Open },
			Help: "a command that is run for each fork of --count, and for a side fork that needs a terminal; {id} is the mission"},
		{Name: "missions.max_live", example: "4", field: func(c *Config) any { return &c.Missions.MaxLive },
			Help: "missions with an agent at once; another is refused; 0 is no limit"},
		{Name: "automations.ready", example: "make -s report", commands: true, field: func(c *Config) any { return &c.Automations.Ready },
			Help: "run when an agent has started"},
		{Name: "automations.idle", example: "make -s report", commands: true, field: func(c *Config) any { return &c.Automations.Idle },
			Help: "run when a turn has ended and the agent waits for you"},
		{Name: "automations.error", example: "make -s report", commands: true, field: func(c *Config) any { return &c.Automations.Error },
			Help: "run when a turn has ended in an error"},
		{Name: "automations.close", example: "make -s report", commands: true, field: func(c *Config) any { return &c.Automations.Close },
			Help: "run when an agent has ended"},
		{Name: "automations.time_limit", counts: working, example: "5m", least: 1, field: func(c *Config) any { return &c.Automations.TimeLimit },
			Help: "a command that runs longer is killed, with all it has started"},
		{Name: "check.time_limit", example: "1h", field: func(c *Config) any { return &c.Check.TimeLimit },
			Help: "a check that runs longer is ended, with all it has started, and can't tell; a merge driver, too; 0 is no limit"},
		{Name: "tools.cut", example: "parrot ~/bin/parrot-cut", commands: true, field: func(c *Config) any { return &c.Tools.Cut }, check: checkToolPrograms,
			Help: "TOOL PROGRAM: cuts a conversation of a tool that calls umbra hook generic where the tool can go on from"},
		{Name: "tools.rewrite", example: "parrot ~/bin/parrot-rewrite", commands: true, field: func(c *Config) any { return &c.Tools.Rewrite }, check: checkToolPrograms,
			Help: "TOOL PROGRAM: gives a copied conversation of such a tool its new session and workspace"},
		{Name: "storage.max_bytes", counts: working, example: "200GiB", field: func(c *Config) any { return &c.Storage.MaxBytes },
			Help: "of Umbra's home, without packs that your repositories share; beyond it nothing is written; 0 is no limit"},
		{Name: "storage.keep_free", counts: working, example: "1GiB", field: func(c *Config) any { return &c.Storage.KeepFree },
			Help: "left free on the home's disk, at least 16 MiB; below it nothing is written"},
		{Name: "import.daily", counts: serving, example: "false", field: func(c *Config) any { return &c.Import.Daily },
			Help: "umbra import of your agents' sessions, once typed, is done daily by itself while Umbra is in use, as config.yml has it"},
		{Name: "retention.keep_last", least: 1, example: "20", field: func(c *Config) any { return &c.Retention.KeepLast },
			Help: "umbra prune keeps so many of a mission's newest turns"},
		{Name: "retention.keep_within", example: "90d", field: func(c *Config) any { return &c.Retention.KeepWithin },
			Help: "it keeps turns that ended no longer ago"},
		{Name: "retention.keep_hourly", example: "24", field: func(c *Config) any { return &c.Retention.KeepHourly },
			Help: "it keeps the newest turn of so many hours that have one"},
		{Name: "retention.keep_daily", example: "60", field: func(c *Config) any { return &c.Retention.KeepDaily },
			Help: "it keeps the newest turn of so many days that have one"},
		{Name: "retention.auto", counts: serving, example: "true", field: func(c *Config) any { return &c.Retention.Auto },
			Help: "old snapshots are dropped by this policy, as config.yml has it, without umbra prune: from a week after umbra status could say so first; once storage.max_bytes is reached by a tighter one, down to keep_last, a day after it could say that"},
		{Name: "retention.trash", counts: serving, never: true, least: int64(day), example: "30d", field: func(c *Config) any { return &c.Retention.Trash },
			Help: "what umbra mission rm moved to the trash so long ago is removed for good, as config.yml has it, without umbra trash empty: from a week after umbra status could say so first"},
		{Name: "retention.forks", counts: serving, never: true, least: int64(day), example: "14d", field: func(c *Config) any { return &c.Retention.Forks },
			Help: "a fork whose agent has ended and all of whose work was landed or promoted so long ago goes to the trash, as config.yml has it, with the workspace that Umbra made: from a week after umbra status could say so first"},
	}
}

// scope is where a key's variable counts.
type scope int

const (
	asking  scope = iota // for the command that sees it, whoever does its work
	working              // in the process that does the work: a command that sees it does its own
	serving              // in the process that watches, which serves others for long
)

// Variable is the environment variable that overrides the key, "" of a list: one
// value can't say where the next begins.
func (k Key) Variable() string {
	if k.many() {
		return ""
	}
	return "UMBRA_" + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Variables are those of all keys.
func Variables() []string {
	var names []string
	for _, k := range Keys() {
		if name := k.Variable(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// projectKeys are those that a project's own file may say.
func projectKeys() []Key {
	var keys []Key
	for _, k := range Keys() {
		if k.Project {
			keys = append(keys, k)
		}
	}
	return keys
}

// FindKey is the key of that name; the error names one that is alike.
func FindKey(name string) (Key, error) {
	keys := Keys()
	for _, k := range keys {
		if k.Name == name {
			return k, nil
		}
	}
	hint := "umbra config list shows all of them"
	if like := nearest(name, keys); like != "" {
		hint = "did you mean " + like + "?"
	}
	return Key{}, wrong(hint, "there is no key %q", name)
}

// nearest is a key that may have been meant: one with the same last word, or
// that begins or ends alike.
func nearest(name string, keys []Key) string {
	_, last, _ := strings.Cut(name, ".")
	if last == "" {
		last = name
	}
	for _, k := range keys {
		_, word, _ := strings.Cut(k.Name, ".")
		if word == last || last != "" && (strings.HasPrefix(word, last) || strings.HasPrefix(last, word)) {
			return k.Name
		}
	}
	for _, k := range keys {
		if name != "" && (strings.HasPrefix(k.Name, name) || differsLittle(k.Name, name)) {
			return k.Name
		}
	}
	return ""
}

// shown is the example as it is typed in a shell: none has what a shell expands
// between double quotes.
func (k Key) shown() string {
	if strings.ContainsAny(k.example, " *~'{") {
		return `"` + k.example + `"`
	}
	return k.example
}

// takes says what a value of the key may be, with an example.
func (k Key) takes() string {
	said := map[string]string{
		"bytes": "a size", "number": "a number", "duration": "a duration", "list": "patterns", "commands": "commands", "text": "a text",
	}[k.Kind()]
	switch k.field(&Config{}).(type) {
	case *bool:
		return "true or false"
	case *int64, *int:
		said += fmt.Sprintf(" of at least %d", k.least)
	case *Duration:
		switch {
		case k.never:
			return said + " of at least " + DurationText(time.Duration(k.least)) + " such as " + k.example + ", or " + never
		case k.least > 0:
			said += " above 0"
		}
	case *string:
		if k.check != nil {
			said = "an absolute path"
		}
	}
	return said + " such as " + k.example
}

// differsLittle reports whether two words are the same but for one letter that
// is missing, added or another, or for two that have changed places.
func differsLittle(a, b string) bool {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	a, b = a[at:], b[at:]
	end := func(s string) string { return s[min(1, len(s)):] }
	swapped := len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
	return a == end(b) || end(a) == b || end(a) == end(b) || swapped
}

// Kind says what a key's value is, for people.
func (k Key) Kind() string {
	switch k.field(&Config{}).(type) {
	case *int64:
		return "bytes"
	case *int:
		return "number"
	case *Duration:
		return "duration"
	case *bool:
		return "true or false"
	case *[]string:
		if k.commands {
			return "commands"
		}
		return "list"
	}
	return "text"
}

// many reports whether the value is a list.
func (k Key) many() bool {
	_, ok := k.field(&Config{}).(*[]string)
	return ok
}

func checkPatterns(v any) error {
	for _, pattern := range v.([]string) {
		if _, err := path.Match(strings.TrimPrefix(pattern, "!"), ""); err != nil || pattern == "" {
			return fmt.Errorf("%q", pattern)
		}
	}
	return nil
}

func checkRootText(v any) error {
	if root := v.(string); !strings.HasPrefix(root, "~/") && !filepath.IsAbs(root) {
		return fmt.Errorf("%q", root)
	}
	return nil
}
