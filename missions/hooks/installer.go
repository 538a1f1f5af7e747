// Package hooks puts the hooks of agents, Git and editors in place, checks them, and
// takes them out again so that the user's file is as it was, to the byte.
package hooks

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// Installer installs hooks.
type Installer struct{ *projects.Desk }

// New makes an Installer.
func New(d *projects.Desk) *Installer { return &Installer{Desk: d} }

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
	made := at.missingDirs()
	changed, err := at.AddHooks(r.Caller.Binary)
	if err != nil {
		return missions.HooksResult{}, err
	}
	added, err := at.installExtras()
	if err != nil {
		return missions.HooksResult{}, err
	}
	in.rememberHooks(ctx, at, r, made)
	enlisted, problem := in.enlistServer(ctx, at, r)
	state, err := in.hooksState(at, r, changed || added || enlisted)
	if problem != "" {
		state.Problems = append(state.Problems, problem)
	}
	return state, err
}

// UninstallHooks takes the hooks out again; the rest of the settings stays as it is, to
// the byte.
func (in *Installer) UninstallHooks(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	if f, err := in.findIntegration(ctx, r); f != nil || err != nil {
		return runIntegration(f, r, integration.uninstall, err)
	}
	at, err := in.findHookPlace(r)
	if err != nil {
		return missions.HooksResult{}, err
	}
	if h, known := in.installedHooksIn(at.File); known {
		at.installed = &h
	}
	if err := in.forgetHooks(ctx, at); err != nil { // first: nobody is to put them back
		return missions.HooksResult{}, err
	}
	changed, err := at.RemoveHooks()
	if err != nil {
		return missions.HooksResult{}, err
	}
	removed, err := at.removeExtras()
	if err != nil {
		return missions.HooksResult{}, err
	}
	dismissed, problem := in.dismissServer(ctx, at, r)
	at.removeMadeDirs()
	state, err := in.hooksState(at, r, changed || removed || dismissed)
	switch {
	case problem != "":
		state.Problems = append(state.Problems, problem)
	case dismissed:
		state.Extras = append(state.Extras, "Umbra's tools, which it had in a file of its own")
	}
	return state, err
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
			state.Problems = append(state.Problems, "another program has taken them out: "+g.problem().Fix)
		}
	}
	return state, err
}

func (in *Installer) hooksState(at HookPlace, r missions.HooksRequest, changed bool) (result missions.HooksResult, err error) {
	result = missions.HooksResult{Name: r.Name, File: at.File, Project: r.Project, Shared: r.Shared, Changed: changed, Adopts: in.adoptionText()}
	result.Absent = !agents.IsOnPath(r.Caller.Env["PATH"], r.Name)
	if p := projects.PluginOf(at.Name()); p != nil && !r.Project {
		result.Plugin = p.Enabled(projects.CallerEnv(r.Caller), os.ReadFile)
	}
	defer func() { in.describeEnlisted(at, r, &result) }()
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
	if at.isOff(settings) {
		result.Problems = append(result.Problems, fmt.Sprintf("%s switches all hooks off (disableAllHooks): none of them runs", at.File))
	}
	if result.Installed && len(missing) > 0 {
		result.Problems = append(result.Problems, fmt.Sprintf("some events have no hook: umbra hooks install %s mends it", r.Name))
	}
	if want := agents.HookCommand(r.Caller.Binary, at.Name()); result.Installed && want != "" && result.Command != want {
		result.Problems = append(result.Problems, fmt.Sprintf("they call %s, this is %s: umbra hooks install %s changes it", result.Command, want, r.Name))
	}
	if result.Installed && len(result.Problems) == 0 {
		if is, err := at.isLatest(settings, result.Command); err == nil && !is {
			result.Problems = append(result.Problems, fmt.Sprintf("its worktrees are not forks yet: umbra hooks install %s changes it", r.Name))
		}
	}
	if result.Installed {
		at.describeStatusLine(&result, settings, r.Caller.Binary)
		at.describeServer(&result, settings, r.Caller.Binary)
		err = at.describeExtras(&result)
	}
	return result, err
}

// isLatest reports whether settings hold the hooks as they would be installed now, whatever
// tools they bring.
func (at HookPlace) isLatest(settings []byte, command string) (bool, error) {
	with, err := at.withHooks(settings, command)
	if err == nil {
		with, err = at.dropServer(with)
	}
	if err == nil {
		settings, err = at.dropServer(settings)
	}
	return bytes.Equal(with, settings), err
}

// adoptionText says in words which sessions become missions.
func (in *Installer) adoptionText() string {
	c := in.CurrentConfig().Adopt
	switch {
	case len(c.Include) == 0 && len(c.Exclude) == 0:
		return "every session becomes a mission"
	case len(c.Include) == 0:
		return fmt.Sprintf("every session becomes a mission, but those in %v", c.Exclude)
	}
	return fmt.Sprintf("sessions in %v become missions, but those in %v", c.Include, c.Exclude)
}
