package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/sessions"
)

// SaveConfigVersion makes a version of the user's present configuration of an agent,
// and returns its commit. If nothing has changed it returns the newest version; for an
// agent without configuration it returns "". It takes some milliseconds, too long for a
// hook.
func (l *Launcher) SaveConfigVersion(ctx context.Context, agent string, env sessions.Environ) (string, error) {
	a, ok := l.Adapter(agent).(sessions.Configured)
	if !ok || env.Home == "" {
		return "", nil
	}
	root := a.ConfigRoot(env)
	var without []string
	c := configReader{adapter: a, root: root, leaveOut: func(name string, why error) {
		l.Logger.Info("left out of the agent's configuration", "agent", agent, "file", name, "reason", why)
		if errors.Is(why, ErrConfigTooLarge) || errors.Is(why, errConfigWalkTooLong) {
			without = append(without, fmt.Sprintf("without %q: %s", name, why))
		}
	}}
	for _, name := range a.ConfigPaths() {
		c.read(strings.TrimSuffix(name, "/"), strings.HasSuffix(name, "/"))
	}
	if len(c.files) == 0 {
		return "", nil
	}
	store, err := l.openConfigStore(ctx, agent, true)
	if err != nil {
		return "", err
	}
	id, err := publishConfigVersion(ctx, store, ConfigRef(agent, root), c.files, l.newConfigCommit(agent, root, without))
	if err == nil {
		err = nameConfigBranch(ctx, store, agent, ConfigRef(agent, root))
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return "", fmt.Errorf("keep the configuration of %s: %w", agent, err)
	}
	return id.String(), nil
}

// ConfigRef is the ref of the versions of one root: an agent may have several.
func ConfigRef(agent, root string) gitstore.RefName {
	return gitstore.AgentRef(missions.NamedID("umbra:config:" + agent + ":" + root))
}

// maxNamedOmissions is how many of the files that were left out a version names.
const maxNamedOmissions = 20

func (l *Launcher) newConfigCommit(agent, root string, without []string) *gitstore.Commit {
	who := gitstore.Signature{Name: "Umbra", Email: "umbra@localhost", When: l.Now()}
	message := "configuration of " + agent + " in " + strings.Join(strings.Fields(root), " ") + "\n"
	if more := len(without) - maxNamedOmissions; more > 0 {
		without = append(without[:maxNamedOmissions], fmt.Sprintf("and without %d more", more))
	}
	if len(without) > 0 {
		message += "\n" + strings.Join(without, "\n") + "\n"
	}
	return &gitstore.Commit{Author: who, Committer: who, Message: message}
}

// maxConfigTries is how often a version is published again after another process was
// quicker.
const maxConfigTries = 5

// publishConfigVersion publishes files as the newest version, if the files or the
// message differ from it.
func publishConfigVersion(ctx context.Context, store *shadow.Store, line gitstore.RefName, files []configFile, c *gitstore.Commit) (gitstore.ID, error) {
	batch := store.NewBatch()
	defer batch.Discard()
	t := records.NewTree(store, gitstore.ID{})
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
	for range maxConfigTries {
		newest, err := NewestConfigVersion(store, line)
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

// NewestConfigVersion is the newest version, nil if there is none.
func NewestConfigVersion(store *shadow.Store, line gitstore.RefName) (*gitstore.Commit, error) {
	id, err := store.Ref(line)
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return store.Commit(id)
}

// nameConfigBranch makes a branch lead to the versions, for people. It is `claude` or,
// if another root of the agent has that name, a name with the beginning of the ref's
// id.
func nameConfigBranch(ctx context.Context, store *shadow.Store, agent string, line gitstore.RefName) error {
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

// FindConfigVersion finds the version with a commit id, or with an id that begins so.
func (l *Launcher) FindConfigVersion(ctx context.Context, agent, id string) (string, error) {
	none := missions.Errorf(missions.KindNotFound, "git --git-dir="+home.ShellQuote(ConfigStoreDir(l.Home, agent))+" log --oneline "+agent, "there is no version %s of the configuration of %s", id, agent)
	store, err := l.openConfigStore(ctx, agent, false)
	if err != nil {
		return "", none
	}
	defer store.Close()
	list, err := store.ResolvePrefix(strings.ToLower(id))
	switch {
	case err != nil || len(list) == 0:
		return "", none
	case len(list) > 1:
		return "", missions.Errorf(missions.KindAmbiguous, "give more of it", "%s begins the ids of %d versions of the configuration of %s", id, len(list), agent)
	}
	return list[0].String(), nil
}

// ConfigOfVersion is the configuration of a version, for a launch. It is nil if the
// agent has that configuration now anyway.
func (l *Launcher) ConfigOfVersion(ctx context.Context, agent, id, now string) (*sessions.Config, error) {
	if id == "" || id == now {
		return nil, nil
	}
	store, err := l.openConfigStore(ctx, agent, false)
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
	config.Changed = changedConfigFiles(then, current)
	config.Read = func(name string) ([]byte, error) {
		if p, ok := files[name]; ok {
			return bytes.Clone(p), nil
		}
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return config, err
}

// eachConfigFile calls f for the files of a version.
func eachConfigFile(store *shadow.Store, tree gitstore.ID, f func(name string, e gitstore.TreeEntry) error) error {
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

// changedConfigFiles names the files that differ between two versions.
func changedConfigFiles(then, now map[string]gitstore.TreeEntry) (names []string) {
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
