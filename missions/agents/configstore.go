package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// ConfigStoreDir is the repository of the versions of an agent's configuration.
func ConfigStoreDir(h home.Home, agent string) string { return h.Path("agents", agent+".git") }

// openConfigStore opens the repository of an agent's configuration.
func (l *Launcher) openConfigStore(ctx context.Context, agent string, making bool) (*shadow.Store, error) {
	dir := ConfigStoreDir(l.Home, agent)
	if _, err := os.Stat(dir); making && errors.Is(err, fs.ErrNotExist) {
		held, err := lock.Wait(ctx, l.configStoresLock(), lock.Shared, l.Self)
		if err != nil {
			return nil, home.LockError(err)
		}
		defer held.Release()
		store, err := shadow.Create(ctx, dir, shadow.CreateOptions{ProjectID: missions.NewRequestID()})
		if !errors.Is(err, fs.ErrExist) {
			return store, err
		}
	}
	return shadow.Open(dir)
}

// configStoresLock is held while a repository of versions is being made.
func (l *Launcher) configStoresLock() string { return l.Home.Path("locks", "configurations") }

// ConfigStoreDirs are the repositories of versions that there are.
func (l *Launcher) ConfigStoreDirs() ([]string, error) {
	return filepath.Glob(ConfigStoreDir(l.Home, "*"))
}

// AgentOfConfigStore is the agent whose versions are in a repository.
func AgentOfConfigStore(dir string) string { return strings.TrimSuffix(filepath.Base(dir), ".git") }

// WithUnfinishedConfigStores calls found with the directories in which processes that died were
// making repositories of versions, if there are any. Nobody makes one meanwhile.
func (l *Launcher) WithUnfinishedConfigStores(ctx context.Context, found func(dirs []string) error) error {
	unmade := l.Home.Path("agents", shadow.Unmade+"*")
	if dirs, err := filepath.Glob(unmade); err != nil || len(dirs) == 0 {
		return err
	}
	held, err := lock.Wait(ctx, l.configStoresLock(), lock.Exclusive, l.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	dirs, err := filepath.Glob(unmade)
	if err != nil || len(dirs) == 0 {
		return err
	}
	return found(dirs)
}

// SweepConfigStores removes what killed processes left of and in repositories of versions.
func (l *Launcher) SweepConfigStores(ctx context.Context) error {
	dirs, err := l.ConfigStoreDirs()
	errs := []error{err, l.WithUnfinishedConfigStores(ctx, RemoveDirs)}
	for _, dir := range dirs {
		store, err := shadow.Open(dir)
		if err == nil {
			_, err = upkeep.Sweep(ctx, store)
			err = errors.Join(err, store.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the versions of the configuration of %s: %w", AgentOfConfigStore(dir), err))
		}
	}
	return errors.Join(errs...)
}

func RemoveDirs(dirs []string) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
