package authorship

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/missions"
)

// headPath is a path in a commit of the user's.
type headPath struct{ head, path string }

// committed is a file in a commit of the user's, and the commits that its lines come from.
type committed struct {
	blob    gitstore.ID
	commits []string // of each line
	about   map[string]missions.LineOrigin
}

// settleByCommits finds the lines of a version that the user's HEAD had then.
func (s *search) settleByCommits(v version, lines lineMap) error {
	file, err := s.committedAt(v)
	if err != nil || file == nil {
		return err
	}
	same, err := s.olderLines(file.blob, v.blob)
	if err != nil {
		return err
	}
	for line, asked := range lines {
		was, ok := same.line(line)
		if !ok || was > len(file.commits) {
			continue
		}
		for _, one := range asked {
			s.found[one] = missions.BlamedLine{By: missions.AuthorCommit, LineOrigin: file.about[file.commits[was-1]]}
		}
		delete(lines, line)
	}
	return nil
}

// committedAt is the file of a version in the commit that the user's HEAD was then, nil if it
// was in none.
func (s *search) committedAt(v version) (*committed, error) {
	if v.step.snapshot.GitHead == "" {
		return nil, nil
	}
	at := headPath{v.step.snapshot.GitHead, v.path}
	file, read := s.heads[at]
	if !read {
		var err error
		if file, err = s.readCommitted(at); err != nil {
			return nil, err
		}
		s.heads[at] = file
	}
	return file, nil
}

// passByCommits passes on the lines that the file had by a name that it has in the user's
// commits alone, since no snapshot was taken when it got another one.
func (s *search) passByCommits(v version, lines lineMap) error {
	file, err := s.committedAt(v)
	if err != nil || file == nil {
		return err
	}
	names := map[string]bool{v.path: true}
	for _, commit := range file.commits {
		name := file.about[commit].Path
		if names[name] || name == "" || len(lines) == 0 {
			continue
		}
		names[name] = true
		if err := s.passByContent(v, name, lines); err != nil {
			return err
		}
	}
	return nil
}

// readCommitted asks the user's repository, nil if that knows nothing of the file.
func (s *search) readCommitted(at headPath) (*committed, error) {
	if s.mission.Binding.Workspace == "" {
		return nil, nil // it was fetched: its commits are in no repository that is known
	}
	out, err := git.Run(s.ctx, git.Command{
		Dir: s.mission.Binding.Workspace, Env: []string{"GIT_NO_LAZY_FETCH=1"},
		Args: []string{"blame", "--porcelain", "--no-textconv", at.head, "--", at.path},
	})
	if err != nil {
		return nil, context.Cause(s.ctx) // no repository, no such commit, or no such file there
	}
	file, content := parsePorcelain(out)
	batch := s.store.NewBatch()
	defer batch.Discard()
	if file.blob, err = batch.Blob(content); err == nil {
		err = batch.Flush(s.ctx)
	}
	return file, err
}

// parsePorcelain reads what git blame --porcelain says. The format is that of git-blame(1):
// a head for each line, what is known of a commit with its first line, and the line itself
// behind a tab.
func parsePorcelain(out []byte) (*committed, []byte) {
	file := &committed{about: map[string]missions.LineOrigin{}}
	var content bytes.Buffer
	commit := ""
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			content.WriteString(text)
			file.commits, commit = append(file.commits, commit), ""
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if commit == "" {
			commit = key
			continue
		}
		about := file.about[commit]
		about.Commit = commit
		switch key {
		case "author-time":
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				about.At = time.Unix(seconds, 0).UTC()
			}
		case "summary":
			about.Message = value
		case "filename":
			about.Path = value
		}
		file.about[commit] = about
	}
	return file, content.Bytes()
}
