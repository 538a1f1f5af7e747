package remotes

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Check says what is wrong with the missions that were fetched into a project: that half of
// one is there, or that one can't be read. Said are missions, by REMOTE/ID, of which a
// problem is known.
func (c *Carrier) Check(p *projects.Project, said map[string]bool) (problems []missions.Problem) {
	type fetched struct{ agent, record gitstore.RefName }
	found := map[string]fetched{} // by REMOTE/ID
	for _, kind := range []gitstore.RefKind{gitstore.RefFetchedAgent, gitstore.RefFetchedRecord} {
		list, err := p.Store.Refs(kind)
		if err != nil {
			return []missions.Problem{{Invariant: "I1", Project: p.Name, Message: err.Error(), Fix: "umbra doctor"}}
		}
		for _, ref := range list.Refs {
			one := found[ref.Name.Arg()]
			if kind == gitstore.RefFetchedAgent {
				one.agent = ref.Name
			} else {
				one.record = ref.Name
			}
			found[ref.Name.Arg()] = one
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		one := found[name]
		ref := cmp.Or(one.agent, one.record)
		remote, id := ref.Remote(), ref.Mission()
		problem := missions.Problem{Invariant: "I3", Project: p.Name, Mission: c.NameOf(p, remote, id)}
		switch {
		case said[name]:
			continue
		case one.agent == "":
			problem.Message, problem.Fix = "of what was fetched the records are there, and no snapshots", again(p, remote)
		case one.record == "":
			problem.Message, problem.Fix = "of what was fetched the snapshots are there, and no records", again(p, remote)
		default:
			m, err := c.LoadFetchedMission(p, remote, id)
			if err == nil {
				err = checkHistory(m)
			}
			if err == nil {
				continue
			}
			advice, fix := Anew(p, remote)
			problem.Message, problem.Fix = err.Error()+advice, fix
		}
		problems = append(problems, problem)
	}
	return problems
}

// NameOf is the name of a mission that was fetched; where it can't be read, a name by its id.
func (c *Carrier) NameOf(p *projects.Project, remote, id string) string {
	if m, err := c.LoadFetchedMission(p, remote, id); err == nil {
		return m.Name
	}
	return fmt.Sprintf("%s/%.8s", remote, id)
}

// Anew says how what was fetched from a remote comes again whole, and what to type to see
// whether it is there still: what the remote has no more is forgotten by that, so that
// nobody is to type it unseen.
func Anew(p *projects.Project, remote string) (advice, fix string) {
	one := remoteOf(p, remote)
	switch {
	case one == nil: // nobody knows any more where that is
		return "", inProject(p) + "umbra remote add " + remote + " URL && umbra fetch " + remote
	case one.File:
		return fmt.Sprintf("; umbra remote rm %s and %s bring it again, and forget what the file does not have", remote, importAgain(*one)),
			"git bundle list-heads " + home.ShellQuote(one.URL)
	}
	url := home.ShellQuote(one.URL)
	if transfer.WithoutPassword(one.URL) != one.URL {
		url = "URL"
	}
	return fmt.Sprintf("; umbra remote rm %[1]s, umbra remote add %[1]s URL and umbra fetch %[1]s bring it again, and forget what the remote has no more", remote),
		inProject(p) + "git ls-remote " + url + " " + home.ShellQuote(refsAbove+one.Project+"/*")
}

// AfterTorn is what to type about the ref of a fetched mission that can't be read. Its file is
// put aside, and not deleted: it may be that the disk failed, or that the remote has it no more.
func AfterTorn(p *projects.Project, name gitstore.RefName) string {
	file := filepath.Join(p.ShadowRepo(), filepath.FromSlash(string(name)))
	aside := filepath.Join(p.Dir, "torn-"+strings.ReplaceAll(string(name), "/", "-"))
	return "mv -n " + home.ShellQuote(file) + " " + home.ShellQuote(aside) + " && " + again(p, name.Remote())
}

// again is what to type to have the rest of what a remote has.
func again(p *projects.Project, remote string) string {
	one := remoteOf(p, remote)
	switch {
	case one == nil:
		_, fix := Anew(p, remote)
		return fix
	case one.File:
		return inProject(p) + importAgain(*one)
	}
	return inProject(p) + "umbra fetch " + remote
}

func importAgain(r savedRemote) string {
	again := "umbra import " + home.ShellQuote(r.URL) + " --as " + r.Name
	if r.KeyFile != "" {
		again += " --key " + home.ShellQuote(r.KeyFile)
	}
	return again
}

// inProject begins a command for whoever is in another project.
func inProject(p *projects.Project) string { return "cd " + home.ShellQuote(p.Locations.Path) + " && " }

// remoteOf is the remote of a project with a name, nil if none is known.
func remoteOf(p *projects.Project, name string) *savedRemote {
	s, err := readSaved(p)
	if err != nil {
		return nil
	}
	one, err := s.find(name)
	if err != nil {
		return nil
	}
	return one
}
