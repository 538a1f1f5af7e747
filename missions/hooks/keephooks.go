package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// hooksFormat is the version of what is in it.
const hooksFormat = 1

// InstalledHooks are hooks as the user has had them installed, by their file.
type InstalledHooks struct {
	Agent  string         `json:"agent"`
	File   string         `json:"file"`
	Scope  sessions.Scope `json:"scope"`
	Binary string         `json:"binary"` // that they call
	At     time.Time      `json:"installed_at"`
	// Mended is when they were put back. It is done once: who takes them out again
	// means it.
	Mended time.Time `json:"put_back_at,omitzero"`
}

// readInstalledHooks are the hooks that were installed, and not uninstalled since.
func readInstalledHooks(h home.Home) ([]InstalledHooks, error) {
	content, err := userfile.Read(h.Path(home.HooksFile))
	if err != nil || content == nil {
		return nil, err
	}
	var doc struct {
		Installed []InstalledHooks `json:"installed"`
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", h.Path(home.HooksFile), err)
	}
	return doc.Installed, nil
}

// installedHooksIn are the hooks that were installed in a file.
func (in *Installer) installedHooksIn(file string) (InstalledHooks, bool) {
	list, _ := readInstalledHooks(in.Home) // status says what is wrong with it
	for _, h := range list {
		if h.File == file {
			return h, true
		}
	}
	return InstalledHooks{}, false
}

// withHooksLock does something while nobody else changes what is remembered.
func (in *Installer) withHooksLock(ctx context.Context, do func() error) error {
	held, err := lock.Wait(ctx, in.Home.Path("locks", "hooks"), lock.Exclusive, in.Self)
	if err != nil {
		return home.LockError(err)
	}
	err = do()
	return errors.Join(err, held.Release())
}

// ChangeInstalledHooks changes what is remembered, alone.
func (in *Installer) ChangeInstalledHooks(ctx context.Context, change func([]InstalledHooks) []InstalledHooks) error {
	return in.withHooksLock(ctx, func() error { return in.writeInstalledHooks(change) })
}

// writeInstalledHooks changes what is remembered. What can't be read is begun anew.
func (in *Installer) writeInstalledHooks(change func([]InstalledHooks) []InstalledHooks) error {
	before, err := readInstalledHooks(in.Home)
	if err != nil {
		in.Logger.Warn("which hooks were installed", "error", err)
	}
	after := change(slices.Clone(before))
	if slices.Equal(before, after) && err == nil {
		return nil
	}
	doc, err := json.MarshalIndent(map[string]any{"format": hooksFormat, "installed": after}, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(in.Home.Dir, in.Home.Path(home.HooksFile), 0o600, append(doc, '\n'))
}

// rememberHooks notes that hooks were installed. Where it can't be noted they work all
// the same.
func (in *Installer) rememberHooks(ctx context.Context, at HookPlace, r missions.HooksRequest) {
	one := InstalledHooks{Agent: at.Name(), File: at.File, Scope: at.scope, Binary: r.Caller.Binary, At: in.Now()}
	err := in.ChangeInstalledHooks(ctx, func(list []InstalledHooks) []InstalledHooks { return append(withoutFile(list, at.File), one) })
	if err != nil {
		in.Logger.Warn("note which hooks are installed", "file", at.File, "error", err)
	}
}

// forgetHooks notes that hooks are to be taken out: as long as it is not noted they
// would be put back.
func (in *Installer) forgetHooks(ctx context.Context, at HookPlace) error {
	if _, known := in.installedHooksIn(at.File); !known {
		return nil
	}
	return in.ChangeInstalledHooks(ctx, func(list []InstalledHooks) []InstalledHooks { return withoutFile(list, at.File) })
}

// withoutFile is what is remembered of other files.
func withoutFile(list []InstalledHooks, file string) []InstalledHooks {
	return slices.DeleteFunc(list, func(h InstalledHooks) bool { return h.File == file })
}

// goneHooks are hooks that were installed, and that another program has taken out.
type goneHooks struct {
	InstalledHooks
	hookPlace   HookPlace
	goneSince   time.Time // when that was, as far as the file tells
	switchedOff bool      // the agent's settings switch all hooks off
}

// goneHooksOf reports whether hooks are not where they were installed. An agent whose
// directory is gone with them is not there any more; and of settings that can't be
// read nothing is known.
func (in *Installer) goneHooksOf(h InstalledHooks) (goneHooks, bool) {
	a, ok := in.Adapter(h.Agent).(sessions.Installing)
	dir, err := os.Stat(filepath.Dir(h.File))
	if !ok || err != nil {
		return goneHooks{}, false
	}
	g := goneHooks{InstalledHooks: h, hookPlace: HookPlace{Installing: a, File: h.File, scope: h.Scope}, goneSince: dir.ModTime()}
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
	g.switchedOff = settings != nil && g.hookPlace.off(settings)
	return g, err == nil && len(commands) == 0
}

// ListGoneHooks lists all hooks that are gone.
func (in *Installer) ListGoneHooks() ([]goneHooks, error) {
	list, err := readInstalledHooks(in.Home)
	var gone []goneHooks
	for _, h := range list {
		if g, is := in.goneHooksOf(h); is {
			gone = append(gone, g)
		}
	}
	return gone, err
}

// CanPutBack reports whether Umbra may put hooks back by itself: into the user's own
// settings, once, where hooks are not switched off, and where what they call is there.
func (g goneHooks) CanPutBack() bool {
	_, err := os.Stat(g.Binary)
	return g.Scope == sessions.ScopeUser && g.Mended.IsZero() && !g.switchedOff && err == nil
}

// Problem says that they are gone, and what to type.
func (g goneHooks) Problem() missions.Problem {
	p := missions.Problem{Message: fmt.Sprintf("hooks of %s are gone from %s", g.Agent, g.File), Fix: "umbra doctor --fix"}
	if g.switchedOff {
		p.Message += ", which switches all hooks off"
	}
	if !g.Mended.IsZero() {
		p.Message += ", and Umbra has tried once to put them back, on " + g.Mended.Format(time.DateTime)
	}
	if g.CanPutBack() {
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

// HookProblems are what status says of hooks that are gone.
func (in *Installer) HookProblems() []missions.Problem {
	gone, err := in.ListGoneHooks()
	var problems []missions.Problem
	if err != nil {
		problems = append(problems, missions.Problem{Message: err.Error(), Fix: "umbra hooks install, for each agent"})
	}
	for _, g := range gone {
		problems = append(problems, g.Problem())
	}
	return problems
}

// PutHooksBack puts hooks back that are gone, unless somebody has meanwhile, or has them
// taken out. That it was done is noted first: it is never done twice.
func (in *Installer) PutHooksBack(ctx context.Context, g goneHooks) error {
	return in.withHooksLock(ctx, func() error {
		mine := false
		err := in.writeInstalledHooks(func(list []InstalledHooks) []InstalledHooks {
			for i, h := range list {
				if now, gone := in.goneHooksOf(h); h.File == g.File && gone && now.CanPutBack() {
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

// RewritePatience is how long a file of settings is left alone that another program has
// written: it may be at it still.
const RewritePatience = 5 * time.Second

// KeepHooks puts hooks back that another program has taken out of their user's
// settings. It is called from time to time by the process that serves.
func (in *Installer) KeepHooks(ctx context.Context) error {
	if in.Home.CheckWritable() != nil || in.Space.CheckRoom() != nil {
		return nil
	}
	gone, err := in.ListGoneHooks()
	errs := []error{err}
	for _, g := range gone {
		if !g.CanPutBack() || in.Now().Sub(g.goneSince) < RewritePatience {
			continue
		}
		err := in.PutHooksBack(ctx, g)
		in.Logger.Info("hooks were put back that another program had taken out", "agent", g.Agent, "file", g.File, "error", err)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
