package missions

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
)

// trashCommand leaves the command of a mission that is removed where it is, with the time
// of now: since then it is in the trash.
func (l *Local) trashCommand(m *loaded) error {
	if err := l.movePrivate(m); err != nil {
		return err
	}
	return l.journal.TouchPrivate(m.ID)
}

// addCommand adds the command of a removed mission to what emptying the trash removes,
// what was set aside of it too: one item, of the time that trashCommand gave it.
func (l *Local) addCommand(m *Removed) error {
	if m.mission == nil {
		return nil
	}
	files, err := l.journal.PrivateFiles(m.ID)
	if err != nil {
		return err
	}
	var command TrashItem
	for _, file := range files {
		item, err := trashItem(file)
		info, gone := os.Lstat(file)
		if err = cmp.Or(err, gone); errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return err
		}
		command.Path = cmp.Or(command.Path, file)
		command.Bytes += item.Bytes
		command.Incomplete = command.Incomplete || item.Incomplete
		if at := info.ModTime(); at.After(command.At) {
			command.At = at
		}
	}
	if command.Path != "" {
		command.What = "its command, with the secrets in it"
		m.Items = append(m.Items, command)
	}
	return nil
}

// eraseItem removes an item of the trash for good.
func (l *Local) eraseItem(ctx context.Context, m Removed, item TrashItem) error {
	if filepath.Dir(item.Path) == l.home.path("trash", m.ID) {
		return removeTree(item.Path)
	}
	return l.eraseCommand(ctx, m)
}

// eraseCommand removes the command of a mission, unless that is none of the trash's any
// more: nothing comes back from there while names are given.
func (l *Local) eraseCommand(ctx context.Context, m Removed) error {
	naming, err := l.naming(ctx, m.project)
	if err != nil {
		return err
	}
	defer naming.Release()
	if _, err := m.project.store.Ref(gitstore.AgentRef(m.ID)); !errors.Is(err, gitstore.ErrRefNotFound) {
		return errors.Join(Errorf(KindConflict, "", "mission %s is back", m.Name), err)
	}
	return l.journal.DropPrivate(m.ID)
}
