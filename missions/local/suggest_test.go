package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"restore", "redo", "show", "snapshot", "status"}
	for word, want := range map[string]string{
		"restroe": "restore", "shwo": "show", "stats": "status", "snapsot": "snapshot", "sna": "snapshot",
		"frobnicate": "", "sn": "", "hope": "", "": "",
	} {
		if got := addresses.NearestWord(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := addresses.NearestWord("log", []string{"login-a", "login-b"}); got != "" {
		t.Errorf("of two that begin so, %q was meant", got)
	}
}

// TestDidYouMean: a name that is nearly that of a mission or pin is answered with it,
// and a moment with the moment.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("fix-login")
	if _, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Moment: "fix-login", Name: "good-state"}); err != nil {
		t.Fatal(err)
	}
	elsewhere := b.caller()
	elsewhere.Cwd = t.TempDir()
	const all = "umbra log, umbra mission ls or umbra pins list what there is"
	for _, c := range []struct {
		at          missions.Caller
		typed, want string
		r           addresses.SearchScope
	}{
		{b.caller(), "fix-lgoin@1.0", "did you mean fix-login@1.0? (" + all + ")", addresses.InProject},
		{b.caller(), "fix-logn~2", "did you mean fix-login~2? (" + all + ")", addresses.InAnyProject},
		{b.caller(), "good-stat", "did you mean good-state? (" + all + ")", addresses.InProject},
		{b.caller(), "nothing-like-it", all, addresses.InAnyProject},
		{elsewhere, "fix-logn@{10m}", "did you mean fix-login@{10m}? (" + all + ")", addresses.InAnyProject},
		{elsewhere, "fix-logn", all, addresses.InProject},
	} {
		_, err := b.local.FindMoment(context.Background(), c.at, c.typed, c.r)
		if b.fails(c.typed, err, missions.KindNotFound); missions.AsError(err).Hint != c.want {
			t.Errorf("%s: %q, want %q", c.typed, missions.AsError(err).Hint, c.want)
		}
	}
	for typed, want := range map[string]string{"fix-logn": "did you mean fix-login? (", "Fix-Login": "did you mean fix-login? (", "good-stat": "umbra mission ls", "zebra": "umbra mission ls"} {
		_, err := b.local.FindMission(context.Background(), b.caller(), typed, addresses.InProject)
		if b.fails(typed, err, missions.KindNotFound); !strings.HasPrefix(missions.AsError(err).Hint, want) {
			t.Errorf("mission %s: %q, want %q", typed, missions.AsError(err).Hint, want)
		}
	}
}
