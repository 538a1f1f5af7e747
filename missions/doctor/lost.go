package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// namedLost is how many paths a line names of what is lost; the details have all.
const namedLost = 20

// regain writes again what snapshots hold and can't be read: from the user's
// repository, from the agent's conversation files, and from the workspaces, which
// are read again whole. What is nowhere stays lost.
func (l *Examiner) regain(ctx context.Context, p *projects.Project, lost []gitstore.Loss) error {
	if _, err := p.Store.Sweep(ctx); err != nil { // what was written lately stands in a segment too
		return err
	}
	ids := map[gitstore.ID]bool{}
	for _, loss := range lost {
		if _, _, err := p.Store.Object(loss.ID); err != nil {
			ids[loss.ID] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	list := slices.Collect(maps.Keys(ids))
	p.Store.Distrust(list...)
	missions, _ := l.ProjectMissions(p)
	seen := map[string]bool{}
	for _, m := range missions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.regainSession(ctx, m, lost, ids); err != nil {
			l.Logger.Warn("read a conversation again", "mission", m.ID, "error", err)
		}
		repo, err := usergit.Discover(m.Binding.Workspace)
		if err != nil || repo.CommonDir == "" || repo.Format != usergit.SHA1 || seen[repo.CommonDir] {
			continue
		}
		seen[repo.CommonDir] = true
		if err := importLost(ctx, p.Store, repo.CommonDir, list); err != nil {
			l.Logger.Warn("look for what is lost in the user's repository", "repository", repo.CommonDir, "error", err)
		}
	}
	l.recapture(ctx, p)
	return nil
}

// importLost takes what it can of some objects from a repository of the user's.
func importLost(ctx context.Context, store *gitstore.Store, commonDir string, ids []gitstore.ID) error {
	from, err := gitstore.OpenObjects(commonDir)
	if err != nil {
		return err
	}
	defer from.Close()
	batch := store.NewBatch()
	defer batch.Discard()
	for _, id := range ids {
		if has, err := from.Has(id); err != nil || !has {
			continue
		}
		if _, _, err := from.Object(id); err != nil {
			continue // as damaged there: it may be the same file
		}
		if err := batch.Import(from, id); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// regainSession writes again what the agent's conversation file still holds of
// the records of a mission's snapshots.
func (l *Examiner) regainSession(ctx context.Context, m *projects.Mission, lost []gitstore.Loss, ids map[gitstore.ID]bool) error {
	if m.Binding.SessionPath == "" {
		return nil
	}
	records := map[gitstore.ID]bool{}
	for _, loss := range lost {
		if loss.Mission != m.ID || !loss.Record {
			continue
		}
		for _, id := range loss.Snapshots {
			if s, err := m.Project.Store.Snapshot(id); err == nil {
				records[s.Record] = true
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	f, _, err := disk.OpenRegular(m.Binding.SessionPath)
	if err != nil {
		return err
	}
	defer f.Close()
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	for record := range records {
		if err := m.Project.Store.Regain(batch, record, f, ids); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// mendLost brings back what it can of what snapshots hold and can't be read, lets
// histories go on over what is lost in them, says both, and returns what is wrong then.
func (d *Examination) mendLost(ctx context.Context, p *projects.Project, problems []gitstore.Problem) ([]gitstore.Problem, error) {
	was := lostOf(problems)
	if len(was) == 0 {
		return problems, nil
	}
	if err := d.L.regain(ctx, p, was); err != nil {
		d.L.Logger.Warn("read again what is lost", "project", p.Name, "error", err)
	}
	problems, err := d.check(ctx, p)
	if err != nil {
		return nil, err
	}
	had, left := objectsOf(was), objectsOf(lostOf(problems))
	if back := had - left; back > 0 {
		d.mended(p, "", fmt.Sprintf("%d of %d objects that snapshots hold and that were missing or damaged were read again", back, had))
	}
	if left == 0 {
		return problems, nil
	}
	d.goOn(ctx, p)
	if err := d.bound(ctx, p); err != nil {
		d.L.Logger.Warn("let histories go on over what is lost", "project", p.Name, "error", err)
	}
	if problems, err = d.check(ctx, p); err != nil {
		return nil, err
	}
	return problems, p.Store.AcceptLost(ctx, lostOf(problems))
}

// bound lets histories go on over commits that are lost in the middle of them.
func (d *Examination) bound(ctx context.Context, p *projects.Project) error {
	roots, err := d.L.unpublished(p)
	if err != nil {
		return err
	}
	made, err := p.Store.Bound(ctx, p.TakenAt, roots...)
	for _, b := range made {
		what, rest := "snapshot", ", and nothing before it is left"
		if b.Record {
			what = "record"
		}
		if !b.Before.IsZero() {
			rest = fmt.Sprintf(": the %ss before it, from %s back, are whole, and are part of the history again", what, b.Before.Short())
		}
		d.mended(p, b.Mission, fmt.Sprintf("%s %s is lost for good%s", what, b.Lost.Short(), rest))
	}
	return err
}

// mended says what was mended of a project, or of a mission.
func (d *Examination) mended(p *projects.Project, mission, message string) {
	if m, err := d.L.LoadMissionOrRemoved(p, mission); err == nil {
		mission = m.Name
	}
	d.found(missions.Problem{Invariant: "I1", Project: p.Name, Mission: mission, Message: message}, func() error { return nil })
}

// saidLost tells of an error about an object of which it was said that it can't
// be read.
func (d *Examination) saidLost(err error) bool {
	var object *gitstore.ObjectError
	return errors.As(err, &object) && d.unreadable[object.ID]
}

func lostOf(problems []gitstore.Problem) []gitstore.Loss {
	var lost []gitstore.Loss
	for _, p := range problems {
		lost = append(lost, p.Lost...)
	}
	return lost
}

func objectsOf(lost []gitstore.Loss) int {
	ids := map[gitstore.ID]bool{}
	for _, l := range lost {
		ids[l.ID] = true
	}
	return len(ids)
}

// lost says what snapshots hold and can't be read, in a line for the files of
// each mission and one for its records. After mending it is lost for good, which is
// a problem once.
func (d *Examination) lost(p *projects.Project, problem gitstore.Problem) {
	d.unreadable = map[gitstore.ID]bool{}
	groups := map[lostGroup][]gitstore.Loss{}
	for _, loss := range problem.Lost {
		d.unreadable[loss.ID] = true
		g := lostGroup{loss.Mission, loss.Record, loss.Path == "" && !loss.Record, loss.Known}
		groups[g] = append(groups[g], loss)
	}
	for _, g := range slices.SortedFunc(maps.Keys(groups), lostGroup.compare) {
		name := g.mission
		if m, err := d.L.LoadMissionOrRemoved(p, g.mission); err == nil {
			name = m.Name
		}
		said := missions.Problem{Invariant: "I1", Project: p.Name, Mission: name, Message: g.message(groups[g], d.request.Fix || g.known)}
		for _, loss := range groups[g] {
			said.Details = append(said.Details, detailOf(loss))
		}
		switch {
		case g.known:
			d.Result.Lost = append(d.Result.Lost, said)
			continue
		case d.request.Fix:
			said.Message += " (from now on umbra doctor only notes it)"
		default:
			said.Fix = problem.Fix
		}
		d.found(said, nil)
	}
}

// lostGroup is what is said of in one line.
type lostGroup struct {
	mission string
	record  bool
	history bool // snapshots themselves
	known   bool // it was said before
}

func (g lostGroup) compare(o lostGroup) int {
	return strings.Compare(fmt.Sprint(g.mission, g.record, g.history, g.known), fmt.Sprint(o.mission, o.record, o.history, o.known))
}

func (g lostGroup) message(list []gitstore.Loss, mended bool) string {
	state := "can't be read"
	if mended {
		state = "lost for good"
	}
	var paths []string
	snapshots := map[gitstore.ID]bool{}
	var first, last gitstore.ID
	for _, loss := range list {
		if loss.Path != "" && !slices.Contains(paths, loss.Path) {
			paths = append(paths, loss.Path)
		}
		for i, id := range loss.Snapshots {
			if i == 0 && len(snapshots) == 0 {
				last = id
			}
			first, snapshots[id] = id, true
		}
	}
	slices.Sort(paths)
	in := ""
	switch len(snapshots) {
	case 0:
	case 1:
		in = " in snapshot " + first.Short()
	default:
		in = fmt.Sprintf(" in %d snapshots, %s to %s", len(snapshots), first.Short(), last.Short())
	}
	switch {
	case g.mission == "":
		return fmt.Sprintf("%s: %s of records that no snapshot names", state, objectsAre(len(list)))
	case g.history && in == "":
		return fmt.Sprintf("%s: snapshot %s, at which the history breaks off", state, list[0].ID.Short())
	case g.history:
		return fmt.Sprintf("%s%s: all files", state, in)
	case g.record:
		return fmt.Sprintf("%s%s: what was recorded with the files, %s", state, in, someOf(paths))
	}
	return fmt.Sprintf("%s%s: %s", state, in, someOf(paths))
}

// someOf names the first of many.
func someOf(paths []string) string {
	if len(paths) == 0 {
		return "all of it"
	}
	named := make([]string, 0, namedLost)
	for _, p := range paths[:min(len(paths), namedLost)] {
		named = append(named, gitstore.QuotePath(p))
	}
	text := strings.Join(named, ", ")
	if more := len(paths) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// detailOf is a line with all that is known of a loss.
func detailOf(loss gitstore.Loss) string {
	ids := make([]string, len(loss.Snapshots))
	for i, id := range loss.Snapshots {
		ids[i] = id.Short()
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", loss.ID, gitstore.QuotePath(loss.Path), strings.Join(ids, " ")))
}
