package mission

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

func TestMissionTree(t *testing.T) {
	t.Parallel()
	m := func(id, parent string) missions.Mission {
		m := missions.Mission{ID: id, Name: id}
		if parent != "" {
			m.Parent = &missions.Parent{Mission: parent}
		}
		return m
	}
	list := inTree([]missions.Mission{m("a", ""), m("b", "gone"), m("a1", "a"), m("a2", "a"), m("a11", "a1"), m("a12", "a1")})
	var got []string
	for _, m := range list {
		got = append(got, branchOf(list, m)+m.Name)
	}
	if want := "a|├─ a1|│  ├─ a11|│  └─ a12|└─ a2|b"; strings.Join(got, "|") != want {
		t.Errorf("tree %q, want %q", strings.Join(got, "|"), want)
	}
}
