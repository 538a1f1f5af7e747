package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// hooksFormat is the version of the file of installed hooks.
const hooksFormat = 1

// InstalledHooks are the hooks that the user has installed into one file.
type InstalledHooks struct {
	Agent  string         `json:"agent"`
	File   string         `json:"file"`
	Scope  sessions.Scope `json:"scope"`
	Binary string         `json:"binary"` // that they call
	// Program is the agent's, of which it was known what hooks it has.
	Program string    `json:"program,omitempty"`
	At      time.Time `json:"installed_at"`
	// Made are the directories that were not there before, the deepest first.
	Made []string `json:"made,omitempty"`
	// Mended is when Umbra put them back, which it does once: whoever takes them out
	// again means it.
	Mended time.Time `json:"put_back_at,omitzero"`
}

// readInstalledHooks reads the hooks that were installed and not uninstalled since.
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

// withHooksLock does something while nobody else changes the list of installed hooks.
func (in *Installer) withHooksLock(ctx context.Context, do func() error) error {
	held, err := lock.Wait(ctx, in.Home.Path("locks", "hooks"), lock.Exclusive, in.Self)
	if err != nil {
		return home.LockError(err)
	}
	err = do()
	return errors.Join(err, held.Release())
}

// changeInstalledHooks changes the list of installed hooks under its lock.
func (in *Installer) changeInstalledHooks(ctx context.Context, change func([]InstalledHooks) []InstalledHooks) error {
	return in.withHooksLock(ctx, func() error { return in.writeInstalledHooks(change) })
}

// writeInstalledHooks changes the list of installed hooks. A list that can't be read
// begins anew.
func (in *Installer) writeInstalledHooks(change func([]InstalledHooks) []InstalledHooks) error {
	before, err := readInstalledHooks(in.Home)
	if err != nil {
		in.Logger.Warn("which hooks were installed", "error", err)
	}
	after := change(slices.Clone(before))
	if reflect.DeepEqual(before, after) && err == nil {
		return nil
	}
	doc, err := json.MarshalIndent(map[string]any{"format": hooksFormat, "installed": after}, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(in.Home.Dir, in.Home.Path(home.HooksFile), 0o600, append(doc, '\n'))
}

// rememberHooks notes that hooks were installed, and the directories that were made for them.
// The hooks work also where that fails.
func (in *Installer) rememberHooks(ctx context.Context, at HookPlace, r missions.HooksRequest, made []string) {
	one := InstalledHooks{Agent: at.Name(), File: at.File, Scope: at.scope, Binary: r.Caller.Binary, Program: at.program, At: in.Now()}
	err := in.changeInstalledHooks(ctx, func(list []InstalledHooks) []InstalledHooks {
		one.Made = made
		for _, h := range list {
			if h.File == at.File {
				one.Made = deepestFirst(append(slices.Clone(made), h.Made...))
			}
		}
		return append(withoutFile(list, at.File), one)
	})
	if err != nil {
		in.Logger.Warn("note which hooks are installed", "file", at.File, "error", err)
	}
}

// forgetHooks notes that hooks are uninstalled. Until then they would be put back.
func (in *Installer) forgetHooks(ctx context.Context, at HookPlace) error {
	if _, known := in.installedHooksIn(at.File); !known {
		return nil
	}
	return in.changeInstalledHooks(ctx, func(list []InstalledHooks) []InstalledHooks { return withoutFile(list, at.File) })
}

// withoutFile is the list without the hooks in a file.
func withoutFile(list []InstalledHooks, file string) []InstalledHooks {
	return slices.DeleteFunc(list, func(h InstalledHooks) bool { return h.File == file })
}
