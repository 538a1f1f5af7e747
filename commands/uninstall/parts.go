package uninstall

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/commands/complete"
	"github.com/umbra-vcs/umbra/commands/daemon"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// hooks takes out those of agents, editors and Git, the user's and those of every
// place that Umbra knows. Those in
// a file that a project shares are its team's: they are named.
func (u *uninstalling) hooks(ctx context.Context) {
	places, err := u.places(ctx)
	if err != nil {
		u.failed(err)
	}
	seen := map[string]bool{}
	for _, name := range events.Hinters() {
		u.fitting(ctx, seen, name, places)
	}
	for _, agent := range projects.Agents() {
		u.hook(ctx, seen, missions.HooksRequest{Caller: u.asks, Name: agent.Name()})
		for _, place := range places {
			there := u.asks
			there.Cwd = place
			u.hook(ctx, seen, missions.HooksRequest{Caller: there, Name: agent.Name(), Project: true})
			u.sharedHook(ctx, seen, missions.HooksRequest{Caller: there, Name: agent.Name(), Project: true, Shared: true})
		}
	}
}

// places are the directories in which agents may have settings of their own.
func (u *uninstalling) places(ctx context.Context) ([]string, error) {
	projects, err := u.svc.Projects(ctx, missions.ProjectsRequest{Caller: u.asks})
	var list []string
	add := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	for _, p := range projects {
		add(p.Path)
	}
	for _, m := range u.missions {
		add(m.Workspace)
		add(m.Cwd)
	}
	return list, err
}

func (u *uninstalling) hook(ctx context.Context, seen map[string]bool, r missions.HooksRequest) {
	is, err := u.svc.HooksStatus(ctx, r)
	if err != nil {
		u.failed(err)
		return
	}
	if is.Plugin != "" {
		u.left(r.Name+"'s plugin", "", pluginRemoval(r.Name)+is.Plugin)
	}
	if seen[is.File] {
		return
	}
	seen[is.File] = true
	changed, tools := is.Installed, is.ToolsFile
	if !u.dryRun {
		was, err := u.svc.UninstallHooks(ctx, r)
		if err != nil {
			u.failed(err)
			return
		}
		changed = was.Changed && (is.Installed || tools == "")
		if was.ToolsFile != "" {
			u.left("Umbra's tools in "+r.Name, was.ToolsFile, serverRemoval(r.Name))
			tools = ""
		}
	}
	if changed {
		u.removed("hooks of "+r.Name, is.File)
	}
	if tools != "" {
		u.removed("Umbra's tools in "+r.Name, tools)
	}
}

// fitting takes out what an editor or Git has, of the user and in each place. Not
// all have one everywhere. Where a repository's hooks are its team's they are left.
func (u *uninstalling) fitting(ctx context.Context, seen map[string]bool, name string, places []string) {
	for _, place := range append([]string{u.asks.Cwd}, places...) {
		there := u.asks
		there.Cwd = place
		r := missions.HooksRequest{Caller: there, Name: name}
		is, err := u.svc.HooksStatus(ctx, r)
		switch {
		case err != nil && missions.AsError(err).Kind == missions.KindUsage: // none there
		case err == nil && is.Shared:
			u.leaveShared(seen, r, is)
		default:
			u.hook(ctx, seen, r)
		}
	}
}

func (u *uninstalling) sharedHook(ctx context.Context, seen map[string]bool, r missions.HooksRequest) {
	is, err := u.svc.HooksStatus(ctx, r)
	if err == nil {
		u.leaveShared(seen, r, is)
	}
}

func (u *uninstalling) leaveShared(seen map[string]bool, r missions.HooksRequest, is missions.HooksResult) {
	if is.Installed && !seen[is.File] {
		seen[is.File] = true
		u.left("hooks of "+r.Name+" that a project shares", is.File, "cd "+home.ShellQuote(r.Caller.Cwd)+" && umbra hooks uninstall "+r.Name+" --project --shared")
	}
}

// unit takes away what starts the daemon at login.
func (u *uninstalling) unit() {
	at, installed, err := daemon.OurUnit(u.Call)
	if err != nil && missions.AsError(err).Kind != missions.KindConflict { // another's is no business of ours
		u.failed(err)
	}
	if !installed {
		return
	}
	if len(u.live) > 0 {
		at = at.AsItRuns()
	}
	if !u.dryRun {
		if _, err := daemon.DropUnit(u.Call, at); err != nil { // the daemon is stopped here
			u.failed(err)
			return
		}
	}
	u.removed("the unit that starts the daemon at login", at.File)
}

// shellFiles removes completions and manual pages from where help says to put
// them, if they are to the byte what this program writes.
func (u *uninstalling) shellFiles() {
	home := u.Getenv("HOME")
	data, config := u.Getenv("XDG_DATA_HOME"), u.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(home, ".local", "share")
	}
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	u.completion("completion of bash", filepath.Join(data, "bash-completion", "completions", "umbra"), complete.BashCompletion)
	u.completion("completion of fish", filepath.Join(config, "fish", "completions", "umbra.fish"), complete.FishCompletion)
	u.manPages(filepath.Join(data, "man", "man1"))
}

func (u *uninstalling) completion(what, file, text string) {
	if u.shellFile(what, file, text) {
		u.removed(what, file)
	}
}

// ManPages removes those of this version; they are named together.
func (u *uninstalling) manPages(dir string) {
	removed := 0
	for _, page := range u.pages {
		if u.shellFile("a manual page", filepath.Join(dir, page.Name+".1"), page.Text) {
			removed++
		}
	}
	if removed > 0 {
		u.removed(print.Count(removed, "manual page"), dir)
	}
}

// shellFile removes a file that holds text, and reports whether it has.
func (u *uninstalling) shellFile(what, file, text string) bool {
	have, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		u.failed(missions.Errorf(missions.KindFailed, "", "read %s: %w", what, err))
		return false
	case !bytes.Equal(have, []byte(text)):
		u.left(what+", changed or of another version", file, "rm "+home.ShellQuote(file))
		return false
	case u.dryRun:
		return true
	}
	if err := os.Remove(file); err != nil {
		u.failed(missions.Errorf(missions.KindFailed, "rm "+home.ShellQuote(file), "remove %s: %w", what, err))
		return false
	}
	return true
}

// pluginRemoval begins the agent's own command that removes a plugin.
func pluginRemoval(agent string) string {
	if agent == "codex" {
		return "codex plugin remove "
	}
	return agent + " plugin uninstall "
}

// serverRemoval is the agent's own command that removes Umbra's tools.
func serverRemoval(agent string) string {
	if agent == "codex" {
		return "codex mcp remove umbra"
	}
	return agent + " mcp remove --scope user umbra"
}
