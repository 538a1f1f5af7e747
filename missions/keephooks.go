package missions

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
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// hooksFile is where a home remembers which hooks of agents were installed: another
// program that writes an agent's settings anew takes them out, and nothing else tells.
const hooksFile = "hooks.json"

// hooksFormat is the version of what is in it.
const hooksFormat = 1

// installedHooks are hooks as the user has had them installed, by their file.
type installedHooks struct {
	Agent  string         `json:"agent"`
	File   string         `json:"file"`
	Scope  sessions.Scope `json:"scope"`
	Binary string         `json:"binary"` // that they call
	At     time.Time      `json:"installed_at"`
	// Mended is when they were put back. It is done once: who takes them out again
	// means it.
	Mended time.Time `json:"put_back_at,omitzero"`
}

// rememberedHooks are the hooks that were installed, and not uninstalled since.
func (h Home) rememberedHooks() ([]installedHooks, error) {
	content, err := userfile.Read(h.path(hooksFile))
	if err != nil || content == nil {
		return nil, err
	}
	var doc struct {
		Installed []installedHooks `json:"installed"`
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", h.path(hooksFile), err)
	}
	return doc.Installed, nil
}

// remembered are the hooks that were installed in a file.
func (l *Local) remembered(file string) (installedHooks, bool) {
	list, _ := l.home.rememberedHooks() // status says what is wrong with it
	for _, h := range list {
		if h.File == file {
			return h, true
		}
	}
	return installedHooks{}, false
}

// holdingHooks does something while nobody else changes what is remembered.
func (l *Local) holdingHooks(ctx context.Context, do func() error) error {
	held, err := lock.Wait(ctx, l.home.path("locks", "hooks"), lock.Exclusive, l.self)
	if err != nil {
		return busy(err)
	}
	err = do()
	return errors.Join(err, held.Release())
}

// changeHooks changes what is remembered, alone.
func (l *Local) changeHooks(ctx context.Context, change func([]installedHooks) []installedHooks) error {
	return l.holdingHooks(ctx, func() error { return l.noteHooks(change) })
}

// noteHooks changes what is remembered. What can't be read is begun anew.
func (l *Local) noteHooks(change func([]installedHooks) []installedHooks) error {
	before, err := l.home.rememberedHooks()
	if err != nil {
		l.log.Warn("which hooks were installed", "error", err)
	}
	after := change(slices.Clone(before))
	if slices.Equal(before, after) && err == nil {
		return nil
	}
	doc, err := json.MarshalIndent(map[string]any{"format": hooksFormat, "installed": after}, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(l.home.Dir, l.home.path(hooksFile), 0o600, append(doc, '\n'))
}

// rememberHooks notes that hooks were installed. Where it can't be noted they work all
// the same.
func (l *Local) rememberHooks(ctx context.Context, at hookPlace, r HooksRequest) {
	one := installedHooks{Agent: at.Name(), File: at.file, Scope: at.scope, Binary: r.Caller.Binary, At: l.now()}
	err := l.changeHooks(ctx, func(list []installedHooks) []installedHooks { return append(without(list, at.file), one) })
	if err != nil {
		l.log.Warn("note which hooks are installed", "file", at.file, "error", err)
	}
}

// forgetHooks notes that hooks are to be taken out: as long as it is not noted they
// would be put back.
func (l *Local) forgetHooks(ctx context.Context, at hookPlace) error {
	if _, known := l.remembered(at.file); !known {
		return nil
	}
	return l.changeHooks(ctx, func(list []installedHooks) []installedHooks { return without(list, at.file) })
}

// without is what is remembered of other files.
func without(list []installedHooks, file string) []installedHooks {
	return slices.DeleteFunc(list, func(h installedHooks) bool { return h.File == file })
}

// goneHooks are hooks that were installed, and that another program has taken out.
type goneHooks struct {
	installedHooks
	at    hookPlace
	since time.Time // when that was, as far as the file tells
	off   bool      // the agent's settings switch all hooks off
}

// goneFrom reports whether hooks are not where they were installed. An agent whose
// directory is gone with them is not there any more; and of settings that can't be
// read nothing is known.
func (l *Local) goneFrom(h installedHooks) (goneHooks, bool) {
	a, ok := l.adapter(h.Agent).(sessions.Installing)
	dir, err := os.Stat(filepath.Dir(h.File))
	if !ok || err != nil {
		return goneHooks{}, false
	}
	g := goneHooks{installedHooks: h, at: hookPlace{Installing: a, file: h.File, scope: h.Scope}, since: dir.ModTime()}
	if h.Scope == sessions.ScopeUser {
		g.at.status, _ = a.(sessions.StatusLiner)
	}
	if info, err := os.Stat(h.File); err == nil {
		g.since = info.ModTime()
	}
	settings, err := userfile.Read(h.File)
	if err != nil {
		return goneHooks{}, false
	}
	commands, _, err := a.HookCommands(settings)
	g.off = settings != nil && g.at.off(settings)
	return g, err == nil && len(commands) == 0
}

// goneHooks lists all hooks that are gone.
func (l *Local) goneHooks() ([]goneHooks, error) {
	list, err := l.home.rememberedHooks()
	var gone []goneHooks
	for _, h := range list {
		if g, is := l.goneFrom(h); is {
			gone = append(gone, g)
		}
	}
	return gone, err
}

// mendable reports whether Umbra may put hooks back by itself: into the user's own
// settings, once, where hooks are not switched off, and where what they call is there.
func (g goneHooks) mendable() bool {
	_, err := os.Stat(g.Binary)
	return g.Scope == sessions.ScopeUser && g.Mended.IsZero() && !g.off && err == nil
}

// problem says that they are gone, and what to type.
func (g goneHooks) problem() Problem {
	p := Problem{Message: fmt.Sprintf("hooks of %s are gone from %s", g.Agent, g.File), Fix: "umbra doctor --fix"}
	if g.off {
		p.Message += ", which switches all hooks off"
	}
	if !g.Mended.IsZero() {
		p.Message += ", and Umbra has tried once to put them back, on " + g.Mended.Format(time.DateTime)
	}
	if g.mendable() {
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

// hookProblems are what status says of hooks that are gone.
func (l *Local) hookProblems() []Problem {
	gone, err := l.goneHooks()
	var problems []Problem
	if err != nil {
		problems = append(problems, Problem{Message: err.Error(), Fix: "umbra hooks install, for each agent"})
	}
	for _, g := range gone {
		problems = append(problems, g.problem())
	}
	return problems
}

// goneHooks checks whether hooks are where they were installed.
func (d *examination) goneHooks(ctx context.Context) {
	gone, err := d.l.goneHooks()
	if err != nil {
		d.found(Problem{Message: err.Error()}, func() error {
			return d.l.changeHooks(ctx, func(list []installedHooks) []installedHooks { return list })
		})
	}
	for _, g := range gone {
		var mend func() error
		if g.mendable() {
			mend = func() error { return d.l.putBack(ctx, g) }
		}
		d.found(g.problem(), mend)
	}
}

// putBack puts hooks back that are gone, unless somebody has meanwhile, or has them
// taken out. That it was done is noted first: it is never done twice.
func (l *Local) putBack(ctx context.Context, g goneHooks) error {
	return l.holdingHooks(ctx, func() error {
		mine := false
		err := l.noteHooks(func(list []installedHooks) []installedHooks {
			for i, h := range list {
				if now, gone := l.goneFrom(h); h.File == g.File && gone && now.mendable() {
					list[i].Mended, mine = l.now(), true
				}
			}
			return list
		})
		if err != nil || !mine {
			return err
		}
		_, err = g.at.putIn(g.Binary)
		return err
	})
}

// rewriting is how long a file of settings is left alone that another program has
// written: it may be at it still.
const rewriting = 5 * time.Second

// KeepHooks puts hooks back that another program has taken out of their user's
// settings. It is called from time to time by the process that serves.
func (l *Local) KeepHooks(ctx context.Context) error {
	if l.home.ReadOnly() != nil || l.space.Low() != nil {
		return nil
	}
	gone, err := l.goneHooks()
	errs := []error{err}
	for _, g := range gone {
		if !g.mendable() || l.now().Sub(g.since) < rewriting {
			continue
		}
		err := l.putBack(ctx, g)
		l.log.Info("hooks were put back that another program had taken out", "agent", g.Agent, "file", g.File, "error", err)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
