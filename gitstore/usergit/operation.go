package usergit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Operation is something of Git's that the user has begun and not ended.
type Operation string

// The operations, by the name of their command.
const (
	Merge      Operation = "merge"
	Rebase     Operation = "rebase"
	CherryPick Operation = "cherry-pick"
	Revert     Operation = "revert"
	Bisect     Operation = "bisect"
	Am         Operation = "am"
)

// Operations lists the operations in progress, most often none and hardly ever
// two. With reftable some can't be seen: the list then comes with an
// UnsupportedError.
func (r *Repository) Operations() ([]Operation, error) {
	if r.Unread != nil {
		return nil, r.Unread
	}
	var found []Operation
	add := func(op Operation) {
		for _, have := range found {
			if have == op {
				return
			}
		}
		found = append(found, op)
	}
	for _, sign := range []struct {
		file string
		op   Operation
	}{
		{"rebase-merge", Rebase},
		{"rebase-apply", Rebase},
		{"MERGE_HEAD", Merge},
		{"CHERRY_PICK_HEAD", CherryPick},
		{"REVERT_HEAD", Revert},
		{"BISECT_LOG", Bisect},
	} {
		exists, err := r.exists(sign.file)
		if err != nil {
			return found, err
		}
		if exists && sign.file == "rebase-apply" {
			// git am and git rebase --apply share this directory.
			applying, err := r.exists("rebase-apply/applying")
			if err != nil {
				return found, err
			}
			if applying {
				sign.op = Am
			}
		}
		if exists {
			add(sign.op)
		}
	}
	// Between the commits of a series there is no CHERRY_PICK_HEAD.
	todo, err := ReadFile(filepath.Join(r.GitDir, "sequencer", "todo"), maxPointer)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return found, err
	}
	switch command, _, _ := strings.Cut(strings.TrimSpace(string(todo)), " "); command {
	case "pick", "p":
		add(CherryPick)
	case "revert":
		add(Revert)
	}
	if r.RefTable {
		return found, &UnsupportedError{Path: r.CommonDir, What: "reftable"}
	}
	return found, nil
}

func (r *Repository) exists(name string) (bool, error) {
	_, err := os.Lstat(filepath.Join(r.GitDir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}
