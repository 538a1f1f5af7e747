package local

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/umbra-vcs/umbra/missions"
)

// TestMethods finds each method of Service in the table by its name on the wire, and has
// it call that very method.
func TestMethods(t *testing.T) {
	t.Parallel()
	all, service := missions.Methods(), reflect.TypeFor[missions.Service]()
	if len(all) != service.NumMethod() {
		t.Errorf("%d rows for %d methods", len(all), service.NumMethod())
	}
	for m := range service.Methods() {
		name := wireName(m.Name)
		row, known := all[name]
		if !known {
			t.Errorf("no row is named %s", name)
			continue
		}
		called := ""
		relay := missions.NewRelay(func(_ context.Context, m missions.Method, _, _ any) error {
			called = m.Name
			return nil
		})
		request, result := row.New()
		if err := row.Call(t.Context(), relay, request, result); err != nil || called != name {
			t.Errorf("%s calls %s: %v", name, called, err)
		}
		if row.Is(missions.Reads) && row.Traits&(missions.Stores|missions.Changes) != 0 {
			t.Errorf("%s reads and writes", name)
		}
		if row.Is(missions.Repeats) != (row.Unknown == "" && row.Look == "") {
			t.Errorf("%s: neither made again nor explained when it is cut off, or both", name)
		}
	}
}

// wireName is new_mission for NewMission.
func wireName(method string) string {
	var name strings.Builder
	for i, c := range method {
		if i > 0 && unicode.IsUpper(c) {
			name.WriteByte('_')
		}
		name.WriteRune(unicode.ToLower(c))
	}
	return name.String()
}
