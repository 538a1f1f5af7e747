package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// Chain is a line of files that a remote keeps one behind another under one ref: each commit
// has one file, and the one before it as its parent. What the remote has of it is here too, in
// a bare repository that may be deleted.
type Chain struct {
	dir string
	ref string // there
}

// ErrRewound is the error of a chain that does not go on from what the remote had before.
var ErrRewound = errors.New("it does not go on from what was there before")

const (
	chainRef  = "refs/chain/there" // what the remote has, here
	chainFile = "file"
)

// OpenChain opens the copy of a remote's chain in a directory, which is made if it is not there.
func OpenChain(ctx context.Context, dir, ref string) (*Chain, error) {
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if _, err := git.Run(ctx, git.Command{Dir: dir, Args: []string{"init", "--quiet", "--bare", dir}}); err != nil {
			return nil, err
		}
	}
	return &Chain{dir: dir, ref: ref}, nil
}

func (c *Chain) git(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out, err := git.Run(ctx, git.Command{GitDir: c.dir, Dir: c.dir, Stdin: in, Args: args, Config: boundedMemory()})
	return strings.TrimSpace(string(out)), err
}

// Fetch brings what a remote has of the chain, which is nothing if it has no such ref.
func (c *Chain) Fetch(ctx context.Context, r Remote) error {
	refs, err := List(ctx, r, c.ref)
	if err != nil {
		return err
	}
	var there gitstore.ID
	for _, ref := range refs {
		if ref.Name == c.ref {
			there = ref.ID
		}
	}
	if there.IsZero() {
		if _, err := c.git(ctx, nil, "show-ref", "--verify", "--quiet", chainRef); err != nil {
			return nil
		}
		return &Error{URL: WithoutPassword(r.URL), Err: ErrRewound}
	}
	_, err = git.Run(ctx, git.Command{
		GitDir: c.dir, Dir: c.dir, User: r.user(), Config: append(boundedMemory(), "fetch.fsckObjects=true", "fetch.recurseSubmodules=no"),
		Args: []string{"fetch", "--no-progress", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--", r.URL, c.ref + ":" + chainRef},
	})
	var failed *git.Error
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "non-fast-forward") {
		return &Error{URL: WithoutPassword(r.URL), Err: ErrRewound}
	}
	return r.failed(err)
}

// Links are the commits of the chain, the oldest first.
func (c *Chain) Links(ctx context.Context) (list []gitstore.ID, err error) {
	if _, err := c.git(ctx, nil, "show-ref", "--verify", "--quiet", chainRef); err != nil {
		return nil, ctx.Err() // it has none yet
	}
	out, err := c.git(ctx, nil, "rev-list", "--reverse", "--first-parent", chainRef)
	if err != nil {
		return nil, err
	}
	for _, hex := range strings.Fields(out) {
		id, err := gitstore.ParseID(hex)
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// Copy writes the file of a link.
func (c *Chain) Copy(ctx context.Context, link gitstore.ID, out io.Writer) error {
	_, err := git.Run(ctx, git.Command{
		GitDir: c.dir, Dir: c.dir, Stdout: out, Config: boundedMemory(), Args: []string{"cat-file", "blob", link.String() + ":" + chainFile},
	})
	return err
}

// Push adds a file to the chain, here and on the remote. If the remote has gone on meanwhile,
// refused is what git says of it, and nothing was added.
func (c *Chain) Push(ctx context.Context, r Remote, file io.Reader) (refused string, err error) {
	blob, err := c.write(ctx, file)
	if err != nil {
		return "", err
	}
	tree, err := c.git(ctx, strings.NewReader(fmt.Sprintf("100644 blob %s\t%s\n", blob, chainFile)), "mktree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", "sealed", tree}
	links, err := c.Links(ctx)
	if err != nil {
		return "", err
	}
	if len(links) > 0 {
		args = append(args, "-p", links[len(links)-1].String())
	}
	commit, err := c.git(ctx, nil, args...)
	if err != nil {
		return "", err
	}
	id, err := gitstore.ParseID(commit)
	if err != nil {
		return "", err
	}
	said, err := Push(ctx, c.dir, r, []Ref{{Name: c.ref, ID: id}})
	if err != nil || said[c.ref] != "" {
		return said[c.ref], err
	}
	_, err = c.git(ctx, nil, "update-ref", chainRef, commit)
	return "", err
}

// write stores a file here. Of a pipe git would hold all of it in memory.
func (c *Chain) write(ctx context.Context, file io.Reader) (blob string, err error) {
	const name = "sending-*"
	left, err := filepath.Glob(filepath.Join(c.dir, name)) // by a process that was killed
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return "", err
	}
	spool, err := os.CreateTemp(c.dir, name)
	if err != nil {
		return "", err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	if _, err = io.Copy(spool, file); err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", err
	}
	return c.git(ctx, spool, "hash-object", "-w", "--stdin", "--no-filters")
}
