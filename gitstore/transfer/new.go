package transfer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Object is an object that one side has and the other has not.
type Object struct {
	ID gitstore.ID
	// Commit is a commit that holds it: the oldest of them, or the object itself.
	Commit gitstore.ID
	// Path is its path in the commit's tree, "" for a commit or its tree.
	Path string
}

// EachNew calls fn for each object of a repository that tips need and known do not, oldest
// commits first, each object once. Objects are not held in memory. An error of fn ends it.
func EachNew(ctx context.Context, dir string, tips, known []gitstore.ID, fn func(Object) error) error {
	var revisions strings.Builder
	for _, id := range tips {
		revisions.WriteString(id.String() + "\n")
	}
	for _, id := range known {
		revisions.WriteString("^" + id.String() + "\n")
	}
	read, write := io.Pipe()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, err := git.Run(ctx, git.Command{
			GitDir: dir, Dir: dir, Stdin: strings.NewReader(revisions.String()), Stdout: write,
			Args: []string{"rev-list", "--objects", "--in-commit-order", "--reverse", "--stdin"},
		})
		write.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	err := eachLine(read, fn)
	if err != nil {
		cancel()
	}
	read.Close()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

// Size is how many bytes an object has as content. A blob is not read for it where it
// stands whole.
func Size(s *shadow.Store, id gitstore.ID) (int64, error) {
	r, size, err := s.BlobReader(id)
	if err == nil {
		return size, r.Close()
	}
	if !errors.Is(err, gitstore.ErrWrongType) {
		return 0, err
	}
	_, data, err := s.Object(id)
	return int64(len(data)), err
}

func eachLine(lines io.Reader, fn func(Object) error) error {
	in := bufio.NewReaderSize(lines, 64<<10)
	var commit gitstore.ID
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return gitstore.Ignoring(err, io.EOF)
		}
		hex, path, inTree := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, err := gitstore.ParseID(hex)
		if err != nil {
			return err
		}
		if !inTree {
			commit = id
		}
		if err := fn(Object{ID: id, Commit: commit, Path: path}); err != nil {
			return err
		}
	}
}
