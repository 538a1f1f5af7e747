package conversations

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// maxOpeningBytes is how much of a conversation is read for the directory it was
// begun in, which stands in its first lines.
const maxOpeningBytes = 1 << 20

// addLinkNames finds by what other path a conversation that moves to another
// workspace calls its old one: an agent that was started in a directory that a
// symbolic link leads to may call it by the link. What a link led to once can't be
// known later, so the answer is part of how the copy was made.
func (l *Library) addLinkNames(p *projects.Project, plan *ConversationPlan, a sessions.Adapter, to *sessions.Rewrite) error {
	if to.OldRoot == to.NewRoot || to.OldName != "" {
		return nil
	}
	cwd, err := l.firstWorkingDirectory(p, plan, a)
	if err != nil {
		return err
	}
	to.OldName, to.NewName = LinkName(cwd, to.OldRoot, to.NewRoot)
	return nil
}

// firstWorkingDirectory is the working directory as the conversation's first lines name it, ""
// if they do not.
func (l *Library) firstWorkingDirectory(p *projects.Project, plan *ConversationPlan, a sessions.Adapter) (string, error) {
	r, _, err := l.openConversationWithFile(p, plan.Record, plan.agentFile)
	if err != nil {
		return "", err
	}
	defer r.Close()
	f, opening, buf := a.Follow(), io.LimitReader(r, min(maxOpeningBytes, plan.Cut.Length)), make([]byte, 32<<10)
	for {
		n, err := opening.Read(buf)
		f.Feed(buf[:n])
		if cwd := f.Conversation().Cwd; cwd != "" || errors.Is(err, io.EOF) {
			return cwd, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// LinkName is the highest directory of a path outside root that is one of root's
// by a symbolic link, and what that directory is below another root; none where the
// path leads elsewhere.
func LinkName(path, root, newRoot string) (name, newName string) {
	if !filepath.IsAbs(path) || home.IsWithin(root, filepath.Clean(path)) {
		return "", ""
	}
	name = filepath.Clean(path)
	real := projects.ResolveLinks(name)
	if !home.IsWithin(root, real) || real == name {
		return "", ""
	}
	for real != root && projects.ResolveLinks(filepath.Dir(name)) == filepath.Dir(real) {
		real, name = filepath.Dir(real), filepath.Dir(name)
	}
	return name, filepath.Join(newRoot, strings.TrimPrefix(real, root))
}
