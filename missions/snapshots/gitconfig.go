package snapshots

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// gitView is what is known of the user's repository and of its configuration.
type gitView struct {
	Repo         *usergit.Repository
	config       *usergit.Configuration
	configStamps map[string]home.FileStamp // of the files that the configuration came from
	gitState     *gitStateCache
}

// readGitConfig finds the user's repository, and reads the user's Git configuration if
// one of its files has changed.
func (ws *WorkspaceCache) readGitConfig(ctx context.Context, m *projects.Mission) error {
	repo, err := usergit.Discover(ws.Root)
	if errors.Is(err, usergit.ErrNoRepository) {
		repo, err = nil, nil
	}
	if err != nil {
		return missions.Errorf(missions.KindFailed, "", "read the repository of %s: %w", ws.Root, err)
	}
	if repo != nil && (repo.Bare || repo.TopLevel == "") {
		repo = nil
	}
	same := ws.config != nil && isSameRepository(ws.Repo, repo)
	ws.Repo = repo
	if !same || ws.gitState == nil {
		ws.gitState, ws.rules = nil, nil
		if repo != nil {
			ws.gitState = &gitStateCache{repo: repo}
		}
	}
	if same && ws.config.Unread == nil && ws.isConfigUnchanged() {
		return nil
	}
	config, err := usergit.ReadConfiguration(ctx, ws.Root, repo, gitEnv(m), ws.workspaces.GitPatience)
	if err != nil {
		return fmt.Errorf("read git's configuration for %s: %w", ws.Root, err)
	}
	ws.config, ws.rules, ws.configStamps = config, nil, map[string]home.FileStamp{}
	for _, file := range config.Files {
		ws.configStamps[file] = home.StampOf(file)
	}
	return nil
}

// isSameRepository reports whether what was known of one repository counts for the
// other: they are the same, and as much of both can be read.
func isSameRepository(a, b *usergit.Repository) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.GitDir == b.GitDir && (a.Unread == nil) == (b.Unread == nil) && (a.Unread == nil || a.Unread.Error() == b.Unread.Error())
}

func (ws *WorkspaceCache) isConfigUnchanged() bool {
	for file, stamp := range ws.configStamps {
		if home.StampOf(file) != stamp {
			return false
		}
	}
	return true
}

// author is the user's Git identity.
type author struct{ name, email string }

func (a author) signature(t time.Time) gitstore.Signature {
	return gitstore.Signature{Name: a.name, Email: a.email, When: t}
}

func (ws *WorkspaceCache) author() author { return author{ws.config.Name, ws.config.Email} }
