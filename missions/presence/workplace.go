package presence

import (
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// NoteWorkPlace notes where an event's agent works: it may have gone to a directory that
// no snapshot holds, as a worktree of its own. It returns what the agent's user is to be
// told of that, once for each directory; of subagents, which may have one each, once for
// each launch.
func NoteWorkPlace(m *projects.Mission, e sessions.Event) (notice string) {
	if e.Agent != "" {
		place := workPlace(m, e, &m.Live.SubagentPlace)
		if place.Unkept == "" {
			return ""
		}
		if place.SaidDir == "" {
			notice = unkeptNotice(m, place, "a subagent")
		}
		place.SaidDir = place.Dir
		m.Live.SubagentPlace = place
		return notice
	}
	place := workPlace(m, e, &m.Live.WorkPlace)
	if place.Unkept != "" && place.SaidDir != place.Dir && isWorkThere(e, place) {
		notice, place.SaidDir = unkeptNotice(m, place, "the agent"), place.Dir
	}
	m.Live.WorkPlace = place
	return notice
}

// isWorkThere reports whether an event shows that its agent works where it is, rather
// than passes by: many a build is run in an ignored directory.
func isWorkThere(e sessions.Event, place projects.WorkPlace) bool {
	return place.Unkept != projects.UnkeptIgnored || e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart || len(e.Files) > 0
}

// workPlace is where an event comes from; known is what was found there last. It looks
// only where the directory is another one, or where a new turn may find it kept.
func workPlace(m *projects.Mission, e sessions.Event, known *projects.WorkPlace) projects.WorkPlace {
	place := projects.WorkPlace{SaidDir: known.SaidDir}
	if e.Cwd == "" || !filepath.IsAbs(e.Cwd) {
		return place
	}
	if place.Dir = filepath.Clean(e.Cwd); place.Dir == m.Binding.Workspace {
		place.Dir = ""
		return place
	}
	place.Unkept = known.Unkept
	if place.Dir != known.Dir || known.Unkept != "" && e.Kind == sessions.KindPrompt {
		place.Unkept = snapshots.UnkeptReason(m, place.Dir)
	}
	return place
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
	for who, place := range []projects.WorkPlace{m.Live.WorkPlace, m.Live.SubagentPlace} {
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
		return "a line !/" + filepath.ToSlash(rel) + "/ in .umbraignore has it kept from now on"
	}
	return "commit it there, or keep what is there now: umbra mission new --no-launch --workspace " + home.ShellQuote(place.Dir)
}

// unkeptNotice is what an agent's user sees.
func unkeptNotice(m *projects.Mission, place projects.WorkPlace, who string) string {
	return fmt.Sprintf("Umbra: %s works in %s, %s: what it changes there is not kept; %s", who, place.Dir, unkeptWords(place), keepHint(m, place))
}
