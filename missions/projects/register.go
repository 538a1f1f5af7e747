package projects

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/home"
)

// registerFile lists the projects of the home beside their directories: of one that is gone
// nothing else tells.
const registerFile = "projects.json"

// RegisterEntry is a project that was made in the home.
type RegisterEntry struct {
	ID   string `json:"id"`
	Dir  string `json:"dir"`  // its name among the home's projects
	Path string `json:"path"` // where it was when it was made
}

// ReadRegister lists the projects that were made in the home. A register that is damaged is
// none.
func (b *Base) ReadRegister() ([]RegisterEntry, error) {
	text, err := disk.ReadFile(b.Home.Path(registerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []RegisterEntry
	if err := json.Unmarshal(text, &list); err != nil {
		b.Logger.Warn("read the list of projects", "error", err)
		return nil, nil
	}
	return list, nil
}

// Unregister lists projects no longer, which are gone for good.
func (r *Registry) Unregister(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	held, err := lock.Wait(ctx, r.Home.Path("locks", "projects"), lock.Exclusive, r.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	for _, id := range ids {
		err = errors.Join(err, r.changeRegister(id, nil))
	}
	return err
}

// changeRegister lists a project, or, without an entry, no longer. The caller holds the
// home's project creation lock.
func (b *Base) changeRegister(id string, entry *RegisterEntry) error {
	list, err := b.ReadRegister()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e RegisterEntry) bool { return e.ID == id })
	if entry != nil {
		list = append(list, *entry)
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(b.Home.Dir, b.Home.Path(registerFile), 0o600, append(text, '\n'))
}
