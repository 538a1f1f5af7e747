package remotes

import (
	"fmt"
	"path"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// secretNames are the patterns of files that are secrets: the user's, and those of each project
// file. A file is one by any of them. An agent may write a project file: a "!" there takes
// nothing out of the others.
type secretNames []secretnames.Patterns

// secretNames are those of a caller who sends missions, and why nothing of a mission can leave,
// by its id: a project file that can't be read may name what is about to leave.
func (c *Carrier) secretNames(caller missions.Caller, list []*projects.Mission) (names secretNames, unread map[string]error, err error) {
	config, err := c.CallerConfig(caller)
	if err != nil {
		return nil, nil, err
	}
	names, unread = secretNames{secretnames.Compile(config.Capture.SecretPatterns())}, map[string]error{}
	problems := map[string]error{"": nil} // by workspace; what was fetched has none
	for _, m := range list {
		workspace := m.Binding.Workspace
		problem, seen := problems[workspace]
		if !seen {
			limits, err := config.Capture.NarrowedBy(workspace)
			if len(limits.NewSecrets) > 0 {
				names = append(names, secretnames.Compile(limits.NewSecrets))
			}
			problem, problems[workspace] = err, err
		}
		if problem != nil {
			unread[m.ID] = fmt.Errorf("nothing of %s leaves while the secrets of its project are not known: %w", m.Name, problem)
		}
	}
	return names, unread, nil
}

// match reports whether a file has the name of a secret. An archive may have that of a key.
func (n secretNames) match(file string, isArchive bool) bool {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	for _, p := range n {
		if p.Match(dir, name) && !(isArchive && p.MatchesKey(dir, name)) {
			return true
		}
	}
	return false
}
