package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/moves"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/remotes"
)

// Doctor checks every invariant and says what is wrong and what to type. With
// Fix it mends what can be mended without losing what is intact; with Rebuild
// it makes the index anew.
func (e *Examiner) Doctor(ctx context.Context, r missions.DoctorRequest) (missions.DoctorResult, error) {
	x := &Examination{Examiner: e, request: r}
	x.Result = missions.DoctorResult{Checked: []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7"}, Problems: []missions.Problem{}, Fixed: []missions.Problem{}}
	projects, problems := x.openProjects()
	if err := x.checkOperations(ctx); err != nil {
		return x.Result, err
	}
	for _, p := range projects {
		if err := x.checkProject(ctx, p); err != nil {
			return x.Result, err
		}
		x.Result.Projects++
	}
	if err := x.checkConfigs(ctx); err != nil {
		return x.Result, err
	}
	x.retryStuck(ctx)
	x.checkDirectories(projects)
	missing, err := x.checkRegister(ctx, projects)
	if err != nil {
		return x.Result, err
	}
	// Else what seems to be no more may be what can't be read; what is only noted may be.
	if len(problems) == 0 && (!missing || x.onlyNotes()) {
		if err := x.checkLiveStates(projects); err != nil {
			return x.Result, err
		}
	}
	if err := x.checkTemporaries(); err != nil {
		return x.Result, err
	}
	x.checkChecks(ctx)
	x.reportAll(e.leftScratches(ctx))
	x.checkRoom()
	x.reportAll(e.rooms.Hooks.Check(ctx))
	if problem := e.ConfigProblem(); problem != nil {
		x.report(*problem, nil)
	}
	if err := x.checkIndex(ctx, projects); err != nil {
		return x.Result, err
	}
	return x.Result, x.settleKnown(ctx)
}

// Examination is one run of doctor.
type Examination struct {
	Examiner *Examiner
	request  missions.DoctorRequest
	Result   missions.DoctorResult
	stuck    []stuck
	gone     []string // projects that were made in the home and are not there, by their names in it

	refless map[string]bool // missions that have snapshots and no ref

	// unreadable are the objects of the project at hand that were reported as lost.
	unreadable map[gitstore.ID]bool
	// Chunks and Inherited are the parts of conversations that were read in the project
	// at hand.
	Chunks    map[gitstore.ID]int64
	Inherited map[Inheritance]bool
}

// onlyNotes reports whether its user says to know what is wrong, and nothing is mended.
func (x *Examination) onlyNotes() bool { return x.request.Known && !x.request.Fix }

// report notes a problem, and mends it if that was asked for and is known how.
func (x *Examination) report(p missions.Problem, mend func() error) {
	if x.request.Fix && mend != nil {
		err := mend()
		if err == nil {
			x.Result.Fixed = append(x.Result.Fixed, p)
			return
		}
		p.Message += "; mending it: " + err.Error()
		if e := missions.AsError(err); e.Kind != missions.KindDamaged && e.Kind != missions.KindNotFound {
			p.Fix = cmp.Or(e.Hint, "umbra doctor --fix tries again")
			x.Result.Problems = append(x.Result.Problems, p)
			return
		}
	}
	if mend != nil || p.Fix == "umbra doctor" {
		p.Fix = "umbra doctor --fix"
	}
	if x.request.Fix && p.Fix == "umbra doctor --fix" { // which is what runs
		p.Fix = "bring it back from a backup of " + x.Examiner.Home.Dir + ", or say that you know: umbra doctor --known"
	}
	x.Result.Problems = append(x.Result.Problems, p)
}

// reportAll reports what a room has found in what it owns.
func (x *Examination) reportAll(list []missions.Finding) {
	for _, found := range list {
		x.report(found.Problem, found.Mend)
	}
}

// openProjects opens the projects that can be opened. First it checks, and mends, the
// configurations of their shadow repositories, without which none opens.
func (x *Examination) openProjects() ([]*projects.Project, []missions.Problem) {
	projects, problems := x.Examiner.AllProjects()
	for _, p := range projects {
		if err := shadow.CheckConfig(p.ShadowRepo(), p.ID); err != nil {
			x.report(missions.Problem{Invariant: "I1", Project: p.Name, Message: err.Error()}, func() error { return shadow.RepairConfig(p.ShadowRepo(), p.ID) })
		}
	}
	if len(problems) == 0 {
		return projects, nil
	}
	for _, problem := range problems {
		closed := x.Examiner.UnopenedProject(problem.Project)
		if problem.Project == "" || closed.ID == "" {
			x.report(problem, nil)
			continue
		}
		x.report(problem, func() error { return shadow.RepairConfig(closed.ShadowRepo(), closed.ID) })
	}
	return x.Examiner.AllProjects()
}

// checkProject checks what the shadow repository promises, then each mission.
func (x *Examination) checkProject(ctx context.Context, p *projects.Project) error {
	if err := x.checkBorrowed(ctx, p); err != nil {
		return fmt.Errorf("check project %s: %w", p.Name, err)
	}
	x.unreadable = nil
	problems, err := x.checkRepository(ctx, p)
	if err != nil {
		return fmt.Errorf("check project %s: %w", p.Name, err)
	}
	said := map[string]bool{} // by ID, or REMOTE/ID
	for _, problem := range problems {
		name := gitstore.RefName(problem.Ref)
		said[path.Join(name.Remote(), name.Mission())] = true
		if name.Kind() == gitstore.RefHead {
			continue // by the missions' names
		}
		if len(problem.Lost) > 0 {
			for _, loss := range problem.Lost {
				said[path.Join(loss.Remote, loss.Mission)] = true
			}
			x.reportLost(p, problem)
			if err := x.acceptFetched(ctx, p, problem.Lost); err != nil {
				return err
			}
			continue
		}
		if name.Remote() != "" && problem.Fix == "" {
			problem.Fix = remotes.AfterTorn(p, name)
		}
		x.report(missions.Problem{Invariant: problem.Invariant, Project: p.Name, Message: problemLine(problem), Fix: problem.Fix, Details: problem.Details}, nil)
	}
	for _, problem := range x.Examiner.rooms.Remotes.Check(p, said) {
		x.report(problem, nil)
	}
	x.reportAll(x.Examiner.rooms.Remotes.LeftTransfers(p))
	if err := x.checkRefless(ctx, p); err != nil {
		return err
	}
	missions, unread := x.Examiner.ProjectMissions(p)
	for _, problem := range unread {
		if !said[problem.Mission] {
			x.report(problem, nil)
		}
	}
	x.Chunks, x.Inherited = map[gitstore.ID]int64{}, map[Inheritance]bool{}
	for _, m := range missions {
		x.Result.Missions++
		if err := x.CheckMission(ctx, m); err != nil {
			return err
		}
	}
	x.checkNames(ctx, p, missions, len(unread) == 0)
	x.noteSetAside(p)
	return ctx.Err()
}

// checkDirectories checks that no directory belongs to two projects: the missions of one
// of them would not be found there.
func (x *Examination) checkDirectories(list []*projects.Project) {
	owner := map[home.DirectoryIdentity]*projects.Project{}
	for _, p := range list {
		for _, hint := range append([]projects.Location{{Path: p.Locations.CommonDir, Identity: p.Locations.CommonIdentity}}, p.Locations.Workspaces...) {
			o := owner[hint.Identity]
			if hint.Path == "" || !moves.IsDirectoryThere(hint) || o == p {
				continue
			}
			if owner[hint.Identity] = p; o != nil {
				x.report(missions.Problem{
					Project: p.Name, Message: fmt.Sprintf("%s belongs to two projects, %s", hint.Path, moves.ProjectDirNames([]*projects.Project{o, p})),
					Fix: "umbra project move " + filepath.Base(p.Dir) + " NEW, with the directory that the one of them is really in",
				}, nil)
			}
		}
	}
}

// checkRoom checks that something can be written: else no snapshot is taken.
func (x *Examination) checkRoom() {
	if err := x.Examiner.Space.CheckRoom(); err != nil {
		e := missions.AsError(err)
		x.report(missions.Problem{Message: e.Message, Fix: e.Hint}, nil)
	}
}
