package prunes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// namedIDs are all object ids that stand in files of the home which speak of what is not
// over: operations, requests, live missions, merges that wait, updates, landings, checks,
// fixes and searches for what broke something. What the ids mean there does not matter:
// what they name stays.
func (pr *Pruner) namedIDs(p *projects.Project) (map[gitstore.ID]bool, error) {
	named := map[gitstore.ID]bool{}
	operations, err := os.ReadDir(pr.Journal.Dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range operations { // beside the document are the user's own files
		if err := addNamed(named, filepath.Join(pr.Journal.Dir(), e.Name(), "operation.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, dir := range []string{
		filepath.Join(pr.Journal.Dir(), "live"), filepath.Join(pr.Journal.Dir(), "requests"),
		filepath.Join(p.Dir, projects.MergesDir), filepath.Join(p.Dir, projects.UpdatesDir, "waiting"),
		pr.Home.Path("agents", "bisect"), pr.Home.Path("agents", "checks"), pr.Home.Path("agents", "fixes"), pr.Home.Path("agents", "landed"),
	} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && (filepath.Base(dir) != "checks" || filepath.Ext(path) == ".json") { // else it is what a check printed
				err = addNamed(named, path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // over meanwhile, or there never was any
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return named, nil
}

// addNamed adds the ids that stand in a file.
func addNamed(named map[gitstore.ID]bool, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begins := 0
	for i := range len(text) + 1 {
		if i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'f') {
			continue
		}
		if i-begins == 2*gitstore.IDSize {
			if id, err := gitstore.ParseID(string(text[begins:i])); err == nil {
				named[id] = true
			}
		}
		begins = i + 1
	}
	return nil
}
