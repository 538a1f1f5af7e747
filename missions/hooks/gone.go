package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// goneHooks are hooks that were installed, and that another program has taken out.
type goneHooks struct {
	InstalledHooks
	hookPlace   HookPlace
	goneSince   time.Time // when that was, as far as the file tells
	switchedOff bool      // the agent's settings switch all hooks off
}

// goneHooksOf reports whether hooks are not where they were installed. Where the agent's
// directory is gone too, the agent was uninstalled; settings that can't be read prove
// nothing.
func (in *Installer) goneHooksOf(h InstalledHooks) (goneHooks, bool) {
	a, ok := in.Adapter(h.Agent).(sessions.Installing)
	dir, err := os.Stat(filepath.Dir(h.File))
	if !ok || err != nil {
		return goneHooks{}, false
	}
	g := goneHooks{InstalledHooks: h, hookPlace: HookPlace{Installing: a, File: h.File, scope: h.Scope, program: h.Program}, goneSince: dir.ModTime()}
	g.hookPlace.server, _ = a.(sessions.Serving)
	g.hookPlace.wantsServer = in.CurrentConfig().Hooks.MCP
	if h.Scope == sessions.ScopeUser {
		g.hookPlace.statusLine, _ = a.(sessions.StatusLiner)
	}
	if info, err := os.Stat(h.File); err == nil {
		g.goneSince = info.ModTime()
	}
	settings, err := userfile.Read(h.File)
	if err != nil {
		return goneHooks{}, false
	}
	commands, _, err := a.HookCommands(settings)
	g.switchedOff = settings != nil && g.hookPlace.isOff(settings)
	return g, err == nil && len(commands) == 0
}

// listGoneHooks lists all hooks that are gone.
func (in *Installer) listGoneHooks() ([]goneHooks, error) {
	list, err := readInstalledHooks(in.Home)
	var gone []goneHooks
	for _, h := range list {
		if g, is := in.goneHooksOf(h); is {
			gone = append(gone, g)
		}
	}
	return gone, err
}

// canPutBack reports whether Umbra may put hooks back by itself: only into the user's own
// settings, only once, and not where hooks are switched off or the binary is gone.
func (g goneHooks) canPutBack() bool {
	_, err := os.Stat(g.Binary)
	return g.Scope == sessions.ScopeUser && g.Mended.IsZero() && !g.switchedOff && err == nil
}

// problem says that the hooks are gone, and what to type.
func (g goneHooks) problem() missions.Problem {
	p := missions.Problem{Message: fmt.Sprintf("hooks of %s are gone from %s", g.Agent, g.File), Fix: "umbra doctor --fix"}
	if g.switchedOff {
		p.Message += ", which switches all hooks off"
	}
	if !g.Mended.IsZero() {
		p.Message += ", and Umbra has tried once to put them back, on " + g.Mended.Format(time.DateTime)
	}
	if g.canPutBack() {
		return p
	}
	flags := ""
	switch g.Scope {
	case sessions.ScopeProject:
		flags = " --project, in its project"
	case sessions.ScopeShared:
		flags = " --project --shared, in its project"
	}
	p.Fix = fmt.Sprintf("umbra hooks install %s%s; or uninstall, to have it so", g.Agent, flags)
	return p
}

// Check finds hooks that are gone. It changes nothing until a Finding is mended.
func (in *Installer) Check(ctx context.Context) []missions.Finding {
	var found []missions.Finding
	gone, err := in.listGoneHooks()
	if err != nil {
		found = append(found, missions.Finding{Problem: missions.Problem{Message: err.Error()}, Mend: func() error {
			return in.changeInstalledHooks(ctx, func(list []InstalledHooks) []InstalledHooks { return list })
		}})
	}
	for _, g := range gone {
		finding := missions.Finding{Problem: g.problem()}
		if g.canPutBack() {
			finding.Mend = func() error { return in.putHooksBack(ctx, g) }
		}
		found = append(found, finding)
	}
	return found
}

// HookProblems are the problems that status shows of hooks that are gone.
func (in *Installer) HookProblems() []missions.Problem {
	gone, err := in.listGoneHooks()
	var problems []missions.Problem
	if err != nil {
		problems = append(problems, missions.Problem{Message: err.Error(), Fix: "umbra hooks install, for each agent"})
	}
	for _, g := range gone {
		problems = append(problems, g.problem())
	}
	return problems
}

// putHooksBack puts hooks back, unless they were put back or uninstalled meanwhile. It
// notes that first, so that it never does it twice.
func (in *Installer) putHooksBack(ctx context.Context, g goneHooks) error {
	return in.withHooksLock(ctx, func() error {
		mine := false
		err := in.writeInstalledHooks(func(list []InstalledHooks) []InstalledHooks {
			for i, h := range list {
				if now, gone := in.goneHooksOf(h); h.File == g.File && gone && now.canPutBack() {
					list[i].Mended, mine = in.Now(), true
				}
			}
			return list
		})
		if err != nil || !mine {
			return err
		}
		_, err = g.hookPlace.AddHooks(g.Binary)
		return err
	})
}

// RewritePatience is how long settings are left alone after another program has written
// them: it may not have finished.
const RewritePatience = 5 * time.Second

// KeepHooks puts hooks back that another program has taken out of the user's settings.
// The process that serves calls it from time to time.
func (in *Installer) KeepHooks(ctx context.Context) error {
	if in.Home.CheckWritable() != nil || in.Space.CheckRoom() != nil {
		return nil
	}
	gone, err := in.listGoneHooks()
	errs := []error{err}
	for _, g := range gone {
		if !g.canPutBack() || in.Now().Sub(g.goneSince) < RewritePatience {
			continue
		}
		err := in.putHooksBack(ctx, g)
		in.Logger.Info("hooks were put back that another program had taken out", "agent", g.Agent, "file", g.File, "error", err)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
