package landings

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// history is the snapshots that led to a mission's workspace, oldest first, also those of
// its parents.
type history struct {
	mission   *projects.Mission
	snapshots []projects.NumberedSnapshot
	prompts   map[int]string // of the turns
}

// step is what lies between two trees, and whose work it is.
type step struct {
	key, title string // "" where others have changed it
	turn       int
	from, to   gitstore.ID
	branch     string // that the workspace was on then; "" where it was a parent's
	making     presence.Making
}

func (s step) own() bool { return s.key != "" }

func readHistory(m *projects.Mission) (h history, err error) {
	h = history{mission: m, prompts: map[int]string{}}
	err = m.Project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
		h.snapshots = append(h.snapshots, turn...)
		if prompt := projects.PromptOfTurn(turn); prompt != "" {
			h.prompts[turn[0].Turn] = strings.ReplaceAll(prompt, " ⏎ ", " ")
		}
		return nil
	})
	slices.Reverse(h.snapshots)
	return h, err
}

// steps are what became of the workspace. A restore, an undo or a redo gives a workspace
// that was there before: the steps are then those that had led there, so that work which
// was taken back is not among them.
func (h history) steps() ([]step, error) {
	hasTurns := slices.ContainsFunc(h.snapshots, func(s projects.NumberedSnapshot) bool { return s.Turn > 0 })
	var at *line
	ledTo := map[gitstore.ID]*line{} // a tree, and how it came about the last time
	for i, s := range h.snapshots {
		if i == 0 {
			ledTo[s.Tree] = nil
			continue
		}
		before := h.snapshots[i-1]
		earlier, known := ledTo[s.Tree]
		switch operation := projects.TriggersOf(s.Snapshot).Operation(); {
		case s.Tree == before.Tree:
		case operation != "" && known:
			at = earlier
		default:
			making, err := presence.WhoMade(h.mission.Project, before, s, hasTurns)
			if err != nil {
				return nil, err
			}
			next := step{turn: s.Turn, from: before.Tree, to: s.Tree, making: making}
			if s.Mission == h.mission.ID {
				next.branch = snapshots.BranchName(s.GitBranch)
			}
			if making.Any() {
				next.key, next.title = h.nameStep(before, s, making)
			}
			at = at.join(next)
		}
		ledTo[s.Tree] = at
	}
	return at.steps(), nil
}

// nameStep is the key and the title of an own step.
func (h history) nameStep(before, s projects.NumberedSnapshot, making presence.Making) (key, title string) {
	address := strings.TrimPrefix(s.Address(""), "@")
	switch {
	case making.Gap:
		return address, projects.GapText(before, s)
	case projects.TriggersOf(s.Snapshot).Operation() != "":
		return address, s.Message
	case s.Turn == 0:
		return "0", h.mission.Name
	}
	return missions.Itoa(s.Turn), h.prompts[s.Turn]
}

// line is a step and those before it, which other lines may have too; nil is none.
type line struct {
	step
	before *line
}

// join is the line with a step more. One that goes on with the last is made one with it.
func (l *line) join(next step) *line {
	if l != nil && l.key == next.key && l.to == next.from {
		next.from, l = l.from, l.before
	}
	return &line{next, l}
}

// steps lists them, oldest first.
func (l *line) steps() (list []step) {
	for ; l != nil; l = l.before {
		list = append(list, l.step)
	}
	slices.Reverse(list)
	return list
}

// takeOver counts what others have changed as the mission's own: as part of what came next,
// or else of what was last.
func (h history) takeOver(steps []step) {
	next := step{key: "0", title: h.mission.Name}
	for _, s := range steps {
		if s.own() {
			next = s
		}
	}
	for i, s := range slices.Backward(steps) {
		if s.own() {
			next = s
		} else {
			steps[i].key, steps[i].title = next.key, next.title
		}
	}
}

// branchOf is the branch of the last own step.
func branchOf(steps []step) string {
	for _, s := range slices.Backward(steps) {
		if s.own() {
			return s.branch
		}
	}
	return ""
}
