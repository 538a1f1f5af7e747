package fork

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/gitdir"
)

// complete shows that a copy has what its refs, its HEAD and its index name, as far as
// the source has it. What those lead to was copied after them, and came whole. What was
// staged since is copied now. It costs one look at each name: to follow them all takes
// minutes in a large repository.
func (p *placer) complete(ctx context.Context, n nested) error {
	missing, err := p.missing(ctx, n)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := p.copyNewObjects(ctx, n); err != nil {
		return err
	}
	if missing, err = p.missing(ctx, n); err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("the copy has not all that its refs and index name, as %s", short(missing[0]))
}

// missing are the objects that a copy names and the source alone has.
func (p *placer) missing(ctx context.Context, n nested) ([]string, error) {
	g := &userGit{operation: p.k.doc.Operation, gitDir: p.copyOf(n)}
	names, err := g.names(ctx)
	if err != nil {
		return nil, err
	}
	here, err := g.present(ctx, names)
	if err != nil {
		return nil, err
	}
	names = only(names, here, false)
	if len(names) == 0 {
		return nil, nil
	}
	there, err := (&userGit{operation: g.operation, gitDir: n.gitDir}).present(ctx, names)
	return only(names, there, true), err
}

// only are the names of which that is so.
func only(names []string, is []bool, so bool) (those []string) {
	for i, name := range names {
		if i < len(is) && is[i] == so {
			those = append(those, name)
		}
	}
	return those
}

// names are the objects that the refs, HEAD and the index name, each once.
func (g *userGit) names(ctx context.Context) ([]string, error) {
	refs, err := g.run(ctx, nil, "for-each-ref", "--format=%(objectname)")
	if err != nil {
		return nil, err
	}
	head, err := g.run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil && !exitedWith(err, 1) {
		return nil, err
	}
	staged, err := g.run(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(refs) + string(head))
	for line := range strings.SplitSeq(string(staged), "\x00") {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "160000" {
			names = append(names, f[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// copyNewObjects copies what came to the source's objects since they were copied.
func (p *placer) copyNewObjects(ctx context.Context, n nested) error {
	l, target := n.lister, p.copyOf(n)
	if n.common != "" {
		l, target = gitdir.Lister{Dir: n.common}, p.at(n.commonPath)
	}
	parts, err := l.List(ctx)
	if err != nil {
		return err
	}
	for _, part := range parts {
		part, ok := part.Half(true)
		at := joinPath(target, part.Place)
		isThere := func(path string) bool { _, err := os.Lstat(joinPath(at, path)); return err == nil }
		if !ok || part.IsFile && isThere("") {
			continue
		}
		part.Again = part.Again || isThere("")
		part.Items = slices.DeleteFunc(part.Items, func(i gitdir.Item) bool { return isThere(i.Path) })
		if err := p.k.copier.copyPart(ctx, part, at); err != nil {
			return err
		}
	}
	return nil
}

// redirect has the settings of copied repositories lead to the fork's own places, and
// notes which still name the source.
func (p *placer) redirect(ctx context.Context, repos []nested) error {
	src, doc := p.k.src, p.k.doc
	places := []gitdir.Move{{From: src.Live, To: doc.workspace()}}
	if real, err := resolve(src.Live); err == nil && real != src.Live {
		places = append(places, gitdir.Move{From: real, To: doc.workspace()})
	}
	if doc.Scope != "" {
		places = append(places, gitdir.Move{From: src.Repo.TopLevel, To: doc.Directory})
	}
	for _, n := range repos {
		c := gitdir.Copy{GitDir: p.copyOf(n), Source: n.gitDir, Moves: append([]gitdir.Move{{From: n.gitDir, To: p.copyOf(n)}}, places...)}
		if !n.store {
			c.Top, c.SourceTop = p.at(n.path), joinPath(p.from, n.path)
		}
		left, err := c.Redirect(ctx)
		if err != nil {
			return fmt.Errorf("settings of %s: %w", c.GitDir, err)
		}
		if len(left) > 0 {
			p.k.note(fmt.Sprintf("The copied repository in %s still names places of the source: %s.", p.prefix+n.dotGit(), strings.Join(left, ", ")))
		}
	}
	return nil
}
