package imports

import (
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestLeftOutIsRemembered: a session that was left out is named until the user was told of it as
// it is now, or nothing is wanting of it, whether or not the next import comes to it.
func TestLeftOutIsRemembered(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	session := func(name string, n int) missions.ImportedSession {
		return missions.ImportedSession{Agent: "claude", Session: name, At: day(n), Outcome: missions.ImportLeftOut}
	}
	type list = []missions.ImportedSession
	for name, c := range map[string]struct {
		before, found list
		told          map[string]time.Time
		had           string // what nothing is wanting of
		want          []string
	}{
		"not looked at any more":      {before: list{session("a", 1)}, found: list{session("b", 2)}, want: []string{"a", "b"}},
		"stopped at an error":         {before: list{session("a", 1), session("b", 2)}, want: []string{"a", "b"}},
		"nothing is wanting":          {before: list{session("a", 1), session("b", 2)}, had: "a", want: []string{"b"}},
		"told":                        {found: list{session("a", 2)}, told: map[string]time.Time{"claude a": day(2)}},
		"told, and not found again":   {before: list{session("a", 2)}, told: map[string]time.Time{"claude a": day(2)}},
		"gone on since it was told":   {found: list{session("a", 3)}, told: map[string]time.Time{"claude a": day(2)}, want: []string{"a"}},
		"several lists":               {found: list{session("b", 2), session("c", 5), session("a", 1)}, want: []string{"a", "b", "c"}},
		"in two lists":                {found: list{session("a", 1), session("a", 1)}, want: []string{"a"}},
		"found again, and it went on": {before: list{session("a", 1), session("b", 2)}, found: list{session("a", 3)}, want: []string{"b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := daily{LeftOut: c.before, Told: c.told}
			d.leaveOut(c.found, func(s missions.ImportedSession) bool { return s.Session != c.had })
			var got []string
			for _, s := range d.LeftOut {
				got = append(got, s.Session)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("left out %v, want %v", got, c.want)
			}
		})
	}
}
