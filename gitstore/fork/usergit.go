package fork

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// userGit runs git on the user's repository: hermetically, without the
// repository's own filters, and never fetching what a partial clone lacks. The
// operation is in each command line, so that a process that outlives Umbra can
// be told.
type userGit struct {
	operation string
	gitDir    string // of the worktree that commands run for
	top       string // its work tree; "" where none is needed
	admin     string // the git directory of the fork's worktree, once made
	inside    string // a directory in which git itself finds the repository, instead of all these
	filters   []string
}

// openUserGit looks up which filters the repository's configuration names.
func openUserGit(ctx context.Context, operation, gitDir, top string) (*userGit, error) {
	g := &userGit{operation: operation, gitDir: gitDir, top: top}
	var err error
	if g.filters, err = g.withoutFilters(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// withoutFilters are settings that leave each filter driver of the repository's
// configuration with nothing to run: an empty process keeps git from looking at
// clean and smudge, and an empty command is not run (apply_filter in git's
// convert.c).
func (g *userGit) withoutFilters(ctx context.Context) ([]string, error) {
	keys, err := g.run(ctx, nil, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var settings []string
	for key := range strings.SplitSeq(string(keys), "\x00") {
		rest, ok := strings.CutPrefix(key, "filter.")
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot < 0 || seen[rest[:dot]] || strings.ContainsRune(rest[:dot], '=') {
			continue
		}
		driver := rest[:dot]
		seen[driver] = true
		for _, setting := range []string{"clean=", "smudge=", "process=", "required=false"} {
			settings = append(settings, "filter."+driver+"."+setting)
		}
	}
	return settings, nil
}

// usesGitCrypt reports a filter driver of git-crypt, which has one for each of its keys.
func (g *userGit) usesGitCrypt() bool {
	return slices.ContainsFunc(g.filters, func(setting string) bool {
		return strings.HasPrefix(setting, "filter.git-crypt.") || strings.HasPrefix(setting, "filter.git-crypt-")
	})
}

// run runs git for the worktree and returns its output.
func (g *userGit) run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	c := git.Command{GitDir: g.gitDir, Dir: g.gitDir, Stdin: stdin, Args: args}
	c.Config = append([]string{
		"umbra.operation=" + g.operation, "protocol.allow=never", "submodule.recurse=false",
		"core.splitIndex=false", "core.untrackedCache=false", "feature.manyFiles=false",
		"worktree.useRelativePaths=false",
		"index.version=2", "index.sparse=false", "index.skipHash=false",
	}, g.filters...)
	c.Env = []string{"GIT_NO_LAZY_FETCH=1"}
	if g.inside != "" {
		// Whose the files are is nothing that could go wrong here.
		c.Dir, c.Config = g.inside, append(c.Config, "safe.directory=*")
	}
	if g.top != "" {
		c.Dir = g.top
		c.Env = append(c.Env, "GIT_WORK_TREE="+g.top)
	}
	return git.Run(ctx, c)
}

// resolve is the commit that a ref names, "" if there is none.
func (g *userGit) resolve(ctx context.Context, ref string) (string, error) {
	out, err := g.run(ctx, nil, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if exitedWith(err, 1) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// refused tells whether git ran and ended with an error that names what.
func refused(err error, what string) bool {
	failed := (*git.Error)(nil)
	return errors.As(err, &failed) && strings.Contains(failed.Stderr, what)
}

// present tells which objects the repository has, without fetching any.
func (g *userGit) present(ctx context.Context, names []string) ([]bool, error) {
	var in bytes.Buffer
	for _, name := range names {
		in.WriteString(name + "\n")
	}
	out, err := g.run(ctx, &in, "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	have := make([]bool, len(names))
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i := range min(len(lines), len(names)) {
		have[i] = !strings.HasSuffix(lines[i], " missing") && !strings.HasSuffix(lines[i], " ambiguous")
	}
	return have, nil
}
