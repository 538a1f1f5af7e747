package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// settingsMode is the mode of an agent's settings that are new.
const settingsMode = 0o600

// HookPlace is where an agent's hooks go.
type HookPlace struct {
	sessions.Installing
	File       string
	scope      sessions.Scope
	extras     []sessions.Extra
	statusLine sessions.StatusLiner // nil where these settings are not the place for a status line
	keepDirs   []string             // directories that stay, also with nothing in them
}

// findHookPlace finds the adapter and the settings file that a request is about, and the
// files that go beside it.
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
	if c, ok := a.(sessions.Companion); ok {
		at.extras = c.HookExtras(env, scope, g.Top)
	}
	return at, nil
}

// InstallHooks merges Umbra's hooks into the agent's settings.
func (in *Installer) InstallHooks(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	if r.Caller.Binary == "" {
		return missions.HooksResult{}, missions.Errorf(missions.KindConflict, "go install github.com/umbra-vcs/umbra@latest, then umbra hooks install "+r.Name,
			"hooks need an umbra that stays where it is; this one was started by `go run`")
	}
	if f, err := in.findIntegration(ctx, r); f != nil || err != nil {
		return runIntegration(f, r, integration.install, err)
	}
	at, err := in.findHookPlace(r)
	if err != nil {
		return missions.HooksResult{}, err
	}
	changed, err := at.AddHooks(r.Caller.Binary)
	if err != nil {
		return missions.HooksResult{}, err
	}
	added, err := at.installExtras()
	if err != nil {
		return missions.HooksResult{}, err
	}
	in.rememberHooks(ctx, at, r)
	return in.hooksState(at, r, changed || added)
}

// AddHooks puts the hooks into the settings.
func (at HookPlace) AddHooks(binary string) (changed bool, err error) {
	return userfile.Change(at.File, settingsMode, func(before []byte) ([]byte, error) {
		after, err := at.InstallHooks(before, agents.HookCommand(binary, at.Name()))
		if err == nil {
			after, _, err = at.addStatusLine(after, binary)
		}
		if err != nil {
			return nil, missions.Errorf(missions.KindConflict, installHint(err), "%s: %w", at.File, err)
		}
		return after, at.checkReversible(before, after)
	})
}

// installHint is what helps where hooks can't be put into a file.
func installHint(err error) string {
	if errors.Is(err, sessions.ErrForeignFile) {
		return "give that file another name, and install again"
	}
	return "mend the file, or add the hooks by hand"
}

// UninstallHooks takes them out again; what else is in the settings stays as it
// is, to the byte.
func (in *Installer) UninstallHooks(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	if f, err := in.findIntegration(ctx, r); f != nil || err != nil {
		return runIntegration(f, r, integration.uninstall, err)
	}
	at, err := in.findHookPlace(r)
	if err != nil {
		return missions.HooksResult{}, err
	}
	if err := in.forgetHooks(ctx, at); err != nil { // first: nobody is to put them back
		return missions.HooksResult{}, err
	}
	changed, err := at.RemoveHooks()
	if err != nil {
		return missions.HooksResult{}, err
	}
	removed, err := removeExtras(at.extras)
	if err != nil {
		return missions.HooksResult{}, err
	}
	return in.hooksState(at, r, changed || removed)
}

// RemoveHooks takes the hooks out of the settings, and the file away that was made for
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

// withoutHooks are settings without anything of Umbra's; remove says that there was
// no file before.
func (at HookPlace) withoutHooks(settings []byte) (after []byte, remove bool, err error) {
	if after, err = at.dropStatusLine(settings); err != nil {
		return nil, false, err
	}
	return at.UninstallHooks(after)
}

// checkReversible refuses settings that could not be given back to the byte: what
// Umbra has made in a file is told by how it looks.
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

// HooksStatus says whether hooks are installed, and how well.
func (in *Installer) HooksStatus(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	if f, err := in.findIntegration(ctx, r); f != nil || err != nil {
		return runIntegration(f, r, nil, err)
	}
	at, err := in.findHookPlace(r)
	if err != nil {
		return missions.HooksResult{}, err
	}
	state, err := in.hooksState(at, r, false)
	if h, known := in.installedHooksIn(at.File); known && !state.Installed {
		if g, gone := in.goneHooksOf(h); gone {
			state.Problems = append(state.Problems, "another program has taken them out: "+g.Problem().Fix)
		}
	}
	return state, err
}

func (in *Installer) hooksState(at HookPlace, r missions.HooksRequest, changed bool) (missions.HooksResult, error) {
	result := missions.HooksResult{Name: r.Name, File: at.File, Project: r.Project, Shared: r.Shared, Changed: changed, Adopts: in.adoptionText()}
	result.Absent = !agents.IsOnPath(r.Caller.Env["PATH"], r.Name)
	settings, err := userfile.Read(at.File)
	if err != nil || settings == nil {
		return result, err
	}
	commands, missing, err := at.HookCommands(settings)
	if err != nil {
		result.Problems = append(result.Problems, err.Error())
		return result, nil
	}
	result.Installed, result.Missing = len(commands) > 0, missing
	if len(commands) > 0 {
		result.Command = commands[0]
	}
	for _, c := range commands {
		if c != result.Command {
			result.Problems = append(result.Problems, "two different commands are installed: "+result.Command+" and "+c)
			break
		}
	}
	if t, ok := at.Installing.(sessions.Truster); ok && result.Installed {
		if why := t.Distrusted(projects.CallerEnv(r.Caller), at.File, os.ReadFile); why != "" {
			result.Problems = append(result.Problems, why)
		}
	}
	if at.off(settings) {
		result.Problems = append(result.Problems, fmt.Sprintf("%s switches all hooks off (disableAllHooks): none of them runs", at.File))
	}
	if result.Installed && len(missing) > 0 {
		result.Problems = append(result.Problems, fmt.Sprintf("some events have no hook: umbra hooks install %s mends it", r.Name))
	}
	if want := agents.HookCommand(r.Caller.Binary, at.Name()); result.Installed && want != "" && result.Command != want {
		result.Problems = append(result.Problems, fmt.Sprintf("they call %s, this is %s: umbra hooks install %s changes it", result.Command, want, r.Name))
	}
	if result.Installed {
		at.describeStatusLine(&result, settings, r.Caller.Binary)
		err = at.describeExtras(&result)
	}
	return result, err
}

// off reports whether settings switch all hooks off.
func (at HookPlace) off(settings []byte) bool {
	s, ok := at.Installing.(sessions.Silencing)
	return ok && s.HooksOff(settings)
}

// adoptionText says in words which sessions become missions.
func (in *Installer) adoptionText() string {
	c := in.Config.Adopt
	switch {
	case len(c.Include) == 0 && len(c.Exclude) == 0:
		return "every session becomes a mission"
	case len(c.Include) == 0:
		return fmt.Sprintf("every session becomes a mission, but those in %v", c.Exclude)
	}
	return fmt.Sprintf("sessions in %v become missions, but those in %v", c.Include, c.Exclude)
}
