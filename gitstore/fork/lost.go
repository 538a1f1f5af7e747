package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// lostFile is a file of the moment that no snapshot holds and that the live workspace can't
// give as it was, and why.
type lostFile struct {
	documents.Skipped
	reason string
}

// leftOutThen are the files that the moment's snapshot left out for what they are.
func (k *maker) leftOutThen(reason string) []lostFile {
	set := k.src.Then
	if set == nil {
		set = k.src.Skipped
	}
	if set == nil {
		return nil
	}
	var list []lostFile
	for _, s := range set.All() {
		if s.HasContent() && !k.list.holdsFile(s.Path) {
			list = append(list, lostFile{s, reason})
		}
	}
	return list
}

// changedSince are those of the files that are not in the live workspace as they were.
func changedSince(live *beneath.Root, list []lostFile) ([]lostFile, error) {
	var changed []lostFile
	for _, f := range list {
		switch st, err := live.Lstat(f.Path); {
		case vanished(err), errors.Is(err, beneath.ErrSymlink):
			changed = append(changed, lostFile{f.Skipped, reasonGone})
		case errors.Is(err, fs.ErrPermission): // reported by the scan
		case err != nil:
			return nil, err
		case f.Mtime != 0 && !f.Matches(st):
			changed = append(changed, lostFile{f.Skipped, reasonLater})
		}
	}
	return changed, nil
}

// findLost writes lost files that Git has as they were: those that are in the fork's index,
// which is the one of the moment, with the size that the file had. The others are reported.
func (k *maker) findLost(ctx context.Context) error {
	if len(k.scan.lost) == 0 {
		return nil
	}
	held := map[string]bool{}
	if k.git != nil {
		var err error
		if held, err = k.git.checkOutLost(ctx, k.doc.Scope, k.scan.lost); err != nil {
			return err
		}
	}
	for _, f := range k.scan.lost {
		if held[f.Path] {
			k.note(f.Path + " is in no snapshot: the fork has what Git's index held at that moment, which has the size that the file had.")
		} else {
			k.leave(f.Path, f.reason)
		}
	}
	return nil
}

// checkOutLost has git write those of the files that the index holds with the size they
// had, and returns their paths. None to which a filter applies is among them: what git
// holds of these is something else.
func (g *userGit) checkOutLost(ctx context.Context, scope string, list []lostFile) (map[string]bool, error) {
	var names, paths bytes.Buffer
	var asked []lostFile
	for _, f := range list {
		if !strings.Contains(f.Path, "\n") {
			asked = append(asked, f)
			fmt.Fprintf(&names, ":0:%s\n", treepath.Join(scope, f.Path))
		}
	}
	out, err := g.run(ctx, &names, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	sized := map[string]string{} // by path below the top level
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if fields := strings.Fields(line); i < len(asked) && len(fields) == 3 && fields[1] == "blob" && fields[2] == strconv.FormatInt(asked[i].Size, 10) {
			sized[treepath.Join(scope, asked[i].Path)] = asked[i].Path
			paths.WriteString(treepath.Join(scope, asked[i].Path) + "\x00")
		}
	}
	if len(sized) == 0 {
		return nil, nil
	}
	if out, err = g.run(ctx, &paths, "check-attr", "-z", "--stdin", "filter", "ident", "working-tree-encoding"); err != nil {
		return nil, err
	}
	attributes := strings.Split(string(out), "\x00")
	for ; len(attributes) >= 3; attributes = attributes[3:] {
		if value := attributes[2]; value != "unspecified" && value != "unset" {
			delete(sized, attributes[0])
		}
	}
	held := map[string]bool{}
	paths.Reset()
	for whole, path := range sized {
		held[path] = true
		paths.WriteString(whole + "\x00")
	}
	_, err = g.run(ctx, &paths, "checkout-index", "-z", "--stdin", "--force", "--index", "--quiet")
	return held, err
}
