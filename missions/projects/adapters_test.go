package projects

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

func TestAgentNames(t *testing.T) {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name())
	}
	said := strings.FieldsFunc(strings.ReplaceAll(missions.AgentNames, " or ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
	if !slices.Equal(said, names) {
		t.Errorf("people are told of %q, Umbra knows %q", said, names)
	}
}
