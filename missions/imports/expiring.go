package imports

import (
	"os"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Warning is how long before an agent deletes a session its user is told.
const Warning = 7 * 24 * time.Hour

// Expiring are the sessions that agents will delete within a week and that are no
// mission's. Only the directories of the stores are read unless there are old files.
func (im *Importer) Expiring(caller missions.Caller) (list []missions.ExpiringSessions) {
	env := projects.CallerEnv(caller)
	var owners map[sessionKey]*projects.Mission
	all, _ := im.AllProjects() // of one that can't be read the sessions count as nobody's
	for _, a := range im.Adapters {
		sweeping, sweeps := a.(sessions.Sweeping)
		listing, lists := a.(sessions.Listing)
		if !sweeps || !lists {
			continue
		}
		kept := sweeping.KeptFor(env, os.ReadFile)
		if kept == 0 {
			continue
		}
		e := missions.ExpiringSessions{Agent: a.Name(), KeptDays: int(kept / (24 * time.Hour))}
		for _, path := range slices.Collect(listing.Stored(env)) {
			info, err := os.Stat(path)
			if err != nil || im.Now().Add(Warning).Sub(info.ModTime()) < kept {
				continue
			}
			f, err := a.Open(path)
			if err != nil || im.isAdopted(all, a.Name(), f.ID) || !(found{f, a}).mayBeKept() {
				continue
			}
			if owners == nil {
				owners = im.sessionOwners()
			}
			if owners[sessionKey{a.Name(), f.ID}] != nil {
				continue
			}
			e.Sessions++
			if due := info.ModTime().Add(kept); e.FirstAt.IsZero() || due.Before(e.FirstAt) {
				e.FirstAt = due
			}
		}
		if e.Sessions > 0 {
			list = append(list, e)
		}
	}
	return list
}

// isAdopted reports whether a mission has the id that follows from a session: of each that
// was adopted or imported it is known without reading it.
func (im *Importer) isAdopted(all []*projects.Project, agent, session string) bool {
	ref := gitstore.AgentRef(im.AdoptedID(all, agent, session, ""))
	return slices.ContainsFunc(all, func(p *projects.Project) bool {
		_, err := p.Store.Ref(ref)
		return err == nil
	})
}

// mayBeKept reports whether something was said in a session whose directory is there.
func (f found) mayBeKept() bool {
	if info, err := os.Stat(f.Cwd); err != nil || !info.IsDir() {
		return false
	}
	_, err := f.firstPrompt()
	return err == nil
}
