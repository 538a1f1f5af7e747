package hooks

import (
	"bytes"
	"errors"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// settingsMode is the mode of a new settings file.
const settingsMode = 0o600

// HookPlace is where an agent's hooks go.
type HookPlace struct {
	sessions.Installing
	File       string
	scope      sessions.Scope
	extras     []sessions.Extra
	statusLine sessions.StatusLiner // nil where these settings are not the place for a status line
	server     sessions.Serving     // nil where these settings name no servers of tools
	installed  *InstalledHooks      // what is known of how they came there, nil if nothing is
	keepDirs   []string             // directories that stay, also with nothing in them, where nothing is known
	program    string               // the agent's, "" if it is not known, or anybody's as in a project's shared settings
	// wantsServer reports whether the user wants Umbra's tools in it.
	wantsServer bool
}

// findHookPlace finds a request's adapter, its settings file, and the files that go beside
// that.
func (in *Installer) findHookPlace(r missions.HooksRequest) (HookPlace, error) {
	agent := in.Adapter(r.Name)
	a, ok := agent.(sessions.Installing)
	if !ok && !projects.IsForeignAdapter(agent) {
		return HookPlace{}, missions.Errorf(missions.KindUsage, "docs/agents/generic.md says how another one tells Umbra", "there are no hooks for %q, but for %s", r.Name, strings.Join(events.HookNames(), ", "))
	}
	if !ok {
		return HookPlace{}, missions.Errorf(missions.KindUsage, "docs/agents/generic.md says what to give it", "there is nothing to install for %s: a tool calls `umbra hook %s` by itself", r.Name, r.Name)
	}
	scope := sessions.ScopeUser
	switch {
	case r.Shared && !r.Project:
		return HookPlace{}, missions.Errorf(missions.KindUsage, "umbra hooks install "+r.Name+" --project --shared", "--shared goes with --project")
	case r.Shared:
		scope = sessions.ScopeShared
	case r.Project:
		scope = sessions.ScopeProject
	}
	g, err := projects.InspectDirectory(r.Caller.Cwd)
	if err != nil {
		return HookPlace{}, err
	}
	env := projects.CallerEnv(r.Caller)
	at := HookPlace{Installing: a, scope: scope, File: a.HookFile(env, scope, g.Top), keepDirs: []string{a.Root(env), env.Home, g.Top}}
	if scope == sessions.ScopeUser { // a project's would hide the user's own
		at.statusLine, _ = a.(sessions.StatusLiner)
	}
	if at.program, err = missions.LookPath(r.Name, r.Caller.Cwd, r.Caller.Env["PATH"]); err != nil || scope == sessions.ScopeShared {
		at.program = ""
	}
	at.server, _ = a.(sessions.Serving)
	at.wantsServer = in.HookConfig(r.Caller).Hooks.MCP
	if c, ok := a.(sessions.Companion); ok {
		at.extras = c.HookExtras(env, scope, g.Top)
	}
	return at, nil
}

// AddHooks puts the hooks into the settings.
func (at HookPlace) AddHooks(binary string) (changed bool, err error) {
	return userfile.Change(at.File, settingsMode, func(before []byte) ([]byte, error) {
		after, err := at.withHooks(before, agents.HookCommand(binary, at.Name()))
		if err == nil {
			after, _, err = at.addStatusLine(after, binary)
		}
		if err == nil {
			after, _, err = at.addServer(after, binary)
		}
		if err != nil {
			return nil, missions.Errorf(missions.KindConflict, installHint(err), "%s: %w", at.File, err)
		}
		return after, at.checkReversible(before, after)
	})
}

// withHooks adds the hooks to settings, those for worktrees too where the agent knows them.
func (at HookPlace) withHooks(settings []byte, command string) ([]byte, error) {
	if w := projects.WorktreeHooks(at.Name()); w != nil {
		return w.Install(settings, command, at.program)
	}
	return at.InstallHooks(settings, command)
}

// installHint is what to do if hooks can't be put into a file.
func installHint(err error) string {
	if errors.Is(err, sessions.ErrForeignFile) {
		return "give that file another name, and install again"
	}
	return "mend the file, or add the hooks by hand"
}

// RemoveHooks takes the hooks out of the settings, and removes a file that was made for
// them.
func (at HookPlace) RemoveHooks() (changed bool, err error) {
	emptied := false
	changed, err = userfile.Change(at.File, settingsMode, func(before []byte) ([]byte, error) {
		if emptied = false; before == nil {
			return nil, nil
		}
		after, remove, err := at.withoutHooks(before)
		switch {
		case err != nil:
			return nil, missions.Errorf(missions.KindConflict, "mend the file, or take the hooks out by hand", "%s: %w", at.File, err)
		case remove:
			emptied = true
			return nil, nil
		case bytes.Equal(before, after):
			return before, nil
		}
		return after, nil
	})
	if changed && emptied {
		at.removeEmptyDirs()
	}
	return changed, err
}

// withoutHooks takes everything of Umbra's out of settings. remove says that Umbra had made
// the file.
func (at HookPlace) withoutHooks(settings []byte) (after []byte, remove bool, err error) {
	if after, err = at.dropServer(settings); err == nil {
		after, err = at.dropStatusLine(after)
	}
	if err != nil {
		return nil, false, err
	}
	return at.UninstallHooks(after)
}

// checkReversible refuses settings that uninstalling could not restore to the byte: Umbra
// knows its own additions to a file only by their look.
func (at HookPlace) checkReversible(before, after []byte) error {
	if commands, _, err := at.HookCommands(before); err != nil || len(commands) > 0 {
		return nil // an earlier one has made them what they are
	}
	back, remove, err := at.withoutHooks(after)
	if err == nil && remove == (before == nil) && (remove || bytes.Equal(back, before)) {
		return nil
	}
	return missions.Errorf(missions.KindConflict, `write what is empty of "hooks" there as {} or [], or take it out, and install again`,
		"%s: hooks could not be taken out again without changing what is in it now", at.File)
}

// isOff reports whether settings switch all hooks off.
func (at HookPlace) isOff(settings []byte) bool {
	s, ok := at.Installing.(sessions.Silencing)
	return ok && s.HooksOff(settings)
}
