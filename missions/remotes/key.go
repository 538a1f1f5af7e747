package remotes

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/seal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// keyPath is the key file of a remote that is added, "" for none. It is a key, or is not there
// and can be made: a directory that is not there is rather a mistake in the path.
func (c *Carrier) keyPath(at addresses.CallerDirectory, r missions.AddRemoteRequest) (string, error) {
	if r.KeyFile == "" {
		return "", nil
	}
	path, err := c.keyPlace(at.Top, r.Caller, r.KeyFile) // which becomes a project
	if err != nil {
		return "", err
	}
	if home.IsThere(path) {
		_, err = keyIn(path)
		return path, err
	}
	return path, checkKeyDirectory(path)
}

// keyPlace is where a key file is that a caller has named. One that would be in snapshots, of
// whichever project or of here, is refused: it would lie beside what it encrypts. In Umbra's
// home it would go with the home.
func (c *Carrier) keyPlace(here string, caller missions.Caller, file string) (string, error) {
	path := projects.AbsolutePath(caller.Cwd, file)
	captured := c.capturedPlaces(here, caller)
	wrong := func(path string) string {
		real := projects.ResolveLinks(path)
		if real == path { // also where it is not there yet
			real = filepath.Join(projects.ResolveLinks(filepath.Dir(path)), filepath.Base(path))
		}
		if home.IsWithin(projects.ResolveLinks(c.Home.Dir), real) {
			return "in Umbra's own directory, which umbra uninstall --data removes"
		}
		for _, dir := range captured {
			if home.IsWithin(projects.ResolveLinks(dir), real) {
				return "in the snapshots of " + dir
			}
		}
		return ""
	}
	why := wrong(path)
	if why == "" {
		return path, nil
	}
	hint := "keep it elsewhere"
	for _, name := range []string{".config/umbra.key", "umbra.key"} {
		if user := caller.Env["HOME"]; user != "" && wrong(filepath.Join(user, name)) == "" {
			hint += ", such as ~/" + name
			break
		}
	}
	return "", missions.Errorf(missions.KindUsage, hint, "%s would be %s", path, why)
}

// capturedPlaces are the directories that are in snapshots, or may come to be: workspaces, and
// projects. A project of somebody's whole home, or of all of a system's, has no workspace there
// unless a mission says so.
func (c *Carrier) capturedPlaces(here string, caller missions.Caller) (list []string) {
	add := func(dir string) {
		_, err := capture.CheckRoot(capture.RootCheck{Root: dir, Home: caller.Env["HOME"], UmbraHome: c.Home.Dir})
		var refused *capture.RootError
		if !errors.As(err, &refused) || !refused.Reason.Overridable() {
			list = append(list, dir)
		}
	}
	if here != "" {
		add(here)
	}
	all, _ := c.AllProjects() // of what can't be read no workspace is known
	for _, p := range all {
		if p.Locations.Path != "" {
			add(p.Locations.Path)
		}
		missionsThere, _ := c.ProjectMissions(p)
		removed, _ := c.RemovedMissionsIn(p)
		for _, m := range append(missionsThere, removed...) {
			if m.Binding.Workspace != "" {
				list = append(list, m.Binding.Workspace)
			}
		}
	}
	return list
}

func checkKeyDirectory(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return missions.Errorf(missions.KindNotFound, "name a key that is there; or mkdir -p "+home.ShellQuote(dir)+", and the same command makes a new key in it",
			"there is no directory %s for the key", dir)
	}
	return nil
}

// readyKey reads a key file, or makes it if it is not there.
func readyKey(path string) (made bool, err error) {
	if home.IsThere(path) {
		_, err = keyIn(path)
		return false, err
	}
	drawn, err := seal.Draw()
	if err == nil {
		err = drawn.Save(path)
	}
	if err != nil {
		return false, missions.Errorf(missions.KindFailed, "look at the place", "make a key: %w", err)
	}
	return true, nil
}

func keyIn(path string) (*seal.Key, error) {
	key, err := seal.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missions.Errorf(missions.KindNotFound, "put it back, or bring it from another machine: without it nobody reads what it has encrypted", "the key %s is not there", path)
	case err != nil:
		return nil, missions.Errorf(missions.KindUsage, "age-keygen -o FILE makes one, and so do umbra remote add NAME URL --encrypt FILE and umbra export --new-key FILE", "%w", err)
	}
	return key, nil
}

// exportKey is the key that an export is encrypted with.
type exportKey struct {
	path  string
	key   *seal.Key   // nil: the export is not encrypted
	drawn *seal.Drawn // it is to be made: it is in no file before the export is whole
}

// exportKey finds the key of an export to a file, or draws it.
func (c *Carrier) exportKey(r missions.ExportRequest, file string) (k exportKey, err error) {
	named := r.KeyFile
	switch {
	case r.KeyFile != "" && r.NewKeyFile != "":
		return k, missions.Errorf(missions.KindUsage, "--encrypt is for a key that is there, --new-key makes one", "--encrypt and --new-key contradict each other")
	case r.NewKeyFile != "":
		named = r.NewKeyFile
	case r.KeyFile == "":
		return k, nil
	}
	at, err := c.addresses.LocateCaller(r.Caller)
	if err != nil {
		return k, err
	}
	here := ""
	if at.Project != nil || at.Repo != nil {
		here = at.Top
	}
	if k.path, err = c.keyPlace(here, r.Caller, named); err != nil {
		return k, err
	}
	if isSamePlace(k.path, file) {
		return k, missions.Errorf(missions.KindUsage, "give the key a file of its own", "%s can't be both the key and what it encrypts", file)
	}
	if r.NewKeyFile == "" {
		k.key, err = keyIn(k.path)
		return k, err
	}
	if home.IsThere(k.path) {
		return k, missions.Errorf(missions.KindConflict, "umbra export MOMENT… -o FILE --encrypt "+home.ShellQuote(k.path)+" takes a key that is there", "%s is there already", k.path)
	}
	if err := checkKeyDirectory(k.path); err != nil {
		return k, err
	}
	if k.drawn, err = seal.Draw(); err == nil {
		k.key = k.drawn.Key
	}
	return k, err
}

// isSamePlace reports whether two paths name one file, or would.
func isSamePlace(a, b string) bool {
	there, noFile := os.Stat(a)
	other, noOther := os.Stat(b)
	if noFile == nil && noOther == nil {
		return os.SameFile(there, other)
	}
	in := func(path string) string {
		return filepath.Join(projects.ResolveLinks(filepath.Dir(path)), filepath.Base(path))
	}
	return in(a) == in(b)
}

// through gives what encrypts to out all that is written to it.
func (k exportKey) through(out io.Writer) (io.WriteCloser, error) {
	if k.key == nil {
		return asItIs{out}, nil
	}
	return k.key.SealTo(out)
}

// save puts a key that was drawn into its file.
func (k exportKey) save() error {
	if k.drawn == nil {
		return nil
	}
	if err := k.drawn.Save(k.path); err != nil {
		return missions.Errorf(missions.KindFailed, "look at the place; nothing was written", "make a key: %w", err)
	}
	return nil
}

// asItIs is a file that is not encrypted.
type asItIs struct{ io.Writer }

// Close leaves the file open.
func (asItIs) Close() error { return nil }
