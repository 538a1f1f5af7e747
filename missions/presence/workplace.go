package presence

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// mostPlaces bounds the directories that are remembered of an agent.
const mostPlaces = 64

// NoteWorkPlace notes where an event's agent works: it may have gone to a directory that
// no snapshot holds, as a worktree of its own. It returns what the agent's user is to be
// told of that, until MarkUnkeptSaid: once for each directory; of subagents, which may
// have one each, once since the agent was started.
func NoteWorkPlace(m *projects.Mission, e sessions.Event) (notice string) {
	known := &m.Live.Places
	if e.Agent != "" {
		place := workPlace(m, e)
		if place.Unkept == "" {
			return ""
		}
		known.Subagent = place
		if known.SaidSubagent {
			return ""
		}
		return unkeptNotice(m, place, "a subagent")
	}
	switch {
	case e.Kind == sessions.KindSessionStart && e.Source != sessions.SourceCompact:
		*known = projects.WorkPlaces{}
	case e.Kind == sessions.KindPrompt:
		known.InTurn = nil // a directory may be kept since, or not any more
	}
	known.Agent = workPlace(m, e)
	if place := known.Agent; place.Unkept != "" && isWorkThere(e, place) && !slices.Contains(known.SaidDirs, place.Dir) {
		notice = unkeptNotice(m, place, "the agent")
	}
	return notice
}

// NoteKeptPlace notes that an event's agent works in another mission's workspace, whose
// snapshots hold what it writes; by is nil while that mission is being begun.
func NoteKeptPlace(m *projects.Mission, e sessions.Event, by *projects.Mission) {
	switch {
	case e.Agent != "":
	case by == nil || by.Parent != nil: // of a fork its user knows
		m.Live.Places.Agent = projects.WorkPlace{}
	default:
		m.Live.Places.Agent = projects.WorkPlace{Dir: by.Binding.Workspace, KeptBy: by.ID}
	}
}

// keptElsewhere says whose snapshots have what a mission's agent writes, where it is not the
// mission's own; "" if they are.
func (o *Observer) keptElsewhere(m *projects.Mission) string {
	place := m.Live.Places.Agent
	if place.KeptBy == "" || !missions.HasAgent(m.Lifecycle) {
		return ""
	}
	by, err := o.MissionByID(place.KeptBy)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("its agent works in %s: what it changes there is not kept by this mission, but by %s", place.Dir, by.Name)
}

// MarkUnkeptSaid notes that the agent's user was told what NoteWorkPlace returned.
func MarkUnkeptSaid(m *projects.Mission, e sessions.Event) {
	known := &m.Live.Places
	if e.Agent != "" {
		known.SaidSubagent = true
		return
	}
	known.SaidDirs = appendBounded(known.SaidDirs, known.Agent.Dir)
}

// MarkKeptSaid notes that the agent's user was told that a directory is kept.
func MarkKeptSaid(m *projects.Mission, dir string) {
	m.Live.Places.SaidDirs = appendBounded(m.Live.Places.SaidDirs, dir)
}

// isWorkThere reports whether an event shows that its agent works where it is, rather
// than passes by: many a build is run in an ignored directory.
func isWorkThere(e sessions.Event, place projects.WorkPlace) bool {
	return place.Unkept != projects.UnkeptIgnored || e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart || len(e.Files) > 0
}

// workPlace is where an event comes from. In a turn each directory is looked at once, and
// not again in later turns while the agent stays in it and snapshots hold it.
func workPlace(m *projects.Mission, e sessions.Event) projects.WorkPlace {
	known := &m.Live.Places
	if e.Cwd == "" || !filepath.IsAbs(e.Cwd) {
		return projects.WorkPlace{}
	}
	dir := filepath.Clean(e.Cwd)
	if dir == m.Binding.Workspace {
		return projects.WorkPlace{}
	}
	if known.Agent.Dir == dir && known.Agent.Unkept == "" && known.Agent.KeptBy == "" {
		return known.Agent
	}
	if n := slices.IndexFunc(known.InTurn, func(place projects.WorkPlace) bool { return place.Dir == dir }); n >= 0 {
		return known.InTurn[n]
	}
	place := projects.WorkPlace{Dir: dir, Unkept: snapshots.UnkeptReason(m, dir)}
	known.InTurn = appendBounded(known.InTurn, place)
	return place
}

// appendBounded forgets the oldest for the newest.
func appendBounded[T any](list []T, newest T) []T {
	list = append(list, newest)
	return list[max(0, len(list)-mostPlaces):]
}

// UnkeptProblems say where a mission's agent works, or has worked, and no snapshot holds
// what it writes.
func UnkeptProblems(m *projects.Mission) []missions.Problem {
	return unkeptProblems(m, func(projects.UnkeptReason) bool { return true })
}

// UnforkedProblems are UnkeptProblems of what a fork of now has not either: files that are
// ignored come along, if they are copied.
func UnforkedProblems(m *projects.Mission, copiesIgnored bool) []missions.Problem {
	return unkeptProblems(m, func(why projects.UnkeptReason) bool { return why != projects.UnkeptIgnored || !copiesIgnored })
}

func unkeptProblems(m *projects.Mission, counts func(projects.UnkeptReason) bool) (problems []missions.Problem) {
	works, changes, is := "works", "changes", "is"
	if !missions.HasAgent(m.Lifecycle) {
		works, changes, is = "worked", "changed", "was"
	}
	for who, place := range []projects.WorkPlace{m.Live.Places.Agent, m.Live.Places.Subagent} {
		if place.Unkept == projects.UnkeptIgnored {
			place.Unkept = snapshots.UnkeptReason(m, place.Dir) // the rules may be others since
		}
		if place.Unkept == "" || !counts(place.Unkept) {
			continue
		}
		problems = append(problems, missions.Problem{
			Project: m.Project.Name, Mission: m.Name, Fix: keepHint(m, place),
			Message: fmt.Sprintf("%s %s in %s: what it %s there, %s, %s not kept",
				[...]string{"its agent", "a subagent"}[who], works, place.Dir, changes, unkeptWords(place), is),
		})
	}
	return problems
}

func unkeptWords(place projects.WorkPlace) string {
	switch place.Unkept {
	case projects.UnkeptWorktree:
		return "in a worktree that the mission's snapshots leave out"
	case projects.UnkeptIgnored:
		return "in an ignored directory"
	}
	return "outside the mission's workspace"
}

// keepHint is what to type to have what is in such a directory.
func keepHint(m *projects.Mission, place projects.WorkPlace) string {
	if rel, err := filepath.Rel(m.Binding.Workspace, place.Dir); err == nil && place.Unkept == projects.UnkeptIgnored {
		return "a line " + ignore.TakenIn(filepath.ToSlash(rel)) + " in .umbraignore has it kept from now on"
	}
	return "commit it there, or keep what is there now: umbra mission new --no-launch --workspace " + home.ShellQuote(place.Dir)
}

// unkeptNotice is what an agent's user sees.
func unkeptNotice(m *projects.Mission, place projects.WorkPlace, who string) string {
	return fmt.Sprintf("Umbra: %s works in %s, %s: what it changes there is not kept; %s", who, place.Dir, unkeptWords(place), keepHint(m, place))
}
