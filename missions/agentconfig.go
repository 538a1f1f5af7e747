package missions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// AgentStore is the repository of the versions of an agent's configuration.
func (h Home) AgentStore(agent string) string { return h.path("agents", agent+".git") }

// keepConfig makes a version of the user's configuration of an agent, as it is
// now, and returns its commit: the newest one if nothing has changed since, "" of
// an agent that has none. It takes some milliseconds and belongs in no hook.
func (l *Local) keepConfig(ctx context.Context, agent string, env sessions.Environ) (string, error) {
	a, ok := l.adapter(agent).(sessions.Configured)
	if !ok || env.Home == "" {
		return "", nil
	}
	root := a.ConfigRoot(env)
	var without []string
	c := configReader{adapter: a, root: root, left: func(name string, why error) {
		l.log.Info("left out of the agent's configuration", "agent", agent, "file", name, "reason", why)
		if errors.Is(why, errTooMuch) || errors.Is(why, errTooMuchOfAll) {
			without = append(without, fmt.Sprintf("without %q: %s", name, why))
		}
	}}
	for _, name := range a.ConfigPaths() {
		c.read(strings.TrimSuffix(name, "/"), strings.HasSuffix(name, "/"))
	}
	if len(c.files) == 0 {
		return "", nil
	}
	store, err := l.agentStore(ctx, agent, true)
	if err != nil {
		return "", err
	}
	id, err := commitConfig(ctx, store, configLine(agent, root), c.files, l.configCommit(agent, root, without))
	if err == nil {
		err = nameConfig(ctx, store, agent, configLine(agent, root))
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return "", fmt.Errorf("keep the configuration of %s: %w", agent, err)
	}
	return id.String(), nil
}

// configLine is the ref of the versions of one root: an agent may have several.
func configLine(agent, root string) gitstore.RefName {
	return gitstore.AgentRef(NamedID("umbra:config:" + agent + ":" + root))
}

// agentStore opens the repository of an agent's configuration.
func (l *Local) agentStore(ctx context.Context, agent string, making bool) (*gitstore.Store, error) {
	dir := l.home.AgentStore(agent)
	if _, err := os.Stat(dir); making && errors.Is(err, fs.ErrNotExist) {
		held, err := lock.Wait(ctx, l.storesFile(), lock.Shared, l.self)
		if err != nil {
			return nil, busy(err)
		}
		defer held.Release()
		store, err := gitstore.Create(ctx, dir, gitstore.CreateOptions{ProjectID: NewRequestID()})
		if !errors.Is(err, fs.ErrExist) {
			return store, err
		}
	}
	return gitstore.Open(dir)
}

// storesFile is held while a repository of versions is being made.
func (l *Local) storesFile() string { return l.home.path("locks", "configurations") }

// agentStores are the repositories of versions that there are.
func (l *Local) agentStores() ([]string, error) { return filepath.Glob(l.home.AgentStore("*")) }

// configuredAgent is the agent whose versions are in a repository.
func configuredAgent(dir string) string { return strings.TrimSuffix(filepath.Base(dir), ".git") }

// unmadeStores calls found with the directories in which processes that died were
// making repositories of versions, if there are any. Nobody makes one meanwhile.
func (l *Local) unmadeStores(ctx context.Context, found func(dirs []string) error) error {
	unmade := l.home.path("agents", gitstore.Unmade+"*")
	if dirs, err := filepath.Glob(unmade); err != nil || len(dirs) == 0 {
		return err
	}
	held, err := lock.Wait(ctx, l.storesFile(), lock.Exclusive, l.self)
	if err != nil {
		return busy(err)
	}
	defer held.Release()
	dirs, err := filepath.Glob(unmade)
	if err != nil || len(dirs) == 0 {
		return err
	}
	return found(dirs)
}

// sweepConfigs removes what killed processes left of and in repositories of versions.
func (l *Local) sweepConfigs(ctx context.Context) error {
	dirs, err := l.agentStores()
	errs := []error{err, l.unmadeStores(ctx, removeEach)}
	for _, dir := range dirs {
		store, err := gitstore.Open(dir)
		if err == nil {
			_, err = store.Sweep(ctx)
			err = errors.Join(err, store.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the versions of the configuration of %s: %w", configuredAgent(dir), err))
		}
	}
	return errors.Join(errs...)
}

func removeEach(dirs []string) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// mostWithout is how much of what is too much a version names.
const mostWithout = 20

func (l *Local) configCommit(agent, root string, without []string) *gitstore.Commit {
	who := gitstore.Signature{Name: "Umbra", Email: "umbra@localhost", When: l.now()}
	message := "configuration of " + agent + " in " + strings.Join(strings.Fields(root), " ") + "\n"
	if more := len(without) - mostWithout; more > 0 {
		without = append(without[:mostWithout], fmt.Sprintf("and without %d more", more))
	}
	if len(without) > 0 {
		message += "\n" + strings.Join(without, "\n") + "\n"
	}
	return &gitstore.Commit{Author: who, Committer: who, Message: message}
}

// mostConfigTries is how often others may be quicker.
const mostConfigTries = 5

// commitConfig publishes files as the newest version, if they, or what it is said to be
// without, differ from it.
func commitConfig(ctx context.Context, store *gitstore.Store, line gitstore.RefName, files []configFile, c *gitstore.Commit) (gitstore.ID, error) {
	batch := store.NewBatch()
	defer batch.Discard()
	t := store.NewRecordTree(gitstore.ID{})
	for _, f := range files {
		id, err := batch.Blob(f.content)
		mode := gitstore.ModeFile
		if f.exec {
			mode = gitstore.ModeExec
		}
		if err = errors.Join(err, t.PutEntry(f.name, mode, id)); err != nil {
			return gitstore.ID{}, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	tree, err := t.Write(batch)
	if err != nil {
		return gitstore.ID{}, err
	}
	for range mostConfigTries {
		newest, err := newestConfig(store, line)
		if err != nil {
			return gitstore.ID{}, err
		}
		c.Tree, c.Parents = tree, nil
		if newest != nil {
			if newest.Tree == tree && newest.Message == c.Message {
				return newest.ID, nil
			}
			c.Parents = []gitstore.ID{newest.ID}
		}
		id, err := batch.Commit(c)
		if err = errors.Join(err, batch.Flush(ctx)); err != nil {
			return id, err
		}
		err = store.UpdateRef(ctx, line, c.FirstParent(), id, gitstore.Durable)
		if !errors.Is(err, gitstore.ErrRefMoved) {
			return id, err
		}
	}
	return gitstore.ID{}, gitstore.ErrRefMoved
}

// newestConfig is the newest version there is, nil if there is none.
func newestConfig(store *gitstore.Store, line gitstore.RefName) (*gitstore.Commit, error) {
	id, err := store.Ref(line)
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return store.Commit(id)
}

// nameConfig makes a branch lead to the versions, for people: `claude`, or if
// that is of another root of the agent's, one with the beginning of its id.
func nameConfig(ctx context.Context, store *gitstore.Store, agent string, line gitstore.RefName) error {
	id := path.Base(string(line))
	for _, name := range []string{agent, agent + "-" + id[:8]} {
		has, err := store.Symbolic(gitstore.HeadRef(name))
		if err == nil && has == line {
			return nil
		}
		if errors.Is(err, gitstore.ErrRefNotFound) {
			err := store.SetSymbolic(ctx, gitstore.HeadRef(name), "", line, gitstore.Derived)
			if !errors.Is(err, gitstore.ErrRefMoved) {
				return err
			}
		}
	}
	return nil
}

// findConfig is the version that a commit's id, or the beginning of it, names.
func (l *Local) findConfig(ctx context.Context, agent, id string) (string, error) {
	none := Errorf(KindNotFound, "git --git-dir="+shellQuote(l.home.AgentStore(agent))+" log --oneline "+agent, "there is no version %s of the configuration of %s", id, agent)
	store, err := l.agentStore(ctx, agent, false)
	if err != nil {
		return "", none
	}
	defer store.Close()
	list, err := store.ResolvePrefix(strings.ToLower(id))
	switch {
	case err != nil || len(list) == 0:
		return "", none
	case len(list) > 1:
		return "", Errorf(KindAmbiguous, "give more of it", "%s begins the ids of %d versions of the configuration of %s", id, len(list), agent)
	}
	return list[0].String(), nil
}

// configOfCommit is a version as a launch is given it; nil if it is what the
// agent has now anyway.
func (l *Local) configOfCommit(ctx context.Context, agent, id, now string) (*sessions.Config, error) {
	if id == "" || id == now {
		return nil, nil
	}
	store, err := l.agentStore(ctx, agent, false)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	trees := [2]gitstore.ID{}
	for i, text := range []string{id, now} {
		if text == "" {
			continue
		}
		at, err := gitstore.ParseID(text)
		if err != nil {
			return nil, err
		}
		c, err := store.Commit(at)
		if err != nil {
			return nil, err
		}
		trees[i] = c.Tree
	}
	if trees[0] == trees[1] {
		return nil, nil
	}
	files, then, current := map[string][]byte{}, map[string]gitstore.TreeEntry{}, map[string]gitstore.TreeEntry{}
	config := &sessions.Config{Executable: map[string]bool{}}
	err = eachConfigFile(store, trees[0], func(name string, e gitstore.TreeEntry) error {
		content, err := store.Blob(e.ID)
		files[name], then[name], config.Names = content, e, append(config.Names, name)
		if e.Mode == gitstore.ModeExec {
			config.Executable[name] = true
		}
		return err
	})
	if err == nil {
		err = eachConfigFile(store, trees[1], func(name string, e gitstore.TreeEntry) error {
			current[name] = e
			return nil
		})
	}
	config.Changed = changedFiles(then, current)
	config.Read = func(name string) ([]byte, error) {
		if p, ok := files[name]; ok {
			return bytes.Clone(p), nil
		}
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return config, err
}

// eachConfigFile calls f for the files of a version, none of no version.
func eachConfigFile(store *gitstore.Store, tree gitstore.ID, f func(name string, e gitstore.TreeEntry) error) error {
	if tree.IsZero() {
		return nil
	}
	return store.WalkTree(tree, func(name string, e gitstore.TreeEntry) error {
		if !e.Mode.IsBlob() {
			return nil
		}
		return f(name, e)
	})
}

// changedFiles names the files that two versions do not have alike.
func changedFiles(then, now map[string]gitstore.TreeEntry) (names []string) {
	for name, e := range then {
		if now[name] != e {
			names = append(names, name)
		}
	}
	for name := range now {
		if _, ok := then[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}
