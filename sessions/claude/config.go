package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

var _ sessions.Configured = Adapter{}

// Names of the user's configuration below Root.
const (
	userSettings = "settings.json"
	instructions = "CLAUDE.md"
)

// loadable are the directories that Claude Code from 2.1 on also reads in the
// .claude directory of one that --add-dir names.
var loadable = []string{"agents/", "commands/", "skills/"}

// ConfigRoot implements sessions.Configured.
func (a Adapter) ConfigRoot(env sessions.Environ) string { return a.Root(env) }

// ConfigPaths implements sessions.Configured.
func (Adapter) ConfigPaths() []string {
	return []string{userSettings, instructions, "keybindings.json", "agents/", "commands/", "skills/", "hooks/", "output-styles/", "rules/"}
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret goes.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	return jsontext.CleanSettings(name, content)
}

// mostInstructions is how long the instructions may be to be passed as an
// argument, of which Linux takes 128 KiB (execve(2)).
const mostInstructions = 96 << 10

// configure gives the launch a configuration as it was: the user's settings,
// instructions, commands, agents and skills are not read where they are
// (--setting-sources), and passed instead. CLAUDE_CONFIG_DIR would do it in one,
// but the sessions and credentials would be elsewhere too. What the user's own
// command passes counts more.
func (l *launch) configure() error {
	switch {
	case l.args.Has("--settings"):
		return errors.New("its command has --settings of its own")
	case l.args.Has("--bare", "--safe-mode"):
		return errors.New("its command reads no configuration")
	case l.o.SettingsDir == "":
		return errors.New("there is no place for it")
	case !l.args.Has("--print") && l.any(l.o.Config.Names, loadable...):
		return l.configureOver()
	}
	sources, err := l.sources()
	if err != nil {
		return err
	}
	if l.settings, err = l.earlierSettings(); err != nil {
		return err
	}
	if err := l.instruct(); err != nil {
		return err
	}
	l.addLoadable()
	if file := l.userFile(); file != "" && !l.args.Has("--strict-mcp-config") {
		l.args = l.args.First("--mcp-config", file)
	}
	l.args = l.args.Without("--setting-sources")
	l.args = l.args.First("--setting-sources", sources)
	l.cmd.Configured = true
	return nil
}

// configureOver is configure on a terminal, where 2.1 asks first whether it may
// read commands, agents and skills in another directory, and ends if it may not.
// Where those are what they were, the user's own are read, and settings and
// instructions as they were count over those of now.
func (l *launch) configureOver() error {
	changed := l.o.Config.Changed
	if l.any(changed, loadable...) || l.args.Has("--setting-sources") {
		return errors.New("on a terminal Claude Code would ask first whether it may read the commands, agents and skills of then")
	}
	l.cmd.Configured = true
	if !l.any(changed, userSettings, instructions) {
		return nil
	}
	if l.any(changed, userSettings) {
		l.cmd.Unconfigured = "settings that were added since count too"
	}
	var err error
	if l.settings, err = l.earlierSettings(); err == nil {
		err = l.instruct()
	}
	return err
}

// sources are those of the settings that are read, without the user's.
func (l *launch) sources() (string, error) {
	value, ok := l.args.Value("--setting-sources")
	if !ok {
		return "project,local", nil
	}
	var kept []string
	for source := range strings.SplitSeq(value, ",") {
		if s := strings.TrimSpace(source); s != "user" && s != "" {
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return "", errors.New("its command reads the user's settings alone")
	}
	return strings.Join(kept, ","), nil
}

// keyDangerAccepted says that the user has read what 2.1 says of running without
// permissions: it need not be read again.
const keyDangerAccepted = "skipDangerousModePermissionPrompt"

// earlierSettings are the settings as they were, with the variables and secrets of
// now: their values are kept nowhere.
func (l *launch) earlierSettings() ([]byte, error) {
	settings, err := l.o.Config.Read(userSettings)
	if err != nil {
		settings = []byte("{}\n")
	}
	var now []byte
	if l.o.ReadFile != nil {
		now, _ = l.o.ReadFile(l.a.HookFile(l.o.Env, sessions.ScopeUser, l.o.Dir)) // none is none
	}
	for _, key := range []string{keyEnv, keyDangerAccepted} {
		if settings, err = jsontext.SetMember(settings, key, jsontext.Lookup(now, key)); err != nil {
			return nil, err
		}
	}
	settings, missing, err := jsontext.RestoreSettings(settings, now)
	if err != nil {
		return nil, err
	}
	l.lacks(userSettings, missing)
	return l.withoutInstructions(settings)
}

// earlier is a file as it was, with the secrets that the one of now has in their places.
func (l *launch) earlier(name string) ([]byte, error) {
	kept, err := l.o.Config.Read(name)
	if err != nil || secrets.Count(kept) == 0 {
		return kept, err
	}
	var now []byte
	if l.o.ReadFile != nil {
		now, _ = l.o.ReadFile(filepath.Join(l.a.Root(l.o.Env), filepath.FromSlash(name))) // none is none
	}
	text, missing := secrets.Restore(kept, now)
	l.lacks(name, missing)
	return text, nil
}

// lacks notes that secrets of a file of then are not in that of now.
func (l *launch) lacks(name string, missing int) {
	if missing > 0 {
		l.without = append(l.without, name)
	}
}

// sayWithout says which files have placeholders.
func (l *launch) sayWithout() {
	if len(l.without) == 0 || !l.cmd.Configured {
		return
	}
	said := "without the secrets that " + strings.Join(l.without, ", ") + " had then, which are kept nowhere and not in the same place now"
	if l.cmd.Unconfigured != "" {
		said = l.cmd.Unconfigured + ", and " + said
	}
	l.cmd.Unconfigured = said
}

// withoutInstructions keeps the instructions of now out: below the user's home
// directory 2.1 takes them for a project's.
func (l *launch) withoutInstructions(settings []byte) ([]byte, error) {
	const key = "claudeMdExcludes"
	var excluded []string
	if list := jsontext.Lookup(settings, key); list != nil && json.Unmarshal(list, &excluded) != nil {
		return nil, fmt.Errorf("%s in %s is no list", key, userSettings)
	}
	list, err := json.Marshal(append(excluded, filepath.Join(l.a.Root(l.o.Env), instructions)))
	if err != nil {
		return nil, err
	}
	return jsontext.SetMember(settings, key, list)
}

// instruct appends the instructions as they were to the system prompt.
func (l *launch) instruct() error {
	text, err := l.earlier(instructions)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	switch {
	case len(text) > mostInstructions:
		return fmt.Errorf("%s is too long to be passed", instructions)
	case l.args.Has("--append-system-prompt-file", "--system-prompt-file"):
		return errors.New("its command has a system prompt of its own")
	}
	said := string(text)
	if own, ok := l.args.Value("--append-system-prompt"); ok {
		said = own + "\n\n" + said
		l.args = l.args.Without("--append-system-prompt")
	}
	l.args = l.args.First("--append-system-prompt", said)
	return nil
}

// any reports whether one of the names begins with one of the prefixes.
func (l *launch) any(names []string, prefixes ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return hasAnyPrefix([]byte(name), prefixes) })
}

// addLoadable places commands, agents and skills in a directory of this launch.
func (l *launch) addLoadable() {
	dir, found := filepath.Join(l.o.SettingsDir, "config"), false
	for _, name := range l.o.Config.Names {
		for _, prefix := range loadable {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			found = true
			p, err := l.earlier(name)
			mode := fs.FileMode(0o600)
			if l.o.Config.Executable[name] {
				mode = 0o700 // a skill's script
			}
			l.cmd.Files = append(l.cmd.Files, sessions.File{
				Path: filepath.Join(dir, ".claude", filepath.FromSlash(name)), Mode: mode,
				Write: func(w io.Writer) error {
					if err == nil {
						_, err = w.Write(p)
					}
					return err
				},
			})
		}
	}
	if found {
		l.args = l.args.First("--add-dir", dir)
	}
}

// userFile is the file in which Claude Code keeps the user's MCP servers, which
// go with the user's settings; "" if it has none.
func (l *launch) userFile() string {
	file := Servers{}.ServerFile(l.o.Env)
	if l.o.ReadFile == nil {
		return ""
	}
	p, err := l.o.ReadFile(file)
	if err != nil || len(jsontext.Lookup(bytes.TrimSpace(p), "mcpServers")) <= len("{}") {
		return ""
	}
	return file
}
