package missions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// settingsMode is the mode of an agent's settings that are new.
const settingsMode = 0o600

// hookPlace is where an agent's hooks go.
type hookPlace struct {
	sessions.Installing
	file   string
	scope  sessions.Scope
	extras []sessions.Extra
	status sessions.StatusLiner // nil where these settings are not the place for a status line
	keep   []string             // directories that stay, also with nothing in them
}

// hooked finds the adapter and the settings file that a request is about, and the
// files that go beside it.
func (l *Local) hooked(r HooksRequest) (hookPlace, error) {
	agent := l.adapter(r.Name)
	a, ok := agent.(sessions.Installing)
	if !ok && !isForeign(agent) {
		return hookPlace{}, Errorf(KindUsage, "docs/agents.md, “Any other tool”, says how another one tells Umbra", "there are no hooks for %q, but for %s", r.Name, strings.Join(HookNames(), ", "))
	}
	if !ok {
		return hookPlace{}, Errorf(KindUsage, "docs/agents.md, “Any other tool”, says what to give it", "there is nothing to install for %s: a tool calls `umbra hook %s` by itself", r.Name, r.Name)
	}
	scope := sessions.ScopeUser
	switch {
	case r.Shared && !r.Project:
		return hookPlace{}, Errorf(KindUsage, "umbra hooks install "+r.Name+" --project --shared", "--shared goes with --project")
	case r.Shared:
		scope = sessions.ScopeShared
	case r.Project:
		scope = sessions.ScopeProject
	}
	g, err := survey(r.Caller.Cwd)
	if err != nil {
		return hookPlace{}, err
	}
	env := callerEnv(r.Caller)
	at := hookPlace{Installing: a, scope: scope, file: a.HookFile(env, scope, g.Top), keep: []string{a.Root(env), env.Home, g.Top}}
	if scope == sessions.ScopeUser { // a project's would hide the user's own
		at.status, _ = a.(sessions.StatusLiner)
	}
	if c, ok := a.(sessions.Companion); ok {
		at.extras = c.HookExtras(env, scope, g.Top)
	}
	return at, nil
}

// InstallHooks merges Umbra's hooks into the agent's settings.
func (l *Local) InstallHooks(ctx context.Context, r HooksRequest) (HooksResult, error) {
	if r.Caller.Binary == "" {
		return HooksResult{}, Errorf(KindConflict, "go install github.com/umbra-vcs/umbra@latest, then umbra hooks install "+r.Name,
			"hooks need an umbra that stays where it is; this one was started by `go run`")
	}
	if f, err := l.fitting(ctx, r); f != nil || err != nil {
		return fit(f, r, fitting.install, err)
	}
	at, err := l.hooked(r)
	if err != nil {
		return HooksResult{}, err
	}
	changed, err := at.putIn(r.Caller.Binary)
	if err != nil {
		return HooksResult{}, err
	}
	added, err := at.installExtras()
	if err != nil {
		return HooksResult{}, err
	}
	l.rememberHooks(ctx, at, r)
	return l.hooksState(at, r, changed || added)
}

// putIn puts the hooks into the settings.
func (at hookPlace) putIn(binary string) (changed bool, err error) {
	return userfile.Change(at.file, settingsMode, func(before []byte) ([]byte, error) {
		after, err := at.InstallHooks(before, hookCommand(binary, at.Name()))
		if err == nil {
			after, _, err = at.addStatusLine(after, binary)
		}
		if err != nil {
			return nil, Errorf(KindConflict, mending(err), "%s: %w", at.file, err)
		}
		return after, at.proveReversible(before, after)
	})
}

// mending is what helps where hooks can't be put into a file.
func mending(err error) string {
	if errors.Is(err, sessions.ErrForeignFile) {
		return "give that file another name, and install again"
	}
	return "mend the file, or add the hooks by hand"
}

// UninstallHooks takes them out again; what else is in the settings stays as it
// is, to the byte.
func (l *Local) UninstallHooks(ctx context.Context, r HooksRequest) (HooksResult, error) {
	if f, err := l.fitting(ctx, r); f != nil || err != nil {
		return fit(f, r, fitting.uninstall, err)
	}
	at, err := l.hooked(r)
	if err != nil {
		return HooksResult{}, err
	}
	if err := l.forgetHooks(ctx, at); err != nil { // first: nobody is to put them back
		return HooksResult{}, err
	}
	changed, err := at.takeOut()
	if err != nil {
		return HooksResult{}, err
	}
	removed, err := removeExtras(at.extras)
	if err != nil {
		return HooksResult{}, err
	}
	return l.hooksState(at, r, changed || removed)
}

// takeOut takes the hooks out of the settings, and the file away that was made for
// them.
func (at hookPlace) takeOut() (changed bool, err error) {
	emptied := false
	changed, err = userfile.Change(at.file, settingsMode, func(before []byte) ([]byte, error) {
		if emptied = false; before == nil {
			return nil, nil
		}
		after, remove, err := at.without(before)
		switch {
		case err != nil:
			return nil, Errorf(KindConflict, "mend the file, or take the hooks out by hand", "%s: %w", at.file, err)
		case remove:
			emptied = true
			return nil, nil
		case bytes.Equal(before, after):
			return before, nil
		}
		return after, nil
	})
	if changed && emptied {
		at.removeEmptied()
	}
	return changed, err
}

// without are settings without anything of Umbra's; remove says that there was
// no file before.
func (at hookPlace) without(settings []byte) (after []byte, remove bool, err error) {
	if after, err = at.dropStatusLine(settings); err != nil {
		return nil, false, err
	}
	return at.UninstallHooks(after)
}

// proveReversible refuses settings that could not be given back to the byte: what
// Umbra has made in a file is told by how it looks.
func (at hookPlace) proveReversible(before, after []byte) error {
	if commands, _, err := at.HookCommands(before); err != nil || len(commands) > 0 {
		return nil // an earlier one has made them what they are
	}
	back, remove, err := at.without(after)
	if err == nil && remove == (before == nil) && (remove || bytes.Equal(back, before)) {
		return nil
	}
	return Errorf(KindConflict, `write what is empty of "hooks" there as {} or [], or take it out, and install again`,
		"%s: hooks could not be taken out again without changing what is in it now", at.file)
}

// HooksStatus says whether hooks are installed, and how well.
func (l *Local) HooksStatus(ctx context.Context, r HooksRequest) (HooksResult, error) {
	if f, err := l.fitting(ctx, r); f != nil || err != nil {
		return fit(f, r, nil, err)
	}
	at, err := l.hooked(r)
	if err != nil {
		return HooksResult{}, err
	}
	state, err := l.hooksState(at, r, false)
	if h, known := l.remembered(at.file); known && !state.Installed {
		if g, gone := l.goneFrom(h); gone {
			state.Problems = append(state.Problems, "another program has taken them out: "+g.problem().Fix)
		}
	}
	return state, err
}

func (l *Local) hooksState(at hookPlace, r HooksRequest, changed bool) (HooksResult, error) {
	result := HooksResult{Name: r.Name, File: at.file, Project: r.Project, Shared: r.Shared, Changed: changed, Adopts: l.adopts()}
	result.Absent = !onPath(r.Caller.Env["PATH"], r.Name)
	settings, err := userfile.Read(at.file)
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
		if why := t.Distrusted(callerEnv(r.Caller), at.file, os.ReadFile); why != "" {
			result.Problems = append(result.Problems, why)
		}
	}
	if at.off(settings) {
		result.Problems = append(result.Problems, fmt.Sprintf("%s switches all hooks off (disableAllHooks): none of them runs", at.file))
	}
	if result.Installed && len(missing) > 0 {
		result.Problems = append(result.Problems, fmt.Sprintf("some events have no hook: umbra hooks install %s mends it", r.Name))
	}
	if want := hookCommand(r.Caller.Binary, at.Name()); result.Installed && want != "" && result.Command != want {
		result.Problems = append(result.Problems, fmt.Sprintf("they call %s, this is %s: umbra hooks install %s changes it", result.Command, want, r.Name))
	}
	if result.Installed {
		at.describeStatusLine(&result, settings, r.Caller.Binary)
		err = at.describeExtras(&result)
	}
	return result, err
}

// off reports whether settings switch all hooks off.
func (at hookPlace) off(settings []byte) bool {
	s, ok := at.Installing.(sessions.Silencing)
	return ok && s.HooksOff(settings)
}

// adopts says in words which sessions become missions.
func (l *Local) adopts() string {
	c := l.config.Adopt
	switch {
	case len(c.Include) == 0 && len(c.Exclude) == 0:
		return "every session becomes a mission"
	case len(c.Include) == 0:
		return fmt.Sprintf("every session becomes a mission, but those in %v", c.Exclude)
	}
	return fmt.Sprintf("sessions in %v become missions, but those in %v", c.Include, c.Exclude)
}
