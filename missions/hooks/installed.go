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

// hooksDoc is the file of what was installed and not uninstalled since.
type hooksDoc struct {
	Format    int              `json:"format"`
	Installed []InstalledHooks `json:"installed"`
	Servers   []EnlistedServer `json:"servers,omitempty"`
}

func readHooksDoc(h home.Home) (doc hooksDoc, err error) {
	content, err := userfile.Read(h.Path(home.HooksFile))
	if err != nil || content == nil {
		return hooksDoc{}, err
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		return hooksDoc{}, fmt.Errorf("read %s: %w", h.Path(home.HooksFile), err)
	}
	return doc, nil
}

// readInstalledHooks reads the hooks that were installed and not uninstalled since.
func readInstalledHooks(h home.Home) ([]InstalledHooks, error) {
	doc, err := readHooksDoc(h)
	return doc.Installed, err
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

// writeInstalledHooks changes the list of installed hooks.
func (in *Installer) writeInstalledHooks(change func([]InstalledHooks) []InstalledHooks) error {
	return in.writeHooksDoc(func(doc *hooksDoc) { doc.Installed = change(doc.Installed) })
}

// writeHooksDoc changes what is known of installed hooks. A file that can't be read begins
// anew. The caller holds its lock.
func (in *Installer) writeHooksDoc(change func(*hooksDoc)) error {
	before, err := readHooksDoc(in.Home)
	if err != nil {
		in.Logger.Warn("which hooks were installed", "error", err)
	}
	after := hooksDoc{Format: hooksFormat, Installed: slices.Clone(before.Installed), Servers: slices.Clone(before.Servers)}
	change(&after)
	if reflect.DeepEqual(before.Installed, after.Installed) && reflect.DeepEqual(before.Servers, after.Servers) && err == nil {
		return nil
	}
	doc, err := json.MarshalIndent(after, "", " ")
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
