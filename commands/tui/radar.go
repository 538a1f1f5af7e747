package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// radar is where live forks have changed the same lines.
type radar struct {
	of       string // the forks and their newest snapshots when that was asked for
	overlaps []missions.Overlap
	err      error
}

// askRadar asks where live forks have changed the same lines, if one has a new snapshot.
func askRadar(m *model) tea.Cmd {
	of := liveForks(m.missions.all)
	if of == m.missions.radar.of {
		return nil
	}
	m.missions.radar.of = of
	if of == "" {
		m.missions.radar.overlaps = nil
		return nil
	}
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		s, err := o.Service.Status(ctx, missions.StatusRequest{Caller: o.Caller})
		return radar{of, s.Overlaps, err}
	}
}

// liveForks are the forks that have an agent, each with its name and its newest snapshot; "" where there
// are too few to be in each other's way.
func liveForks(all []missions.Mission) string {
	var live []string
	for _, x := range all {
		if x.Parent != nil && !x.IsAgentless() {
			live = append(live, x.ID+" "+x.Name+" "+x.Head)
		}
	}
	if len(live) < 2 {
		return ""
	}
	return strings.Join(live, "\n")
}

// take takes an answer, if nothing newer was asked since.
func (r radar) take(m *model) {
	switch {
	case r.of != m.missions.radar.of:
	case r.err != nil:
		m.fail(r.err)
	default:
		m.missions.radar = r
	}
}

// warning says where a mission has changed the same lines as others, "" if nowhere.
func (r radar) warning(name string, o Words) string {
	text, more := "", 0
	for _, overlap := range r.overlaps {
		switch {
		case !slices.Contains(overlap.Missions, name):
		case text != "":
			more++
		default:
			others := slices.DeleteFunc(slices.Clone(overlap.Missions), func(other string) bool { return other == name })
			text = "same lines as " + strings.Join(others, ", ") + " in " + overlap.Path
		}
	}
	if more > 0 {
		text += " and " + o.Count(more, "more file")
	}
	return o.Clean(text)
}
