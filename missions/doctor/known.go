package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// knownFile is where the home remembers what its user has said to know.
const knownFile = "known.json"

// settleKnown parts what was said to be known from the problems. On request all problems
// of now are known from then on, and what is not found any more is forgotten.
func (x *Examination) settleKnown() error {
	var known []missions.Problem
	text, err := disk.ReadFile(x.Examiner.Home.Path(knownFile))
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.Examiner.Logger.Warn("read what is known of what is wrong", "error", err)
	}
	x.Result.Known = slices.Clone(x.Result.Problems)
	if !x.request.Known {
		x.Result.Known = slices.DeleteFunc(x.Result.Known, func(p missions.Problem) bool {
			return !slices.ContainsFunc(known, func(k missions.Problem) bool {
				return k.Project == p.Project && k.Mission == p.Mission && k.Message == p.Message
			})
		})
	}
	x.Result.Problems = slices.DeleteFunc(x.Result.Problems, func(p missions.Problem) bool {
		return slices.ContainsFunc(x.Result.Known, func(k missions.Problem) bool {
			return k.Project == p.Project && k.Mission == p.Mission && k.Message == p.Message
		})
	})
	if !x.request.Known {
		return nil
	}
	text, err = json.MarshalIndent(x.Result.Known, "", " ")
	if err != nil {
		return err
	}
	if err := journal.WriteBelow(x.Examiner.Home.Dir, x.Examiner.Home.Path(knownFile), 0o600, append(text, '\n')); err != nil {
		return fmt.Errorf("note what is known: %w", err)
	}
	return nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkRegister looks for projects that were made in the home and whose directory there is
// gone, with all snapshots in it.
func (x *Examination) checkRegister(list []*projects.Project) (gone bool, err error) {
	register, err := x.Examiner.ReadRegister()
	if err != nil {
		return false, fmt.Errorf("read the list of projects: %w", err)
	}
	for _, entry := range register {
		dir := x.Examiner.Home.Path("projects", entry.Dir)
		if slices.ContainsFunc(list, func(p *projects.Project) bool { return p.ID == entry.ID }) || isThere(dir) {
			continue
		}
		gone = true
		x.report(missions.Problem{
			Invariant: "I1", Project: entry.Dir, Message: fmt.Sprintf("%s is gone, and with it the snapshots of %s", dir, entry.Path),
			Fix: "bring it back from a backup, or say that you know: umbra doctor --known",
		}, nil)
	}
	return gone, nil
}
